"""The configuration of a run, and whether its builder, rule and drafter are compatible: one
sentence on why.

`proof.lossless` proves or refutes these claims by enumeration.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Annotated

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic.dataclasses import dataclass

from ..base.codec import LARGEST, JsonObject, Positive, Whole, json_data, readable_errors
from ..sampling.distributions import Sampling, Temperature, TopK, TopP
from .prompt import Message, Prompt, read_prompt
from .strategy import REGISTRIES, SCHEMES, VERIFIERS, Choice, strategy_of


@readable_errors
@dataclass(frozen=True, config=ConfigDict(strict=True))
class RunConfig:
    """Everything that determines a run besides the pair.

    Args:
        prompt: text to continue; a chat as a list of {"role": "user", "content": "..."}; or a list
            of token ids, also as `apply_chat_template` returns them. Not empty.
        builder, verifier, drafter: an object from a menu such as `specviz.BUILDERS`, or a text like
            "sequoia:size=16". The default verifier is the first one that is lossless with builder
            and temperature; the default drafter is the pair's own draft.
        temperature, top_p, top_k: of the target's distributions, see `Sampling`; top_p and top_k
            apply to the draft too.
        draft_temperature: None means the target's temperature, and 0.6 where that is 0.
        max_new_tokens, seed: whole numbers from 1 and from 0.

    Raises:
        ParameterError: a `ValueError`, if a value is not allowed; the message says what to do.

    >>> config = specviz.RunConfig("Once", builder="sequoia:size=16", temperature=0.8)
    >>> config.builder.size, config.target_sampling.temperature
    (16, 0.8)
    """

    prompt: Prompt = "Once upon a time"
    builder: Annotated[Choice, Field(validate_default=True)] = "sequoia"
    verifier: Choice = None
    temperature: Temperature = 0.8
    top_p: TopP = 1.0
    top_k: TopK | None = None
    draft_temperature: Temperature | None = None
    max_new_tokens: Positive = 128
    seed: Whole = 0
    drafter: Annotated[Choice, Field(validate_default=True)] = None

    _read_prompt = field_validator("prompt", mode="plain")(read_prompt)

    @field_validator("builder", "verifier", "drafter")
    @classmethod
    def _strategy(cls, value: object, info: ValidationInfo) -> Choice:
        kind = str(info.field_name)
        if value is None and kind == "verifier":
            return None  # chosen below, when everything else is known
        if value is None and kind == "drafter":
            value = "model"
        return strategy_of(kind, value)

    @model_validator(mode="after")
    def _choose_verifier(self) -> RunConfig:
        # Now that builder and temperature are checked: a rule suits both.
        if self.verifier is None:
            object.__setattr__(self, "verifier", default_rule(self))
        return self

    @property
    def is_chat(self) -> bool:
        """Whether the prompt is a list of messages."""
        return isinstance(self.prompt[0], Message)

    @property
    def target_sampling(self) -> Sampling:
        """How the target's logits become rows."""
        return Sampling(self.temperature, self.top_p, self.top_k)

    @property
    def draft_sampling(self) -> Sampling:
        """How the draft's logits become rows."""
        temperature = self.draft_temperature
        if temperature is None:
            temperature = self.temperature or 0.6
        return Sampling(temperature, self.top_p, self.top_k)

    def seed_after(self, count: int) -> int:
        """The seed that is `count` seeds later; the largest is followed by 0."""
        return (self.seed + count) % (LARGEST + 1)

    def for_pair(self, pair: object) -> RunConfig:
        """The same run as a pair decodes it: a text is a message where the pair asks texts, and its
        own draft, a trained head say, is named by the drafter that reads with it."""
        changes: JsonObject = {}
        # A pair of one's own may have neither.
        if isinstance(self.prompt, str) and getattr(pair, "chat", False):
            changes["prompt"] = (Message("user", self.prompt),)
        drafter = getattr(pair, "default_drafter", "model")
        if self.drafter.name == "model" and drafter != "model":
            changes["drafter"] = drafter
        return dataclasses.replace(self, **changes) if changes else self

    def autoregressive(self) -> RunConfig:
        """The same run with plain decoding."""
        return dataclasses.replace(self, builder="plain", verifier="plain")

    def to_dict(self) -> JsonObject:
        """The configuration as plain JSON data, its strategies by name and parameters."""
        values = vars(self) | {"prompt": json_data(self.prompt)}
        for kind in REGISTRIES:
            values[kind] = values[kind].to_dict()
        return values


