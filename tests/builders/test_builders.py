"""The builders: what all of them keep to, chains that stop, EAGLE-2, prompt lookup."""

import math

import numpy as np
import pytest

import specviz
from specviz.builders.lookup import Window
from specviz.sampling.distributions import entropy
from specviz.verifiers.base import Verdict
from tests.growing import BUILDERS, grow, small

# ---- every builder
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("tokens_left", [1, 2, 3, 50])
def test_a_builder_leaves_records_and_drafts_no_deeper_than_there_is_room(name, tokens_left):
    for scheme in BUILDERS[name].schemes:
        tree, _ = grow(BUILDERS[name](), scheme, tokens_left=tokens_left, context=(0, 1, 2, 0, 1))
        assert max(tree.depths) <= tokens_left - 1 and (len(tree) > 1 or tokens_left == 1)
        assert len(tree.keys) == len(tree) and tree.scheme == scheme
        assert tree.growth is not None or tokens_left == 1


@pytest.mark.parametrize("name", [name for name in BUILDERS if BUILDERS[name].reads_draft])
def test_top_children_are_the_most_probable_ones_in_order(name):
    for seed in range(5):
        tree, _ = grow(small(name), "top", seed)
        for node, children in enumerate(tree.children):
            if children:
                order = np.argsort(-tree.draft_distributions[node], kind="stable")
                assert [tree.tokens[child] for child in children] == order[: len(children)].tolist()


@pytest.mark.parametrize(
    "name", [name for name in BUILDERS if "distinct" in BUILDERS[name].schemes]
)
def test_distinct_children_are_distinct(name):
    for seed in range(5):
        tree, _ = grow(small(name), "distinct", seed)
        for children in tree.children:
            assert len({tree.tokens[child] for child in children}) == len(children)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_chain_is_declared_exactly_where_no_node_can_branch(name):
    narrow = {f: 1 for f in ("width", "guesses") if hasattr(BUILDERS[name](), f)}
    for builder in (BUILDERS[name](), BUILDERS[name](**narrow)):
        state = (
            Window(pool={0: ((1, 2), (3, 4))[: builder.guesses]}) if name == "lookahead" else None
        )
        branches = any(
            len(children) > 1
            for seed in range(6)
            for children in grow(builder, "top", seed, context=(0, 1, 0, 2, 0), state=state)[
                0
            ].children
        )
        assert branches != builder.is_chain


# ---- chains that stop, EAGLE-2, prompt lookup
# -----------------------------------------------------------------------


def test_the_heuristic_adds_two_or_takes_one():
    builder = BUILDERS["heuristic"](depth=3, longest=6)
    lengths, state = [], builder.start()
    for accepted in (3, 5, 6, 0, 2, 0, 0, 0, 0, 0, 1):
        tree, _ = grow(builder, state=state)
        lengths.append(len(tree) - 1)
        path = tuple(range(1, 1 + accepted))
        state = builder.learn(state, tree, Verdict(path, 0, (), (), ()))
    assert lengths == [3, 5, 6, 6, 5, 4, 3, 2, 1, 1, 1]


@pytest.mark.parametrize("h", [0.35, 0.45])
def test_svip_ends_with_the_first_token_drawn_in_doubt(h):
    lengths = set()
    for seed in range(12):
        tree, draft = grow(BUILDERS["svip"](h=h, c=0.15, depth=9), seed=seed)
        doubts = [
            math.sqrt(0.15 * entropy(tree.draft_distributions[node]))
            for node in range(len(tree) - 1)
        ]
        assert tree.keys[1:] == pytest.approx(doubts)
        assert all(uncertainty <= h for uncertainty in doubts[:-1])
        assert doubts[-1] > h or len(tree) == 10
        assert draft.passes == len(tree) - 1
        lengths.add(len(tree))
    assert len(lengths) > 1


@pytest.mark.parametrize("name", ["svip", "svip-tree"])
def test_doubt_is_read_at_temperature_one_where_the_drafts_is_zero(name):
    builder = BUILDERS[name](h=1.0, depth=9)
    grown = [(grow(builder, "top", seed, temperature=0)[0], seed) for seed in range(8)]
    assert (
        len({len(tree) for tree, _ in grown}) > 1
    )  # rows of one token have no entropy: all would be as long
    for tree, seed in grown:
        warm, _ = grow(BUILDERS["chain"](depth=1), "top", seed, temperature=1.0)
        assert all(float(row.max()) == 1.0 for row in tree.draft_distributions.values())
        assert tree.keys[1] == pytest.approx(math.sqrt(entropy(warm.draft_distributions[0])))


def test_svip_on_trees_expands_sure_nodes_only_and_the_root_always():
    for seed in range(8):
        builder = BUILDERS["svip-tree"](h=0.4, c=0.15, size=20, depth=4, width=2)
        tree, draft = grow(builder, seed=seed)
        for node in range(1, len(tree)):
            if tree.children[node]:
                assert math.sqrt(0.15 * entropy(tree.draft_distributions[node])) <= 0.4
            elif node in tree.draft_distributions and len(tree) < 20:
                assert math.sqrt(0.15 * entropy(tree.draft_distributions[node])) > 0.4
        assert tree.children[0] and len(tree) <= 20 and draft.passes <= 4


