"""Whether a device computes what transformers computes in float32, and what the CPU computes."""

from copy import copy
from dataclasses import replace

import numpy as np
import torch

import specviz
from specviz.measure.against_transformers import _continue
from specviz.models.judge import Judge
from specviz.models.pair import load_pair
from specviz.proof.same_text import margin_at, tied

from .lines import Setting
from .pairs import (
    is_random,
    load,
    never_compiled,
    questions,
    random_tree,
    relative,
    text_of,
    vocabulary,
    without_graphs,
)

# Largest differences: float32 has no tensor cores here, so a hundredth of what TF32 differs by.
SAME = {"float32": 1e-4, "bfloat16": 0.1}
RMS_FLOAT32 = 1e-4  # over the logits' spread; in fewer bits the judge says what rounding explains


def right(lines, setting: Setting, target, draft, drafters):
    """All checks of a pair.

    Args:
        lines: where they go.
        target, draft: names as for `load_pair`.
        drafters: names with which texts are written.
    """
    nodes = (6, 12) if setting.tiny else (24, 100)
    sizes = (1, 5) if setting.tiny else (1, 2, 7, 33, 100, 300)
    starts = (250,) if setting.tiny else (230, 490, 1000)
    tokens, further = (6, 8) if setting.tiny else (64, 60)
    for dtype in ("bfloat16", "float32"):
        pair = load(setting, target, draft, dtype)
        for count in nodes:
            lines.check(f"logits of {count} nodes, {dtype}", logits, pair, count)
        for features in (False, True):
            for count in sizes:
                name = f"graph of {count} nodes, {dtype}{', features' * features}"
                lines.check(name, graph, pair, count, features)
        if pair.head is not None:
            lines.check(f"graphs of the head, {dtype}", head_graph, pair, nodes[0])
    few = 2 if setting.tiny else 10
    asked = questions(pair, few)
    known = {}
    for drafter in drafters:
        for builder in ("plain", "chain:depth=5", f"eagle2:size={nodes[0]}"):
            if builder != "plain" or drafter == drafters[0]:
                name = f"greedy, {builder}" + f", {drafter}" * (builder != "plain")
                lines.check(name, greedy, pair, asked, builder, drafter, tokens, known)
    for start in starts:
        text = text_of(pair, start)
        builder = f"eagle2:size={nodes[-1]}"
        name = f"greedy, from {start} to {start + further} tokens, {builder}"
        lines.check(name, greedy, pair, [text], builder, drafters[0], further)
    lines.check("graphs to the end", graphs_to_the_end, pair)
    if setting.on_cpu or not is_random(pair):  # else the CPU would draw other weights
        lines.check("T 1 as on the CPU", same_seed, pair, asked[:2], tokens // 2, target, draft)


def logits(pair, nodes):
    """A tree after 40 tokens, and one after a path of it was accepted, against transformers'
    float32 pass along each path."""
    model = pair.target
    rng = np.random.default_rng(nodes)
    size = vocabulary(model)
    session = model.open(text_of(pair, 40))
    unstored = copy(model)
    unstored.weights_hash = ""  # large, and asked for once
    judge = Judge(unstored)
    found, exact, texts = [], [], []
    for _ in range(2):
        tree = random_tree(rng, session.context, nodes, size)
        found.append(np.asarray(session.forward(tree, range(nodes))))
        for node in range(nodes):
            texts.append([*session.context, *tree.path_tokens(node)])
        path = tree.topology.path(max(range(nodes), key=tree.depths.__getitem__))
        session.commit(tree, path, [*(tree.tokens[node] for node in path), 7 % size])
    found = np.concatenate(found)
    rms, rounding = judge.compare(found, texts)
    exact = np.array([judge._rows[tuple(text)][0] for text in texts])
    found = found[:, : exact.shape[1]]
    allowed = RMS_FLOAT32 if model.dtype == torch.float32 else judge.allowed(rounding)
    return {
        "ok": rms <= allowed,
        "largest": relative(found, exact),
        "rms": rms,
        "allowed_rms": allowed,
        "transformers_rms": rounding,
        "same_best": float(np.mean(found.argmax(1) == exact.argmax(1))),
    }


def graph(pair, nodes, features):
    """A padded pass at its first four uses, of which the third reads another tree, against one that
    is not padded; it is captured at the second."""
    model = pair.target
    rng = np.random.default_rng(nodes)
    sessions = [one.open(text_of(pair, 40)) for one in (model, without_graphs(model))]
    if features:
        for session in sessions:
            session.watch()
    context = sessions[0].context
    for session in sessions:  # the text, so that all passes below are of one shape
        session.forward(random_tree(rng, context, 1, 1), [0])
    if model.static is not None:
        model.static.passes.clear()
    first, other = (random_tree(rng, context, nodes, vocabulary(model)) for _ in range(2))
    trees = first, first, other, first
    differences, states, rows = [], [], []
    for tree in trees:
        padded, plain = (np.array(one.forward(tree, range(nodes))) for one in sessions)
        rows.append(padded)
        differences.append(relative(padded, plain))
        if features:
            a, b = (one.features(range(nodes)).float().cpu().numpy() for one in sessions)
            states.append(relative(a, b))
    captured = model.static is not None and any(
        static.captured for static in model.static.passes.values()
    )
    replayed = max(relative(rows[use], rows[0]) for use in (1, 3))
    allowed = SAME[str(model.dtype).removeprefix("torch.")]
    worst = max(*differences, *states, replayed)
    return {
        # Without a GPU nothing is captured.
        "ok": worst <= allowed and (captured or model.device.type == "cpu"),
        "captured": captured,
        "uses": differences,
        "replay_to_first": replayed,
        "features": states,
        "allowed": allowed,
    }


def head_graph(pair, nodes):
    """An EAGLE-3 head's passes over a tree, level by level, with and without graphs."""
    text = text_of(pair, 40)
    features = pair.target.open(text).watch()
    sessions = [one.open(text) for one in (pair.head, without_graphs(pair.head))]
    for session in sessions:
        session.take(features)
    tree = random_tree(np.random.default_rng(nodes), text, nodes, vocabulary(pair.target))
    differences = []
    for _ in range(4):  # a shape is captured at its second use
        padded, plain = (np.asarray(one.forward(tree, range(nodes)).values) for one in sessions)
        differences.append(relative(padded, plain))
    allowed = SAME[str(pair.target.dtype).removeprefix("torch.")]
    static = getattr(pair.head, "static", None)
    captured = static is not None and any(one.captured for one in static.passes.values())
    return {
        "ok": max(differences) <= allowed and (captured or pair.target.device.type == "cpu"),
        "captured": captured,
        "uses": differences,
        "replay_to_first": max(differences[1:]),
        "features": [],
        "allowed": allowed,
    }


def greedy(pair, prompts, builder, drafter, tokens, known=None):
    """Texts at temperature 0 against transformers' `generate`; `known` keeps its texts."""
    known = {} if known is None else known
    equal, parted = 0, []
    for number, prompt in enumerate(prompts):
        config = specviz.RunConfig(
            prompt, builder, temperature=0.0, max_new_tokens=tokens, drafter=drafter
        )
        if number not in known:
            known[number] = _continue(pair.target.model, pair, config)
        expected = known[number]
        found = list(specviz.run(pair, config).tokens)
        if found == expected:
            equal += 1
            continue
        pairs = zip(found, expected, strict=False)
        place = next(
            (i for i, (a, b) in enumerate(pairs) if a != b), min(len(found), len(expected))
        )
        parted.append({"text": number, "token": place})
        parted[-1]["margin"] = margin_at(pair, config, expected[:place])
    return {
        "ok": all(tied(one["margin"], "float32") for one in parted),
        "equal": equal,
        "texts": len(prompts),
        "parted": parted,
    }


def graphs_to_the_end(pair):
    """Whether no capture failed, also behind a block of keys that was outgrown."""
    models = filter(None, (pair.target, pair.draft, pair.head))
    passes = [static for model in models if (static := getattr(model, "static", None))]
    return {"ok": not any(static._off for static in passes), "models": len(passes)}


def equal_tokens(text, other):
    """How many tokens two texts have in common at their beginning."""
    for place, (a, b) in enumerate(zip(text, other, strict=False)):
        if a != b:
            return place
    return min(len(text), len(other))


def same_seed(pair, prompts, tokens, target, draft):
    """Runs at temperature 1 here and on the CPU with the same seeds: how many tokens are equal
    until the first that is not."""
    never_compiled()
    other = load_pair(target, draft, device="cpu", dtype="float32")
    runs = []
    for builder in ("plain", "sequoia:size=16"):
        for seed, prompt in enumerate(prompts):
            config = specviz.RunConfig(
                prompt, builder, temperature=1.0, max_new_tokens=tokens, seed=seed
            )
            config = replace(config, drafter=pair.default_drafter)
            here, there = (specviz.run(one, config).tokens for one in (pair, other))
            equal = equal_tokens(here, there)
            runs.append({"builder": builder, "equal": equal, "of": len(there)})
    share = sum(one["equal"] for one in runs) / sum(one["of"] for one in runs)
    # A draw that lies within rounding of a boundary may fall on the other side of it.
    return {"ok": share >= 0.5, "share": share, "runs": runs}