def default_rule(config: RunConfig) -> Choice:
    """The first rule in the menu for which a configuration is lossless, whatever its own rule is:
    exact match at temperature 0."""
    rules = [rule() for rule in VERIFIERS.values()]
    if config.temperature == 0:
        rules.sort(key=lambda rule: not rule.greedy_only)  # those first, else in the menu's order
    for rule in rules:
        if compatible(dataclasses.replace(config, verifier=rule)).lossless:
            return rule
    return rules[0]


@dataclasses.dataclass(frozen=True)
class Compatibility:
    """Whether builder, rule and drafter are compatible.

    Args:
        possible: whether the run is possible.
        lossless: whether its text has exactly the target's distribution.
        useful: whether all of its choices have an effect.
        scheme: how children will be drawn.
        reason: why, one sentence.
    """

    possible: bool
    lossless: bool
    useful: bool
    scheme: str
    reason: str

    def required(self) -> Compatibility:
        """The same; a `ValueError` with the sentence if the run is not possible."""
        if not self.possible:
            raise ValueError(self.reason)
        return self


@lru_cache(maxsize=1024)  # a page asks for the same ones at every change of a control
def compatible(config: RunConfig, scheme: str | None = None) -> Compatibility:
    """Whether builder, rule and drafter are compatible in a configuration, for any prompt, top_p
    and top_k.

    Args:
        config, scheme: the configuration, and how children are drawn; None lets the verifier
            choose.

    >>> match = specviz.compatible(specviz.RunConfig(builder="eagle2", verifier="sequoia"))
    >>> match.possible, match.lossless, match.scheme
    (True, False, 'top')
    """
    builder = config.builder
    verifier = config.verifier
    greedy = config.temperature == 0
    if scheme is None:
        # At temperature 0 only the target's first choice is accepted; the best guesses at it are
        # the draft's most probable tokens.
        preferred = ("top",) if greedy else verifier.schemes
        scheme = next((one for one in preferred if one in builder.schemes), builder.schemes[0])
    if obstacle := _obstacle(config, scheme):
        return Compatibility(False, False, False, scheme, obstacle)
    # At temperature 0 all rules but those that say so write the greedy text.
    bias = None if greedy and verifier.exact_at_zero else _bias(config, scheme)
    useful = _every_choice_shows(config, scheme)
    reason = bias or _reason(config, scheme, useful)
    if bias is None and not all(one.is_built_in() for one in (builder, verifier, config.drafter)):
        reason += " That is what a plugin declares; `specviz check` proves or refutes it."
    return Compatibility(True, bias is None, useful, scheme, reason)


def _has_one_token(config: RunConfig) -> bool:
    """Whether each row of the draft holds a single token; the mean of several drafters' rows may
    hold more."""
    greedy = config.draft_sampling.temperature == 0
    return greedy and config.builder.reads_draft and not config.drafter.blends


def _is_exact(config: RunConfig, scheme: str) -> bool:
    """Whether a rule compares children with the chances by which a scheme drew them.

    SpecInfer is for children drawn "iid". On a tree drawn "distinct" it compares the second child
    with a row that still has the first one's token; on a chain there is no second child, and the
    first one is drawn alike by both schemes.
    """
    builder = config.builder
    verifier = config.verifier
    if scheme in verifier.schemes:
        return True
    one_token = _has_one_token(config)
    stops = builder.stops_at_support or verifier.only_support
    if not (builder.is_chain or (one_token and stops)):
        return False
    # The schemes that draw a first child alike. Of several drafters top-draw draws from their mean,
    # the others from the one whose turn it is.
    alike = {"iid", "distinct"} if config.drafter.blends else {"iid", "distinct", "top-draw"}
    is_alike = scheme in alike or (one_token and scheme == "top")
    return is_alike and not alike.isdisjoint(verifier.schemes)


