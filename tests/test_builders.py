"""The builders: what they choose against brute force, what they learn, where they stop, and one that cheats."""

import json
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specviz
from specviz.acceptance import RunningAcceptance, expected_tokens
from specviz.builders.optimal import falling, likeliest_tree
from specviz.builders.sequoia import best_tree
from specviz.check import SMALL, error_of
from specviz.decode import DraftSession, speculate
from specviz.distributions import Sampling, entropy
from specviz.protocols import compatible
from specviz.randomness import Seeded
from specviz.record import Verdict
from specviz.tree import TokenTree, Topology

BUILDERS, VERIFIERS = specviz.BUILDERS, specviz.VERIFIERS
PUBLISHED = (0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043)


def grow(builder, law=None, seed=0, vocab=6, room=50, notes=None, temperature=1.0, context=(0, 1)):
    """One tree, and the draft session it was grown with."""
    _, session = specviz.toy_pair(vocab=vocab, seed=seed).open(list(context))
    tree = TokenTree(context[-1], start=len(context) - 1, law=law or builder.laws[0])
    draft = DraftSession(session, tree, list(context), Sampling(temperature))
    notes = builder.start() if notes is None else notes
    return builder(draft, Seeded(seed), tree.law, room, notes), draft


def path_prob(tree, node):
    """The product of q along the path of a node."""
    above = tree.topology.path(node)
    return math.prod(float(tree.draft_rows[tree.parents[n]][tree.tokens[n]]) for n in above)


# ---- every builder --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILDERS)
def test_a_builder_works_as_it_is_and_leaves_plain_records(name):
    for law in BUILDERS[name].laws:
        tree, _ = grow(BUILDERS[name](), law, context=(0, 1, 2, 0, 1))
        assert len(tree) > 1
        assert len(tree.keys) == len(tree)
        assert json.loads(json.dumps(tree.notes)) is not None
        assert tree.law == law


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("room", [1, 2, 3])
def test_nothing_is_drafted_deeper_than_there_is_room(name, room):
    for law in BUILDERS[name].laws:
        tree, _ = grow(BUILDERS[name](), law, room=room, context=(0, 1, 2, 0, 1))
        assert max(tree.depths) == room - 1


@pytest.mark.parametrize("name", [name for name in BUILDERS if BUILDERS[name].reads_draft])
def test_top_children_are_the_most_probable_ones_in_order(name):
    for seed in range(5):
        tree, _ = grow(small(name), "top", seed)
        for node, children in enumerate(tree.children):
            if children:
                order = np.argsort(-tree.draft_rows[node], kind="stable")
                assert [tree.tokens[child] for child in children] == order[: len(children)].tolist()


@pytest.mark.parametrize("name", [name for name in BUILDERS if "distinct" in BUILDERS[name].laws])
def test_distinct_children_are_distinct(name):
    for seed in range(5):
        tree, _ = grow(small(name), "distinct", seed)
        for children in tree.children:
            assert len({tree.tokens[child] for child in children}) == len(children)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_chain_is_declared_exactly_where_no_node_can_branch(name):
    narrow = {f: 1 for f in ("width",) if hasattr(BUILDERS[name](), f)}
    for builder in (BUILDERS[name](), BUILDERS[name](**narrow)):
        branches = any(
            len(children) > 1
            for seed in range(6)
            for children in grow(builder, "top", seed, context=(0, 1, 0, 2, 0))[0].children
        )
        assert branches != builder.is_chain


@pytest.mark.parametrize("name", BUILDERS)
def test_bad_parameters_are_named(name):
    for field in ("depth", "size", "width"):
        if hasattr(BUILDERS[name](), field):
            with pytest.raises(ValueError, match=f"{name}.{field}"):
                BUILDERS[name](**{field: 0})


def small(name):
    return BUILDERS[name](**SMALL.get(name, {}))


