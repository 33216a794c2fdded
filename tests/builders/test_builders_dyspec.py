"""DySpec's trees against brute force, and a variant that drops what it has drawn."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specviz
from specviz.papers.proofs import by_threshold, greedy_sum
from specviz.tree import TokenTree
from tests.growing import BUILDERS, grow, path_prob

VERIFIERS = specviz.VERIFIERS


@pytest.mark.parametrize("scheme", ["distinct", "top", "race"])
@pytest.mark.parametrize("depth", [2, 16])
def test_dyspec_always_takes_the_best_next_slot(scheme, depth):
    """Brute force: of all places where a token could be drawn next, the one most likely to be
    reached."""
    for seed in range(8):
        builder = BUILDERS["dyspec"](size=14, depth=depth)
        tree, _ = grow(builder, scheme, seed)
        for new in range(1, len(tree)):
            slots = {}
            for node in range(new):
                if tree.depths[node] < depth and node in tree.draft_distributions:
                    drawn = [tree.tokens[child] for child in tree.children[node] if child < new]
                    slots[node] = path_prob(tree, node) * (
                        1 - float(tree.draft_distributions[node][drawn].sum())
                    )
                elif tree.depths[node] < depth:
                    slots[node] = path_prob(tree, node)
            assert slots[tree.parents[new]] == pytest.approx(max(slots.values()), abs=1e-12)
            assert tree.keys[new] == pytest.approx(max(slots.values()), abs=1e-12)
            best = [key for _, key in tree.growth.waiting[new - 1]]
            del slots[tree.parents[new]]
            assert best == pytest.approx(
                sorted((v for v in slots.values() if v > 1e-12), reverse=True)[:3], abs=1e-12
            )


def test_dyspecs_batches_save_passes_and_change_nothing():
    for seed in range(8):
        lazy, one_by_one = grow(BUILDERS["dyspec"](size=24, batch=1), "distinct", seed)
        batched, together = grow(BUILDERS["dyspec"](size=24, batch=8), "distinct", seed)
        assert (lazy.parents, lazy.tokens, lazy.keys) == (
            batched.parents,
            batched.tokens,
            batched.keys,
        )
        assert one_by_one.passes == sum(map(bool, lazy.children)) > together.passes


@pytest.mark.parametrize("name", ["dyspec", "dyspec-threshold"])
def test_the_order_for_the_target_changes_no_tree(name):
    for seed in range(8):
        heavy, _ = grow(BUILDERS[name](size=24), "distinct", seed)
        drawn, _ = grow(BUILDERS[name](size=24, reorder=False), "distinct", seed)
        assert (heavy.parents, heavy.tokens, heavy.keys) == (
            drawn.parents,
            drawn.tokens,
            drawn.keys,
        )
        assert heavy.pass_order == heavy.topology.heavy_path and drawn.pass_order is None


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.02, 0.05, 0.2]),
    st.sampled_from(["distinct", "top", "race"]),
)
def test_dyspec_by_threshold_fills_exactly_the_slots_above_it(seed, threshold, scheme):
    tree, draft = grow(
        BUILDERS["dyspec-threshold"](threshold=threshold, size=1000, depth=4), scheme, seed
    )
    for node in range(len(tree)):
        reach, left = path_prob(tree, node), 1.0
        for child in tree.children[node]:
            assert reach * left > threshold - 1e-12
            left -= float(tree.draft_distributions[node][tree.tokens[child]])
        if tree.depths[node] < 4:
            assert reach * left <= threshold + 1e-12
    assert draft.passes <= 4


def test_dyspec_by_threshold_cuts_the_least_likely_slots_of_a_level():
    whole, _ = grow(BUILDERS["dyspec-threshold"](threshold=0.01, size=1000, depth=3), "top")
    cut, _ = grow(BUILDERS["dyspec-threshold"](threshold=0.01, size=12, depth=3), "top")
    assert len(cut) == 12 < len(whole)
    last = cut.depths[-1]
    assert cut.keys[1:] == whole.keys[1:12]  # within a level the best slots come first
    assert min(
        key for key, depth in zip(cut.keys, cut.depths, strict=True) if depth == last
    ) >= max(
        key for key, depth in zip(whole.keys[12:], whole.depths[12:], strict=True) if depth == last
    )


def test_greedy_slots_are_the_likeliest_and_those_above_its_last_key():
    """Equation 11 and appendix A.1, by brute force over every tree of toy drafts."""
    assert max(greedy_sum()) < 1e-12 and max(by_threshold()) == 0


def test_the_automatic_threshold_brings_about_the_nodes_asked_for():
    """It begins at one over the size, is fixed before a step draws, and follows the sizes of past
    trees."""
    builder = BUILDERS["dyspec-threshold"](size=24, depth=10)
    state, sizes, seen = builder.start(), [], []
    assert state == 1 / 24
    for seed in range(60):
        tree, _ = grow(builder, "distinct", seed, state=state)
        assert tree.growth.threshold == state
        sizes.append(len(tree))
        seen.append(state)
        state = builder.learn(state, tree, None)
    assert max(sizes) <= 24 and sum(sizes[20:]) / 40 > 0.7 * 24 and len(set(seen)) > 10
    full, small = (builder.learn(0.1, tree, None) for tree in (_of(24), _of(12)))
    assert small < 0.1 < full
    fixed = BUILDERS["dyspec-threshold"](threshold=0.2)
    assert fixed.start() is None and fixed.learn(None, tree, None) is None


def _of(size):
    tree = TokenTree(0)
    for _ in range(size - 1):
        tree.add(0, 0)
    return tree