def test_eagle2_keeps_the_best_paths_of_all():
    """With nothing left unexpanded its choice is that of brute force over every path."""
    vocab, depth, size = 4, 3, 12
    for seed in range(6):
        tree, draft = grow(
            BUILDERS["eagle2"](size=size, depth=depth, width=64), vocab=vocab, seed=seed
        )
        _, session = specviz.toy_pair(vocab=vocab, seed=seed).open([0, 1])

        def probs(path, session=session):
            logits = session.model.logits([0, 1, *path])
            return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()

        paths, level = {}, {(): 1.0}
        for _ in range(depth):
            level = {
                (*path, token): v * probs(path)[token]
                for path, v in level.items()
                for token in range(vocab)
            }
            paths |= level
        best = sorted(paths.values(), reverse=True)[: size - 1]
        assert tree.keys[1:] == pytest.approx(best)
        for node in range(1, len(tree)):
            path = tuple(tree.tokens[n] for n in tree.topology.path(node))
            assert tree.keys[node] == pytest.approx(paths[path])
        assert tree.growth.candidates == len(paths)
        assert tree.growth.cut.rows["keys"][0] <= tree.keys[-1]
        assert draft.passes == depth


@pytest.mark.parametrize("seed", range(8))
def test_eagle2_stops_at_every_second_level_where_the_best_node_is_in_doubt(seed):
    make = BUILDERS["eagle2"]
    whole, draft = grow(make(size=64, depth=6, width=2), seed=seed)
    assert whole.depths and max(whole.depths) == 6
    doubts = {}
    for depth in (2, 4):
        level = [node for node in range(len(draft.tree)) if draft.tree.depths[node] == depth]
        doubts[depth] = math.sqrt(entropy(draft.tree.draft_distributions[level[0]]))
    for h in (doubts[2] - 1e-6, doubts[2] + 1e-6, 3.0):
        tree, _ = grow(make(size=64, depth=6, width=2, h=h), seed=seed)
        wanted = next((depth for depth in (2, 4) if doubts[depth] > h), 6)
        assert max(tree.depths) == wanted


def test_cape_drafts_more_beside_a_chain_where_the_draft_is_less_confident():
    builder = BUILDERS["cape"](depth=4, counts=(5, 3, 1))
    for seed in range(8):
        tree, _ = grow(builder, "distinct", seed)
        chain = [node for node in range(len(tree)) if tree.children[node]]
        assert [tree.depths[node] for node in chain] == [0, 1, 2, 3]
        for node in chain:
            confidence = tree.draft_distributions[node].max()
            assert len(tree.children[node]) == (5, 3, 1)[min(int(3 * confidence), 2)]
            assert all(tree.keys[child] == confidence for child in tree.children[node])
    assert BUILDERS["cape"](counts=(1, 1)).is_chain and not builder.is_chain
    assert len(grow(BUILDERS["cape"](size=7, depth=6, counts=(4,)))[0]) == 7


def test_dynamic_depth_stops_at_the_level_whose_paths_are_too_unlikely():
    for seed, mass in ((0, 0.2), (1, 0.5), (2, 0.9)):
        make = {"size": 200, "depth": 5, "width": 3}
        full, _ = grow(BUILDERS["eagle2"](**make), seed=seed)
        tree, _ = grow(BUILDERS["ddd"](**make, mass=mass), seed=seed)
        level, depths = np.array(full.depths), max(tree.depths)
        kept = [
            sum(sorted(np.array(full.keys[1:], float)[level[1:] == d])[-3:]) for d in range(1, 6)
        ]
        assert depths == 1 + next((d for d, sum_ in enumerate(kept) if sum_ < mass), 4)
    assert max(grow(BUILDERS["ddd"](**make, mass=0.0))[0].depths) == 5


def test_eagle2_tells_the_draft_which_of_its_nodes_were_accepted():
    builder = BUILDERS["eagle2"](size=6, depth=4, width=3)
    tree, draft = grow(builder)
    assert len(tree) == 6 < len(draft.tree)
    for node, theirs in tree.origin.items():
        assert (
            tree.tokens[node] == draft.tree.tokens[theirs]
            and tree.depths[node] == draft.tree.depths[theirs]
        )
        assert (tree.draft_distributions.get(node) is None) == (
            theirs not in draft.tree.draft_distributions
        )
    path = tree.topology.path(max(range(6), key=lambda node: tree.depths[node]))
    theirs = [tree.origin[node] for node in path if node in tree.origin]
    assert [draft.tree.tokens[node] for node in theirs] == [tree.tokens[node] for node in path][
        : len(theirs)
    ]
    assert draft.tree.topology.path(theirs[-1]) == tuple(theirs)


def test_prompt_lookup_merges_what_followed_the_same_tokens():
    #          0  1  2  3  4  5  6  7  8  9 10
    context = (1, 2, 3, 4, 1, 2, 3, 5, 9, 2, 3)
    tree, draft = grow(
        BUILDERS["prompt-lookup"](ngram=3, depth=2, width=2), vocab=12, context=context
    )
    # "2 3" was followed by "5 9" (the more recent) and "4 1".
    paths = [
        tuple(tree.tokens[n] for n in tree.topology.path(node)) for node in range(1, len(tree))
    ]
    assert paths == [(5,), (5, 9), (4,), (4, 1)]
    assert tree.keys[1:] == [2.0] * 4
    assert draft.passes == 0 and not tree.draft_distributions
    shared, _ = grow(
        BUILDERS["prompt-lookup"](ngram=2, depth=3, width=3), vocab=12, context=(7, 7, 7, 7)
    )
    assert shared.parents == [
        -1,
        0,
        1,
        2,
    ]  # three continuations of 1, 2 and 3 tokens with one beginning
    assert shared.keys[1:] == [2.0, 2.0, 1.0]  # the longer matches came first
    alone, _ = grow(BUILDERS["prompt-lookup"](), vocab=12, context=(1, 2, 3))
    assert len(alone) == 1
    first, _ = grow(BUILDERS["prompt-lookup"](), vocab=12, context=(1,))
    assert len(first) == 1