# ---- DySpec ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["distinct", "top", "race"])
@pytest.mark.parametrize("depth", [2, 16])
def test_dyspec_always_takes_the_best_next_slot(law, depth):
    """Brute force: of all places where a token could be drawn next, the one most likely to be reached."""
    for seed in range(8):
        builder = BUILDERS["dyspec"](size=14, depth=depth)
        tree, _ = grow(builder, law, seed)
        for new in range(1, len(tree)):
            slots = {}
            for node in range(new):
                if tree.depths[node] < depth and node in tree.draft_rows:
                    drawn = [tree.tokens[child] for child in tree.children[node] if child < new]
                    slots[node] = path_prob(tree, node) * (1 - float(tree.draft_rows[node][drawn].sum()))
                elif tree.depths[node] < depth:
                    slots[node] = path_prob(tree, node)
            assert slots[tree.parents[new]] == pytest.approx(max(slots.values()), abs=1e-12)
            assert tree.keys[new] == pytest.approx(max(slots.values()), abs=1e-12)
            best = [key for _, key in tree.notes["waiting"][new - 1]]
            del slots[tree.parents[new]]
            assert best == pytest.approx(sorted((v for v in slots.values() if v > 1e-12), reverse=True)[:3], abs=1e-12)


def test_dyspecs_batches_save_passes_and_change_nothing():
    for seed in range(8):
        lazy, one_by_one = grow(BUILDERS["dyspec"](size=24, batch=1), "distinct", seed)
        batched, together = grow(BUILDERS["dyspec"](size=24, batch=8), "distinct", seed)
        assert (lazy.parents, lazy.tokens, lazy.keys) == (batched.parents, batched.tokens, batched.keys)
        assert one_by_one.passes == sum(map(bool, lazy.children)) > together.passes


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.05, 0.2]), st.sampled_from(["distinct", "top", "race"]))
def test_dyspec_by_threshold_fills_exactly_the_slots_above_it(seed, threshold, law):
    tree, draft = grow(BUILDERS["dyspec-threshold"](threshold=threshold, size=1000, depth=4), law, seed)
    for node in range(len(tree)):
        reach, left = path_prob(tree, node), 1.0
        for child in tree.children[node]:
            assert reach * left > threshold - 1e-12
            left -= float(tree.draft_rows[node][tree.tokens[child]])
        if tree.depths[node] < 4:
            assert reach * left <= threshold + 1e-12
    assert draft.passes <= 4


def test_dyspec_by_threshold_cuts_the_least_likely_slots_of_a_level():
    whole, _ = grow(BUILDERS["dyspec-threshold"](threshold=0.01, size=1000, depth=3), "top")
    cut, _ = grow(BUILDERS["dyspec-threshold"](threshold=0.01, size=12, depth=3), "top")
    assert len(cut) == 12 < len(whole)
    last = cut.depths[-1]
    assert cut.keys[1:] == whole.keys[1:12]  # within a level the best slots come first
    assert min(key for key, depth in zip(cut.keys, cut.depths, strict=True) if depth == last) >= max(
        key for key, depth in zip(whole.keys[12:], whole.depths[12:], strict=True) if depth == last
    )


@dataclass(frozen=True)
class Reranked(BUILDERS["dyspec"]):
    """DySpec with EAGLE-2's second half: it keeps the drawn tokens that turned out most likely."""

    def __call__(self, draft, rng, law, room, notes):
        tree = super().__call__(draft, rng, law, room, notes)
        best = sorted(range(1, len(tree)), key=lambda node: (-path_prob(tree, node), node))[:2]
        kept = TokenTree(tree.tokens[0], tree.start, tree.law)
        place = {0: 0}
        for node in sorted(best):
            place[node] = kept.add(place[tree.parents[node]], tree.tokens[node])
        kept.draft_rows = {place[node]: row for node, row in tree.draft_rows.items() if node in place}
        return kept


