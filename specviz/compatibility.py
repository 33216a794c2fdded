"""Which builder, rule and drafter are compatible, and one sentence on why.

`proof.lossless` proves or refutes these claims by enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .config import RunConfig
from .sampling import SCHEMES
from .strategy import built_in
from .verifiers import VERIFIERS

DRAWN = {
    "iid": "drawn independently from the draft, duplicates kept",
    "distinct": "drawn from the draft without replacement",
    "top": "the draft's most probable tokens, not draws",
    "race": "the first arrivals of a race shared with the target",
}


@dataclass(frozen=True)
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


def compatible(config: RunConfig, scheme: str | None = None) -> Compatibility:
    """Whether builder, rule and drafter are compatible in a configuration, for any prompt, top_p and top_k.

    Args:
        config, scheme: the configuration, and how children are drawn; None lets the verifier choose.

    >>> match = specviz.compatible(specviz.RunConfig(builder="eagle2", verifier="sequoia"))
    >>> match.possible, match.lossless, match.scheme
    (True, False, 'top')
    """
    return config.match if scheme is None else judge(config, scheme)


def judge(config: RunConfig, scheme: str | None = None) -> Compatibility:
    """What `compatible` returns, computed anew: in each list, the first sentence whose condition holds."""
    builder, verifier, drafter, greedy = config.builder, config.verifier, config.drafter, config.temperature == 0
    if scheme is None:
        wanted = ("top",) if greedy else verifier.schemes
        scheme = next((scheme for scheme in wanted if scheme in builder.schemes), builder.schemes[0])
    drawn, chain = DRAWN.get(scheme, scheme), builder.is_chain
    impossible = (
        (
            builder.alone != verifier.alone,
            "Plain decoding drafts and verifies nothing: the builder plain is only compatible with the rule plain.",
        ),
        (scheme not in builder.schemes, f"{builder.title} cannot build trees whose children are {drawn}."),
        (
            verifier.greedy_only and not greedy,
            f"{verifier.title} compares with the single most probable token; set the temperature to 0.",
        ),
        (
            verifier.chain_only and not chain,
            f"{verifier.title} is defined for chains, but {builder.title} builds trees with branches.",
        ),
        (
            verifier.reads_draft and not builder.reads_draft,
            f"{verifier.title} compares with draft probabilities, but {builder.title} has no draft model.",
        ),
        (
            scheme == "race" and not verifier.shared_noise,
            f"A race shares its noise with the target, but {verifier.title} needs independent random draws.",
        ),
    )
    if rejection := _first(impossible):
        return Compatibility(False, False, False, scheme, rejection)

    # The draft's rows are the means of several drafters' rows.
    blended = drafter.blends and builder.reads_draft
    # Equal children of one node become one, which one drafter alone may draw as well.
    merged = drafter.merges and builder.reads_draft and not chain
    # The draft's row holds a single token; the mean of several such rows may hold more.
    one_token = config.draft_sampling.temperature == 0 and builder.reads_draft and not blended
    # No more than one child of a node counts, and the scheme draws it as one that the rule declares does.
    one_child = chain or (one_token and (builder.in_support or verifier.in_support))
    alike = scheme in (("iid", "distinct", "top") if one_token else ("iid", "distinct"))
    drawn_alike = one_child and alike and not {"iid", "distinct"}.isdisjoint(verifier.schemes)
    # Siblings repeat the only token there is, instead of being others that the rule tries.
    others = scheme != "iid" and not verifier.in_support
    siblings_wasted = one_token and not (chain or builder.in_support or others)

    may_differ = "so the output distribution may differ from the target's."
    lossy = (  # at temperature 0 every rule writes the greedy text
        (not verifier.lossless, verifier.bias),
        (
            blended and not chain and verifier.one_row,
            f"{verifier.title} assumes one draft distribution per node, but {drafter.title} draws the children of a "
            f"node from different ones, {may_differ}",
        ),
        (
            merged and scheme == "iid" and verifier.reads_draft,
            f"Merging equal tokens drops tries that {verifier.title} relies on, {may_differ}",
        ),
        (
            scheme not in verifier.schemes and not drawn_alike,
            f"{verifier.title} is exact for children {DRAWN[verifier.schemes[0]]}, but here they are {drawn}, "
            f"{may_differ}",
        ),
    )
    exact = (
        (
            siblings_wasted,
            "With a draft temperature of 0 the draft has a single token, so further siblings have no effect.",
        ),
        (verifier.alone, "Only the target writes, so the output distribution is its own."),
        (greedy, verifier.at_zero),
        (
            scheme not in verifier.schemes,
            f"Only one child per node counts, drawn from the draft's distribution, so {verifier.title} is exact.",
        ),
        (verifier.shared_noise, "The target's own race decides every token, so the seed alone determines the text."),
        (
            len(verifier.schemes) == len(SCHEMES) or not verifier.reads_draft,
            f"{verifier.title} writes the target's own draw, so any tree is lossless.",
        ),
        (True, f"{verifier.title} is exact for children {drawn}."),
    )
    bias = None if greedy else _first(lossy)
    reason = bias or _first(exact) or ""
    if bias is None and not all(built_in(type(one)) for one in (builder, verifier, drafter)):
        reason += " That is what a plugin declares; `specviz check` proves or refutes it."
    return Compatibility(True, bias is None, not siblings_wasted, scheme, reason)


def _first(cases: tuple[tuple[bool, str], ...]) -> str | None:
    return next((sentence for condition, sentence in cases if condition), None)


def suited(config: RunConfig) -> str:
    """The name of the first rule in the menu for which a configuration is lossless: exact match at temperature 0."""
    greedy = [name for name, rule in VERIFIERS.items() if rule.greedy_only and config.temperature == 0]
    names = [*greedy, *VERIFIERS]
    return next(name for name in names if compatible(replace(config, verifier=VERIFIERS[name]())).lossless)
