"""How fast a device is: passes, whole runs, and transformers beside them."""

import os
import platform
import re
from dataclasses import replace
from statistics import median
from time import perf_counter

import numpy as np
import torch

import specviz
from specviz.base.files import ACCEPTANCE
from specviz.base.progress import final_result
from specviz.measure.against_transformers import _continue
from specviz.measure.profile import Profile, read_profile
from specviz.measure.this_machine import PROMPT, measure_cost
from specviz.measure.timing import interleave, time_runs
from specviz.models.hub import RANDOM
from specviz.sampling.distributions import Sampling, distributions_of

from .about import name_of, wait
from .lines import Setting
from .pairs import (
    cudnn_attention,
    is_random,
    load,
    questions,
    random_tree,
    text_of,
    vocabulary,
    without_graphs,
)

SIZES = (16, 64, 128)  # of the trees of runs
TREES = {0.0: "eagle2", 1.0: "sequoia"}  # by temperature
TEXT = 260  # tokens before a timed pass: with up to 252 nodes all shapes have 512 slots
PASSES_GOAL = 1.1  # a pass of 128 nodes over one of 1
REST_GOAL = 0.1  # verify and other over a step at temperature 0


def fast(lines, setting: Setting, target, draft):
    """All measurements of a pair in the device's own format, the most valuable first."""
    pair = load(setting, target, draft, "float32" if setting.tiny else "auto")
    random = is_random(pair)
    sizes = (1, 4) if setting.tiny else (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768)
    repeats = 21
    tokens, rounds = 96, 2
    if random:  # larger shapes, whose texts say nothing
        tokens, rounds = 40, 1
    if setting.tiny:
        repeats, tokens = 2, 12
    asked = questions(pair, 1 if setting.tiny else 3)
    lines.add("pair", info=pair.info, random=random, device=name_of(setting))
    lines.check("first steps", first_steps, pair)
    lines.check("passes", passes, pair, setting, sizes, repeats)
    for temperature, tree in TREES.items():
        builders = {"chain of 5": "chain:depth=5"}
        for size in () if setting.tiny else SIZES:
            builders[f"tree of {size}"] = f"{tree}:size={size}"
        name = f"runs, T {temperature:g}"
        lines.check(name, timed_runs, pair, asked, builders, temperature, tokens, rounds)
    lines.check("transformers, static cache", generate, pair, asked, tokens, STATIC)
    lines.check("costs", costs, pair, setting, lines.file.parent)
    lines.check("growing text", growing, pair, setting, 4 if setting.tiny else 24)
    if draft is not None and draft.startswith(RANDOM):
        assistant = {"assistant_model": pair.draft.model}
        lines.check("transformers, assisted", generate, pair, asked, tokens, assistant)
    lines.check("transformers, dynamic cache", generate, pair, asked, tokens)
    for nodes in (1, sizes[-1] if setting.tiny else 128):
        lines.check(f"kernels of {nodes} nodes", kernels, pair, setting, nodes)


STATIC = {"cache_implementation": "static", "disable_compile": True}


def compiled(lines, setting: Setting, target, draft):
    """transformers' static cache with its forward compiled by torch, beside plain decoding."""
    pair = load(setting, target, draft, "float32" if setting.tiny else "auto")
    asked = questions(pair, 1)
    options = {"cache_implementation": "static"}
    tokens = 6 if setting.tiny else 96
    lines.check("transformers, static cache, compiled", generate, pair, asked, tokens, options)


def first_steps(pair):
    """Milliseconds of the first steps of plain decoding: the prompt, a padded pass, a capture."""
    config = specviz.RunConfig(PROMPT, temperature=0.0, max_new_tokens=8).autoregressive()
    return {"ms": [1000 * step.seconds.total for step in specviz.speculate(pair, config)]}


def timed(setting, session, tree):
    """Seconds of a pass until the best token after every node can be read."""
    wait(setting)
    began = perf_counter()
    distributions_of(session.forward(tree, range(len(tree))), Sampling(0.0))
    wait(setting)
    return perf_counter() - began


