"""The pairs that this installation offers, and how they are loaded by their names."""

from __future__ import annotations

import logging
import os

import specviz
from specviz.base.codec import JsonObject
from specviz.base.errors import ParameterError
from specviz.drafters import DRAFTERS
from specviz.models import catalogue
from specviz.models.base import Pair

from .loading import Loading, Offer
from .pair_ref import EARLY_EXIT, LABELS, SMOLLM2, TALES, TOY, PairRef

QUANTIZED = DRAFTERS["quantized"]()

log = logging.getLogger(__name__)


def offered() -> dict[str, Offer]:
    """Every pair by its name, the first of which is the page's own.

    SPECVIZ_PAIR=toy offers exact toy tables and nothing else; SPECVIZ_PAIRS adds pairs,
    "target|draft" separated by commas, each a folder, a file or a name on the hub; a draft may be
    "early-exit:N", or missing.

    Raises:
        ValueError: if a setting is not written like that.
    """
    only = os.environ.get("SPECVIZ_PAIR", "").strip()
    if only not in ("", TOY):
        raise ParameterError("SPECVIZ_PAIR", f'be "{TOY}"', only, "Omit it for all pairs.")
    if only:
        toy = Offer(LABELS[TOY], lambda ref, loading: specviz.toy_pair(vocab=12), has_disk=False)
        return {TOY: toy}
    names = [SMOLLM2, TALES, EARLY_EXIT]
    offers = {name: Offer(LABELS[name], load_named, name != EARLY_EXIT) for name in names}
    for text in filter(None, map(str.strip, os.environ.get("SPECVIZ_PAIRS", "").split(","))):
        try:
            ref = PairRef.read(text)
        except ParameterError as error:
            raise error.named("SPECVIZ_PAIRS") from None
        offers[ref.models] = Offer(short_label(ref), load_named)
    return offers


def short_label(ref: PairRef) -> str:
    """A pair by the last parts of its names."""
    names = [name.rstrip("/").rsplit("/", 1)[-1] for name in (ref.target, ref.draft) if name]
    return " + ".join(names)


def load_named(ref: PairRef, loading: Loading) -> Pair:
    """Load a pair by its names, after preparing what has to be; with its weights in memory where
    they cannot be on disk."""
    if ref.target in catalogue.CATALOGUE:
        for progress in catalogue.prepare(ref.target):
            if progress.result is None:
                loading.report(progress.share, progress.stage)
    # A chat model is asked: None is for the models that have a template for it.
    options: JsonObject = {"progress": loading.report, "chat": None}
    if ref.target != TALES:
        options["target"] = ref.target
    if ref.draft:
        options["draft"] = ref.draft
    pair = _load(ref, options)
    if getattr(pair, "default_drafter", "") == QUANTIZED.name:
        # The visitor's first run would pay for both otherwise, in the middle of a step.
        loading.report(1.0, "Packing the weights of the draft")
        pair.drafter(QUANTIZED.name, **QUANTIZED.parameters)
        loading.report(1.0, "Compiling the draft for this processor, once")
        specviz.run(pair, specviz.RunConfig("A", max_new_tokens=2))
    return pair


def _load(ref: PairRef, options: JsonObject) -> Pair:
    if not ref.on_disk:
        return specviz.load_pair(**options)
    reason = "models of this kind cannot be read from disk"
    try:
        pair = specviz.load_pair(**options, offload="disk")
        if pair.info.get("offload"):
            return pair
    except (OSError, ValueError) as error:  # no room on the disk, say
        log.warning("%s loads its weights to memory: %s", ref.models, error)
        reason = str(error).split(". ")[0]
    pair = specviz.load_pair(**options)  # or says what is wrong with it anywhere
    pair.info["in_memory"] = reason
    return pair
