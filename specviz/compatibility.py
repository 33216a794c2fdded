"""Which builder, rule and drafter are compatible: lists of (condition, sentence), read from the top.

The first sentence of `IMPOSSIBLE` whose condition holds rejects a run, of `LOSSY` marks its text, of `POINTLESS` warns
that it has no effect; otherwise the first one of `EXACT` says why the text has exactly the target's distribution.
`proof.lossless` proves or refutes these claims by enumeration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .builders.base import TreeBuilder
from .config import RunConfig
from .drafters.base import Drafter
from .sampling import SCHEMES
from .strategy import built_in
from .verifiers import VERIFIERS
from .verifiers.base import Verifier

DRAWN = {
    "iid": "drawn independently from the draft, duplicates kept",
    "distinct": "drawn from the draft without replacement",
    "top": "the draft's most probable tokens, not draws",
    "race": "the first arrivals of a race shared with the target",
}


@dataclass(frozen=True)
class Compatibility:
    """Whether builder, rule and drafter are compatible, and one sentence on why.

    Attributes:
        possible: whether the run is possible.
        lossless: whether its text has exactly the target's distribution.
        useful: whether all of its choices have an effect.
        scheme: how children will be drawn.
        reason: the sentence.
    """

    possible: bool
    lossless: bool
    useful: bool
    scheme: str
    reason: str

    def required(self) -> Compatibility:
        """The same, for a run that must be possible.

        Raises:
            ValueError: if it is not; the message is the sentence.
        """
        if not self.possible:
            raise ValueError(self.reason)
        return self


@dataclass(frozen=True)
class Setting:
    """A whole configuration, with the properties that the conditions below use."""

    builder: TreeBuilder
    verifier: Verifier
    drafter: Drafter
    temperature: float
    draft_temperature: float
    scheme: str

    @property
    def blended(self) -> bool:
        """Whether the draft's rows are the means of several drafters' rows."""
        return self.drafter.blends and self.builder.reads_draft

    @property
    def many_rows(self) -> bool:
        """Whether children of one node may come from different distributions."""
        return self.blended and not self.builder.is_chain

    @property
    def merged(self) -> bool:
        """Whether equal children of one node become one, which one drafter alone may draw as well."""
        return self.drafter.merges and self.builder.reads_draft and not self.builder.is_chain

    @property
    def one_token(self) -> bool:
        """Whether the draft's row holds a single token; the mean of several such rows may hold more."""
        return self.draft_temperature == 0 and self.builder.reads_draft and not self.blended

    @property
    def one_child(self) -> bool:
        """Whether no more than one child of a node counts."""
        in_support = self.builder.in_support or self.verifier.in_support
        return self.builder.is_chain or (self.one_token and in_support)

    @property
    def siblings_wasted(self) -> bool:
        """Whether siblings repeat the only token there is, instead of being others that the rule tries."""
        others = self.scheme != "iid" and not self.verifier.in_support
        return self.one_token and not (self.builder.is_chain or self.builder.in_support or others)

    @property
    def drawn_alike(self) -> bool:
        """Whether the scheme, if not declared by the rule, draws the one child that counts as a declared one does."""
        alike = ("iid", "distinct", "top") if self.one_token else ("iid", "distinct")
        return self.one_child and self.scheme in alike and not {"iid", "distinct"}.isdisjoint(self.verifier.schemes)

    def says(self, sentence: str) -> str:
        """A sentence below with its names filled in."""
        return sentence.format(
            builder=self.builder, verifier=self.verifier, drafter=self.drafter,
            drawn=DRAWN.get(self.scheme, self.scheme), wanted=DRAWN[self.verifier.schemes[0]],
        )  # fmt: skip


Cases = Sequence[tuple[Callable[[Setting], bool], str]]

IMPOSSIBLE: Cases = (
    (
        lambda s: s.builder.alone != s.verifier.alone,
        "Plain decoding drafts and verifies nothing: the builder plain is only compatible with the rule plain.",
    ),
    (lambda s: s.scheme not in s.builder.schemes, "{builder.title} cannot build trees whose children are {drawn}."),
    (
        lambda s: s.verifier.greedy_only and s.temperature > 0,
        "{verifier.title} compares with the single most probable token; set the temperature to 0.",
    ),
    (
        lambda s: s.verifier.chain_only and not s.builder.is_chain,
        "{verifier.title} is defined for chains, but {builder.title} builds trees with branches.",
    ),
    (
        lambda s: s.verifier.reads_draft and not s.builder.reads_draft,
        "{verifier.title} compares with draft probabilities, but {builder.title} has no draft model.",
    ),
    (
        lambda s: s.scheme == "race" and not s.verifier.shared_noise,
        "A race shares its noise with the target, but {verifier.title} needs independent random draws.",
    ),
)