def passes(pair, setting, sizes, repeats):
    """Passes of the target over trees of rising size behind one text, with and without graphs in
    turns, in milliseconds."""
    model = pair.target
    text = text_of(pair, 20 if setting.tiny else TEXT)
    ways = {"graph": model.open(text), "plain": without_graphs(model).open(text)}
    rows = []
    for nodes in sizes:
        tree = random_tree(np.random.default_rng(nodes), text, nodes, vocabulary(model))
        row = {"nodes": nodes}
        calls = {}
        for way, session in ways.items():
            for _ in range(4):  # the text is read, then a shape is captured at its second use
                timed(setting, session, tree)
            calls[way] = lambda _, session=session, tree=tree: timed(setting, session, tree)
        times = {way: [] for way in ways}
        for _, way, seconds in interleave(calls, repeats):
            times[way].append(1000 * seconds)
        for way, each in times.items():
            row[way] = median(each)
            row[f"{way}_quartiles"] = np.quantile(each, (0.25, 0.75)).tolist()
        rows.append(row)
    ratio = rows[-1]["graph"] / rows[0]["graph"]
    for row in rows:
        if row["nodes"] == 128:
            ratio = row["graph"] / rows[0]["graph"]
    weights = sum(weight.nbytes for weight in model.model.parameters())
    return {"rows": rows, "ratio_128": ratio, "goal": PASSES_GOAL, "weight_bytes": weights}


def kernels(pair, setting, nodes):
    """What a device does in one pass over `nodes` nodes: how many kernels, for how long, and the
    longest of them, in milliseconds a pass."""
    text = text_of(pair, 20 if setting.tiny else TEXT)
    session = pair.target.open(text)
    tree = random_tree(np.random.default_rng(nodes), text, nodes, vocabulary(pair.target))
    for _ in range(4):
        timed(setting, session, tree)
    kind = torch.profiler.ProfilerActivity
    kinds = [kind.CPU] if setting.on_cpu else [kind.CPU, kind.CUDA]
    repeats = 2 if setting.tiny else 5
    with torch.profiler.profile(activities=kinds) as profile:
        for _ in range(repeats):
            timed(setting, session, tree)
    spent = []
    for event in profile.key_averages():
        on_device = event.device_type != torch.autograd.DeviceType.CPU
        microseconds = event.self_device_time_total if on_device else event.self_cpu_time_total
        if on_device != setting.on_cpu:
            spent.append((microseconds / repeats / 1000, event.count / repeats, event.key[:60]))
    spent.sort(reverse=True)
    return {
        "nodes": nodes,
        "ms": sum(ms for ms, _, _ in spent),
        "kernels": sum(count for _, count, _ in spent),
        "longest": [[name, count, ms] for ms, count, name in spent[:8]],
    }


def growing(pair, setting, steps):
    """Passes of four nodes without graphs behind a text that grows by a token each time, as a head
    reads it, with cuDNN's attention and without it, which may plan each new length for itself."""
    text = text_of(pair, 100)
    found = {}
    for name, is_on in (("with_cudnn", True), ("without_cudnn", False)):
        session = without_graphs(pair.target).open(text)
        times = []
        with cudnn_attention(is_on):
            for step in range(steps):
                rng = np.random.default_rng(step)
                tree = random_tree(rng, session.context, 4, vocabulary(pair.target))
                times.append(1000 * timed(setting, session, tree))
                session.commit(tree, (), [step % vocabulary(pair.target)])
        found[name] = {"median_ms": median(times[2:]), "longest_ms": max(times[2:])}
    return found


