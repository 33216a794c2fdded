"""The verification rules, by menu name; the order is the order of the menu."""

from .exact_match import ExactMatch
from .sequoia import SequoiaRule
from .specinfer import SpecInfer
from .speculative_sampling import SpeculativeSampling
from .target_match import TargetMatch

VERIFIERS = {rule.name: rule for rule in (SequoiaRule, SpecInfer, SpeculativeSampling, TargetMatch, ExactMatch)}