# Above temperature 0; at 0 every rule writes the greedy text.
LOSSY: Cases = (
    (lambda s: not s.verifier.lossless, "{verifier.bias}"),
    (
        lambda s: s.many_rows and s.verifier.one_row,
        "{verifier.title} assumes one draft distribution per node, but {drafter.title} draws the children of a node "
        "from different ones, so the output distribution may differ from the target's.",
    ),
    (
        lambda s: s.merged and s.scheme == "iid" and s.verifier.reads_draft,
        "Merging equal tokens drops tries that {verifier.title} relies on, so the output distribution may differ from "
        "the target's.",
    ),
    (
        lambda s: s.scheme not in s.verifier.schemes and not s.drawn_alike,
        "{verifier.title} is exact for children {wanted}, but here they are {drawn}, so the output distribution "
        "may differ from the target's.",
    ),
)

POINTLESS: Cases = (
    (
        lambda s: s.siblings_wasted,
        "With a draft temperature of 0 the draft has a single token, so further siblings have no effect.",
    ),
)

EXACT: Cases = (
    (lambda s: s.verifier.alone, "Only the target writes, so the output distribution is its own."),
    (lambda s: s.temperature == 0, "{verifier.at_zero}"),
    (
        lambda s: s.scheme not in s.verifier.schemes,
        "Only one child per node counts, drawn from the draft's distribution, so {verifier.title} is exact.",
    ),
    (
        lambda s: s.verifier.shared_noise,
        "The target's own race decides every token, so the seed alone determines the text.",
    ),
    (
        lambda s: len(s.verifier.schemes) == len(SCHEMES) or not s.verifier.reads_draft,
        "{verifier.title} writes the target's own draw, so any tree is lossless.",
    ),
    (lambda s: True, "{verifier.title} is exact for children {drawn}."),
)


def compatible(config: RunConfig, scheme: str | None = None) -> Compatibility:
    """Whether builder, rule and drafter are compatible in a configuration, for any prompt, top_p and top_k.

    Args:
        config: the whole configuration.
        scheme: how children are to be drawn; None lets the verifier choose among what the builder can do.

    Raises:
        ValueError: if the configuration names an unknown builder, rule or drafter.

    >>> match = specviz.compatible(specviz.RunConfig(builder="eagle2", verifier="sequoia"))
    >>> match.possible, match.lossless, match.scheme
    (True, False, 'top')
    """
    return config.match if scheme is None else judge(config, scheme)


def judge(config: RunConfig, scheme: str | None = None) -> Compatibility:
    """What `compatible` returns, computed anew; arguments as there."""
    builder, verifier = config.builder, config.verifier
    if scheme is None:
        wanted = ("top",) if config.temperature == 0 else verifier.schemes
        scheme = next((scheme for scheme in wanted if scheme in builder.schemes), builder.schemes[0])
    temperatures = config.temperature, config.draft_sampling.temperature
    setting = Setting(builder, verifier, config.drafter, *temperatures, scheme)
    if rejection := _first(IMPOSSIBLE, setting):
        return Compatibility(False, False, False, scheme, rejection)
    lossy = _first(LOSSY, setting) if config.temperature > 0 else None
    pointless = _first(POINTLESS, setting)
    reason = lossy or pointless or _first(EXACT, setting) or ""
    if lossy is None and not all(built_in(type(one)) for one in (builder, verifier, config.drafter)):
        reason += " That is what a plugin declares; `specviz check` proves or refutes it."
    return Compatibility(True, lossy is None, pointless is None, scheme, reason)


def suited(config: RunConfig) -> str:
    """The name of the first rule in the menu for which a configuration is lossless: exact match at temperature 0."""
    greedy = [name for name, rule in VERIFIERS.items() if rule.greedy_only and config.temperature == 0]
    names = [*greedy, *VERIFIERS]
    return next(name for name in names if compatible(replace(config, verifier=VERIFIERS[name]())).lossless)


def _first(cases: Cases, setting: Setting) -> str | None:
    """The sentence of the first case whose condition holds."""
    return next((setting.says(sentence) for condition, sentence in cases if condition(setting)), None)