def timed_runs(pair, prompts, builders, temperature, tokens, rounds):
    """Runs in turns with plain decoding, and the parts of their steps."""
    runs = {}
    for name, builder in builders.items():
        config = specviz.RunConfig(
            prompts[0], builder, temperature=temperature, max_new_tokens=tokens
        )
        runs[name] = (pair, config)
    if temperature == 0:  # every shape is captured before anything is timed
        for prompt in prompts:
            for _, config in runs.values():
                specviz.run(pair, replace(config, prompt=prompt))
            specviz.run(pair, replace(config, prompt=prompt).autoregressive())
    rows = []
    for row in final_result(time_runs(runs, prompts, rounds)):
        config = runs[row.name][1]
        shares = shares_of(row.counts)
        rows.append(
            {
                "name": row.name,
                "builder": str(config.builder),
                "drafter": str(config.for_pair(pair).drafter),
                "rule": config.verifier.name,
                "shares": shares,
                "rest": shares["verify"] + shares["other"],
                "plain_shares": shares_of(row.plain),
            }
            | row.to_dict()
        )
    return {"temperature": temperature, "goal": REST_GOAL, "rows": rows}


def shares_of(counts):
    """The share of each part in the time of a step."""
    parts = counts.step_parts
    return {part: seconds / counts.seconds_per_step for part, seconds in parts.items()}


def costs(pair, setting, folder):
    """The cost table of a step, as `calibrate` measures it, and a profile with it in a file."""
    sizes = (1, 4) if setting.tiny else (1, 4, 16, 64, 128, 256)
    few = {"rounds": 1, "burst": 1} if setting.tiny else {"rounds": 3, "burst": 4}
    config = specviz.RunConfig(PROMPT, temperature=0.0).for_pair(pair)
    table = final_result(measure_cost(pair, config, sizes, seconds=8.0, **few))
    table = replace(
        table,
        machine=name_of(setting),
        note=f"Measured on {name_of(setting)}, in the decoding loop, on trees of rising size; "
        "medians over steps.",
    )
    where = (platform.system(), name_of(setting), os.cpu_count() or 1)
    drafter = config.drafter
    # What is accepted is the models' doing, and was measured elsewhere, if at all.
    shipped = ACCEPTANCE / pair.info["name"] / f"{drafter.name}.json"
    vectors = read_profile(shipped).vectors if shipped.is_file() else ()
    profile = Profile("tests.gpu_report", pair.info, drafter.to_dict(), vectors, table, where)
    name = re.sub(r"[^\w.]+", "-", pair.info["name"])
    (folder / f"profile-{name}.json").write_text(profile.to_json(), encoding="utf-8")
    return {"table": table}


def generate(pair, prompts, tokens, options=None):
    """Tokens a second of transformers' greedy `generate` with the same weights, in turns with plain
    decoding here; the first text of both is not counted, nor is the pass over a prompt."""
    options = options or {}

    def config_of(prompt, count=tokens):
        return specviz.RunConfig(prompt, temperature=0.0, max_new_tokens=count).for_pair(pair)

    def theirs(number):
        times = []

        def passed(ids, scores, **_):
            times.append((ids.shape[1], perf_counter()))
            return torch.zeros(len(ids), dtype=torch.bool, device=ids.device)

        prompt = prompts[number % len(prompts)]
        _continue(pair.target.model, pair, config_of(prompt), stopping_criteria=[passed], **options)
        (first, began), (last, ended) = times[0], times[-1]
        return last - first, ended - began

    def ours(number):
        config = config_of(prompts[number % len(prompts)]).autoregressive()
        counts = specviz.run(pair, config).counts
        return counts.timed_tokens, sum(counts.seconds)

    calls = {"transformers": theirs, "plain": ours}
    for call in calls.values():
        call(0)
    sums = {name: [0, 0.0] for name in calls}
    for _, name, (count, seconds) in interleave(calls, len(prompts)):
        sums[name][0] += count
        sums[name][1] += seconds
    rates = {name: count / seconds for name, (count, seconds) in sums.items()}
    return {
        "tokens_per_s": rates["transformers"],
        "plain_tokens_per_s": rates["plain"],
        "plain_over_transformers": rates["plain"] / rates["transformers"],
    }