def test_reranking_drawn_tokens_is_caught_unless_the_target_draws_first():
    pair = specviz.toy_pair(seed=1, closeness=0.2)
    assert error_of(Reranked(size=4, depth=2), VERIFIERS["dyspec"](), pair)[0] > 1e-3
    assert error_of(Reranked(size=4, depth=2), VERIFIERS["target-match"](), pair, law="distinct")[0] < 1e-12


# ---- planned shapes -------------------------------------------------------------------------------------------------


@lru_cache
def all_shapes(nodes):
    """Every ordered tree of so many nodes, as nested tuples."""
    if nodes == 1:
        return [()]
    return [
        (first, *rest)
        for size in range(1, nodes)
        for first in all_shapes(size)
        for rest in all_shapes(nodes - size)
    ]  # fmt: skip


def value(shape, levels, depth=0):
    """Expected tokens of a nested shape; minus infinity where it is too deep or too wide."""
    if not shape:
        return 1.0
    if depth == len(levels) or len(shape) > len(levels[depth]):
        return -math.inf
    return 1.0 + sum(p * value(child, levels, depth + 1) for p, child in zip(levels[depth], shape, strict=False))


@pytest.mark.parametrize("seed", range(12))
def test_sequoias_tree_is_the_best_of_all_trees(seed):
    """Vectors that rise as well as fall, one for all levels or one per level, against every tree of the size."""
    generator = np.random.default_rng(seed)
    depth, width, size = 2 + seed % 3, 2 + seed % 2, 3 + seed % 6
    levels = tuple(tuple(generator.random(width).tolist()) for _ in range(depth))
    for acceptance in (levels, levels[0]):
        used = levels if acceptance is levels else levels[:1] * depth
        shape, found = best_tree(acceptance, size, depth, width)
        most = max((n for n in range(1, size + 1) if any(value(s, used) > 0 for s in all_shapes(n))), default=1)
        assert len(shape) == most
        assert found == pytest.approx(max(value(s, used) for s in all_shapes(most)), abs=1e-12)
        assert expected_tokens(shape, acceptance) == pytest.approx(found, abs=1e-12)
        assert shape.depth.max() <= depth and max(map(len, shape.children)) <= width


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 8))
def test_the_priority_queue_equals_the_dynamic_programme_for_vectors_that_never_rise(seed, size, depth):
    vector = tuple(sorted(np.random.default_rng(seed).dirichlet(np.full(6, 0.5)).tolist(), reverse=True))
    for width in (2, 6):
        shape = likeliest_tree(vector, size, depth, width)
        best, found = best_tree(vector, size, depth, width)
        assert len(shape) == len(best)
        assert expected_tokens(shape, vector) == pytest.approx(found, abs=1e-12)