def _every_choice_shows(config: RunConfig, scheme: str) -> bool:
    """Whether every choice shows in what is drafted and tried.

    With a draft temperature of 0 the row after a node has one token. Of three children drawn "iid"
    two repeat it, so nothing shows that there are three; drawn "distinct" they are other tokens.
    """
    builder = config.builder
    if builder.is_chain or builder.stops_at_support or not _has_one_token(config):
        return True
    return scheme != "iid" and not config.verifier.only_support


def _obstacle(config: RunConfig, scheme: str) -> str | None:
    """Why a run is impossible."""
    builder = config.builder
    verifier = config.verifier
    if builder.autoregressive != verifier.autoregressive:
        return (
            "Plain decoding drafts and verifies nothing: the builder plain is only compatible "
            "with the rule plain."
        )
    if scheme not in builder.schemes:
        return (
            f"{builder.title} cannot build trees whose children are {SCHEMES.get(scheme, scheme)}."
        )
    if verifier.greedy_only and config.temperature > 0:
        return (
            f"{verifier.title} compares with the single most probable token; set the "
            "temperature to 0."
        )
    if verifier.chain_only and not builder.is_chain:
        return (
            f"{verifier.title} is defined for chains, but {builder.title} builds trees with "
            "branches."
        )
    if verifier.paths_only and not builder.is_paths:
        return (
            f"{verifier.title} is defined for chains that share only the root, but "
            f"{builder.title} builds trees with other branches."
        )
    if verifier.reads_draft and not builder.reads_draft:
        return (
            f"{verifier.title} compares with draft probabilities, but {builder.title} has no "
            "draft model."
        )
    if scheme == "race" and not verifier.shared_noise:
        return (
            f"A race shares its noise with the target, but {verifier.title} needs independent "
            "random draws."
        )
    if verifier.own_scheme_only and config.temperature > 0 and not _is_exact(config, scheme):
        needed = f"{verifier.title} needs children {SCHEMES[verifier.schemes[0]]}"
        return f"{needed}; here they are {SCHEMES[scheme]}."
    return None


def _bias(config: RunConfig, scheme: str) -> str | None:
    """Why a run at a temperature above 0 is lossy."""
    builder = config.builder
    verifier = config.verifier
    drafter = config.drafter
    may_differ = "so the output distribution may differ from the target's."
    siblings = builder.reads_draft and not builder.is_chain
    if not verifier.lossless:
        return verifier.bias
    if drafter.blends and siblings and verifier.one_row:
        return (
            f"{verifier.title} assumes one draft distribution per node, but {drafter.title} draws "
            f"the children of a node from different ones, {may_differ}"
        )
    if drafter.merges and siblings and scheme == "iid" and verifier.reads_draft:
        return f"Merging equal tokens drops tries that {verifier.title} relies on, {may_differ}"
    if not _is_exact(config, scheme):
        drawn = f"children {SCHEMES[verifier.schemes[0]]}, but here they are {SCHEMES[scheme]}"
        return f"{verifier.title} is exact for {drawn}, {may_differ}"
    return None


def _reason(config: RunConfig, scheme: str, useful: bool) -> str:
    """Why a run is lossless; `useful`: whether every choice shows."""
    verifier = config.verifier
    if not useful:
        return (
            "With a draft temperature of 0 the draft has a single token, so further siblings "
            "have no effect."
        )
    if verifier.autoregressive:
        return "Only the target writes, so the output distribution is its own."
    if config.temperature == 0:
        return verifier.at_zero
    if scheme not in verifier.schemes:
        return (
            "Only one child per node counts, drawn from the draft's distribution, so "
            f"{verifier.title} is exact."
        )
    if verifier.shared_noise:
        return "The target's own race decides every token, so the seed alone determines the text."
    if len(verifier.schemes) == len(SCHEMES) or not verifier.reads_draft:
        return f"{verifier.title} writes the target's own draw, so any tree is lossless."
    return f"{verifier.title} is exact for children {SCHEMES[scheme]}."