def test_optimal_says_that_it_smoothed_a_vector_that_rises():
    rising = (0.2, 0.6, 0.1)
    tree, _ = grow(BUILDERS["optimal"](size=6, acceptance=rising))
    assert tree.notes["smoothed"] and tree.notes["acceptance"] == rising
    assert tree.notes["expected"] <= best_tree(rising, 6, 6, 32)[1] + 1e-12
    assert not grow(BUILDERS["optimal"](size=6, acceptance=PUBLISHED))[0].notes["smoothed"]
    with pytest.raises(ValueError, match="one list of numbers"):
        BUILDERS["optimal"](acceptance=((0.5,), (0.2,)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_smoothing_keeps_the_sum_and_never_rises(values):
    smooth = falling(tuple(values))
    assert sum(smooth) == pytest.approx(sum(values), abs=1e-9)
    assert all(b <= a + 1e-12 for a, b in zip(smooth, smooth[1:], strict=False))
    if all(b <= a for a, b in zip(values, values[1:], strict=False)):
        assert smooth == tuple(values)


@pytest.mark.parametrize("name", ["sequoia", "optimal"])
def test_planned_trees_record_keys_and_the_split_of_the_budget(name):
    tree, _ = grow(BUILDERS[name](size=12, acceptance=PUBLISHED))
    assert sum(tree.keys) == pytest.approx(tree.notes["expected"])
    for node, children in enumerate(tree.children):
        assert tree.notes["split"][node] == 1 + sum(tree.notes["split"][child] for child in children)
    assert tree.notes["split"][0] == len(tree)


def test_a_running_estimate_counts_what_was_accepted_by_rank():
    children = ((1, 2), (), (3,), ())
    running = RunningAcceptance.begin((0.5, 0.25))
    for _ in range(RunningAcceptance.EVERY):
        running = running.learn(children, (2, 3))
    n = RunningAcceptance.EVERY  # each step: root -> second child, then that one's first child
    assert (running.tried, running.accepted) == ((2 * n, n), (n, n))
    prior = RunningAcceptance.PRIOR
    assert running.vector == pytest.approx(((prior * 0.5 + n) / (prior + 2 * n), (prior * 0.25 + n) / (prior + n)))


@pytest.mark.parametrize("name", ["sequoia", "optimal"])
def test_measured_acceptance_follows_the_run(name):
    builder = BUILDERS[name](size=8, acceptance="measured")
    trees = {}
    for closeness in (0.0, 1.0):
        pair = specviz.toy_pair(vocab=8, seed=3, closeness=closeness)
        config = specviz.RunConfig("ab", builder, VERIFIERS["sequoia"](), 1.0, max_new_tokens=200)
        trees[closeness] = list(speculate(pair, config))
    first, last = trees[1.0][0], trees[1.0][-8]
    assert first.growth["acceptance"] == trees[0.0][0].growth["acceptance"]
    assert max(Topology(last.parents).depth) > max(Topology(trees[0.0][-8].parents).depth)  # a good draft: deeper
    assert last.growth["acceptance"][0] > trees[0.0][-8].growth["acceptance"][0]
    pair = specviz.toy_pair(seed=1, closeness=0.2)
    assert error_of(BUILDERS[name](size=4, acceptance="measured"), VERIFIERS["sequoia"](), pair)[0] < 1e-12


# ---- chains that stop, EAGLE-2, prompt lookup -----------------------------------------------------------------------


def test_the_heuristic_adds_two_or_takes_one():
    builder = BUILDERS["heuristic"](depth=3, longest=6)
    lengths, notes = [], builder.start()
    for accepted in (3, 5, 6, 0, 2, 0, 0, 0, 0, 0, 1):
        tree, _ = grow(builder, notes=notes)
        lengths.append(len(tree) - 1)
        path = tuple(range(1, 1 + accepted))
        notes = builder.learn(notes, tree, Verdict(path, 0, (), (), ()))
    assert lengths == [3, 5, 6, 6, 5, 4, 3, 2, 1, 1, 1]


@pytest.mark.parametrize("h", [0.25, 0.4])
def test_svip_ends_with_the_first_token_drawn_in_doubt(h):
    lengths = set()
    for seed in range(12):
        tree, draft = grow(BUILDERS["svip"](h=h, depth=9), seed=seed)
        doubts = [math.sqrt(0.15 * entropy(tree.draft_rows[node])) for node in range(len(tree) - 1)]
        assert tree.keys[1:] == pytest.approx(doubts)
        assert all(doubt <= h for doubt in doubts[:-1])
        assert doubts[-1] > h or len(tree) == 10
        assert draft.passes == len(tree) - 1
        lengths.add(len(tree))
    assert len(lengths) > 1


def test_svip_on_trees_expands_sure_nodes_only_and_the_root_always():
    for seed in range(8):
        builder = BUILDERS["svip-tree"](h=0.4, size=20, depth=4, width=2)
        tree, draft = grow(builder, seed=seed)
        for node in range(1, len(tree)):
            if tree.children[node]:
                assert math.sqrt(0.15 * entropy(tree.draft_rows[node])) <= 0.4
            elif node in tree.draft_rows and len(tree) < 20:
                assert math.sqrt(0.15 * entropy(tree.draft_rows[node])) > 0.4
        assert tree.children[0] and len(tree) <= 20 and draft.passes <= 4


def test_eagle2_keeps_the_best_paths_of_all():
    """With nothing left unexpanded its choice is that of brute force over every path."""
    vocab, depth, size = 4, 3, 12
    for seed in range(6):
        tree, draft = grow(BUILDERS["eagle2"](size=size, depth=depth, width=64), vocab=vocab, seed=seed)
        _, session = specviz.toy_pair(vocab=vocab, seed=seed).open([0, 1])

        def probs(path, session=session):
            logits = session.model.logits([0, 1, *path])
            return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()

        paths, level = {}, {(): 1.0}
        for _ in range(depth):
            level = {(*path, token): v * probs(path)[token] for path, v in level.items() for token in range(vocab)}
            paths |= level
        best = sorted(paths.values(), reverse=True)[: size - 1]
        assert tree.keys[1:] == pytest.approx(best)
        for node in range(1, len(tree)):
            path = tuple(tree.tokens[n] for n in tree.topology.path(node))
            assert tree.keys[node] == pytest.approx(paths[path])
        assert tree.notes["candidates"] == len(paths)
        assert tree.notes["cut"]["keys"][0] <= tree.keys[-1]
        assert draft.passes == depth


def test_eagle2_tells_the_draft_which_of_its_nodes_were_accepted():
    builder = BUILDERS["eagle2"](size=6, depth=4, width=3)
    tree, draft = grow(builder)
    assert len(tree) == 6 < len(draft.tree)
    for node, theirs in tree.origin.items():
        assert tree.tokens[node] == draft.tree.tokens[theirs] and tree.depths[node] == draft.tree.depths[theirs]
        assert (tree.draft_rows.get(node) is None) == (theirs not in draft.tree.draft_rows)
    path = tree.topology.path(max(range(6), key=lambda node: tree.depths[node]))
    theirs = tree.read_by_draft(path)
    assert [draft.tree.tokens[node] for node in theirs] == [tree.tokens[node] for node in path][: len(theirs)]
    assert draft.tree.topology.path(theirs[-1]) == tuple(theirs)


def test_prompt_lookup_merges_what_followed_the_same_tokens():
    #          0  1  2  3  4  5  6  7  8  9 10
    context = (1, 2, 3, 4, 1, 2, 3, 5, 9, 2, 3)
    tree, draft = grow(BUILDERS["prompt-lookup"](ngram=3, depth=2, width=2), vocab=12, context=context)
    # "2 3" was followed by "5 9" (the more recent) and "4 1".
    paths = [tuple(tree.tokens[n] for n in tree.topology.path(node)) for node in range(1, len(tree))]
    assert paths == [(5,), (5, 9), (4,), (4, 1)]
    assert tree.keys[1:] == [2.0] * 4
    assert draft.passes == 0 and not tree.draft_rows and tree.draft_prob() == [None] * 5
    longer, _ = grow(BUILDERS["prompt-lookup"](ngram=3, depth=3, width=3), vocab=12, context=(7, 7, 7, 7))
    assert [longer.parents, longer.tokens] == [[-1, 0], [7, 7]]  # one past the match there is one token, shared
    alone, _ = grow(BUILDERS["prompt-lookup"](), vocab=12, context=(1, 2, 3))
    assert len(alone) == 1
    first, _ = grow(BUILDERS["prompt-lookup"](), vocab=12, context=(1,))
    assert len(first) == 1


def test_prompt_lookup_needs_no_draft_and_goes_with_rules_that_never_ask_for_q():
    builder = BUILDERS["prompt-lookup"]()
    for name, rule in VERIFIERS.items():
        assert compatible(builder, rule(), 0.0 if rule.greedy_only else 1.0).possible == (not rule.reads_draft), name
