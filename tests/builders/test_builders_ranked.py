"""DDTree against every tree, and how many nodes of a ranking are worth their cost."""

from itertools import product

import numpy as np
import pytest

import specviz
from specviz.builders.base import Draft
from specviz.builders.plans import best_trees
from specviz.builders.worth import Rate, best_count, is_worth
from specviz.config.strategy import strategy_of
from specviz.drafters.base import DrafterSession
from specviz.proof.lossless import error_in
from specviz.record.vectors import EMBEDDED
from specviz.sampling.distributions import Sampling
from specviz.sampling.randomness import Seeded
from specviz.tree import TokenTree
from tests.growing import BUILDERS, grow, path_prob


class Rows(DrafterSession):
    """Rows by depth and the parent's token, as a block drafter gives them in one pass."""

    def __init__(self, rows):
        super().__init__("rows")
        self.rows = rows

    def expand(self, tree, nodes, sampling):
        return [self.rows[tree.depths[node], tree.tokens[node]] for node in nodes]


def ddtree(rows, size, depth=3, **more):
    tree = TokenTree(0, scheme="top")
    builder = BUILDERS["ddtree"](size=size, depth=depth, **more)
    draft = Draft(Rows(rows), tree, [0], Sampling())
    return builder(draft, Seeded(0), 50, builder.start())


def rows_of(seed, vocab, depth, follow_the_parent):
    """Random rows; without `follow_the_parent` the same after every node of a depth."""
    rng = np.random.default_rng(seed)
    rows = {}
    for level in range(depth):
        same = rng.dirichlet(np.ones(vocab))
        for token in range(vocab):
            rows[level, token] = rng.dirichlet(np.ones(vocab)) if follow_the_parent else same
    return rows


def weights_of_all_paths(rows, vocab, depth):
    """The probability of every string of up to `depth` tokens."""
    for length in range(1, depth + 1):
        for path in product(range(vocab), repeat=length):
            before = (0, *path)
            yield float(np.prod([rows[i, before[i]][token] for i, token in enumerate(path)]))


@pytest.mark.parametrize("follow_the_parent", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_ddtree_has_the_heaviest_of_all_nodes(seed, follow_the_parent):
    """The heaviest paths of all are closed under "parent", so no tree of as many nodes has more."""
    vocab, depth = 3, 3
    rows = rows_of(seed, vocab, depth, follow_the_parent)
    weights = sorted(weights_of_all_paths(rows, vocab, depth), reverse=True)
    for size in (2, 5, 9, 14, 60):
        tree = ddtree(rows, size, depth)
        assert len(tree) == min(size, 1 + len(weights))
        assert tree.keys[1:] == pytest.approx(weights[: size - 1])
        assert tree.keys[1:] == pytest.approx([path_prob(tree, n) for n in range(1, len(tree))])


def test_ddtree_reads_all_candidates_of_a_level_in_one_pass():
    for size in (4, 20, 100):
        tree, draft = grow(BUILDERS["ddtree"](size=size, depth=6))
        assert len(tree) == size and draft.passes <= 6
        wide, _ = grow(BUILDERS["eagle2"](size=size, depth=6, width=6))
        assert sum(tree.keys[1:]) >= sum(wide.keys[1:]) - 1e-12


def test_every_size_is_compared_not_only_until_the_first_that_does_not_pay():
    """A pass whose cost jumps from one row to two: the first node does not pay, 32 do."""
    level = np.array([0.4, 0.3, 0.2, 0.1])
    rows = {(depth, token): level for depth in range(4) for token in range(4)}
    costs = (1.0, *[1.5] * 5, 100.0)  # over 1, 2, 4, ... 32 nodes, and far too much for 64
    tree = ddtree(rows, "auto", 4, costs=costs, draft_cost=(0.0,))
    rates = np.cumsum([1.0, *ddtree(rows, 33, 4).keys[1:]]) / [1.0, *[1.5] * 31, 1.5 + 98.5 / 32]
    assert rates[1] < rates[0] and len(tree) == 32
    assert tree.growth.expected / 1.5 == pytest.approx(rates.max()) and rates.max() > 2.2


def curves(seed, kinds=3, nodes=6):
    """Tokens of the best n nodes for texts of several kinds, and costs that jump."""
    rng = np.random.default_rng(seed)
    weights = -np.sort(-(rng.random((kinds, nodes)) ** rng.choice([0.5, 1, 4], (kinds, 1))), axis=1)
    weights[:, 0] = 1.0
    return weights, 1 + np.cumsum(rng.choice([0.0, 0.05, 0.6], nodes))


def run_rate(weights, costs, counts):
    """Tokens over costs of a long run whose kinds of text are equally frequent."""
    tokens = sum(weight[:count].sum() for weight, count in zip(weights, counts, strict=True))
    return tokens / sum(costs[count - 1] for count in counts)


def test_the_rate_of_the_run_gives_the_best_of_all_ways_to_choose_sizes():
    """Against every assignment of sizes to kinds of text; each round's own ratio is worse."""
    worse = 0
    for seed in range(40):
        weights, costs = curves(seed)
        every = product(range(1, len(costs) + 1), repeat=len(weights))
        best = max(run_rate(weights, costs, counts) for counts in every)
        state = Rate()
        for _ in range(60):  # rounds of all kinds in turn, and the rate so far
            price = state.written / state.cost if state.cost else 1 / costs[0]
            counts = [best_count(weight, costs, price) for weight in weights]
            tokens = sum(w[:n].sum() for w, n in zip(weights, counts, strict=True))
            cost = sum(costs[n - 1] for n in counts)
            state = Rate(state.written + tokens, state.cost + cost)
        assert run_rate(weights, costs, counts) == pytest.approx(best)
        own = [int(np.argmax(np.cumsum(weight) / costs)) + 1 for weight in weights]
        worse += run_rate(weights, costs, own) < best - 1e-9
    assert worse >= 5


@pytest.mark.parametrize(
    ("name", "rule"), [("ddtree", "naive"), ("eagle2", "naive"), ("dyspec", "dyspec")]
)
def test_a_tree_that_counts_its_cost_is_lossless_and_learns_its_rate(name, rule):
    builder = BUILDERS[name](size="auto", depth=2, costs=(1.0, 1.1, 1.4), draft_cost=(0.1,))
    pair = specviz.toy_pair(seed=1, closeness=0.2)
    config = specviz.RunConfig("abab", builder, rule)
    assert error_in(config, pair)[0] < 1e-12
    steps = specviz.run(pair, specviz.RunConfig("ab", builder, rule, max_new_tokens=40)).steps
    assert max(len(step.parents) for step in steps) <= 4
    cheap = builder.replace(costs=(1.0, 1.0, 1.0), draft_cost=(0.0,))
    larger = specviz.run(pair, specviz.RunConfig("ab", cheap, rule, max_new_tokens=40)).steps
    assert all(len(step.parents) == 4 for step in larger[:-2])


def test_costs_lie_on_straight_lines():
    builder = BUILDERS["ddtree"](
        size="auto", costs=(1.0, 2.0, 3.0, 3.0), draft_cost=(0.9, 0.2, 0.4)
    )
    assert builder.step_costs.tolist() == [1, 2, 2.5, 3, 3, 3, 3, 3] and builder.limit == 8
    assert builder.pass_costs[:4] == pytest.approx([0.2, 0.4, 0.6, 0.8])  # the last line goes on
    tree, _ = grow(builder.replace(size=3))
    assert builder.step_cost(tree, [1, 2]) == pytest.approx(2.5 + 0.9 + 0.4)
    assert builder.step_cost(tree, []) == 2.5


def test_a_tree_drawn_node_by_node_stops_only_where_nothing_more_can_pay():
    """Against every number of further nodes of the next one's weight, with costs that jump."""
    for seed in range(40):
        _, costs = curves(seed, nodes=12)
        rng = np.random.default_rng(seed)
        weight, nodes, rate = rng.random() ** 2, int(rng.integers(1, 12)), rng.random() + 0.5
        gains = [
            weight * (more - nodes) - rate * (costs[more - 1] - costs[nodes - 1])
            for more in range(nodes + 1, len(costs) + 1)
        ]
        assert is_worth(weight, nodes, costs, rate) == (max(gains) > 0)


def test_sequoia_has_the_size_with_the_most_tokens_per_cost():
    costs = (1.0, 1.0, 1.2, 1.2, 2.0, 4.0)
    for vector in ((0.6, 0.2, 0.1), (0.9,), (0.2, 0.1), ((0.8, 0.1), (0.3, 0.3))):
        builder = BUILDERS["sequoia"](
            size="auto", depth=4, acceptance=vector, costs=costs, draft_cost=(0.3, 0.2)
        )
        trees = best_trees(vector, range(1, 33), range(1, 5), 32)

        speeds = {}
        for shape, (tree, tokens) in trees.items():
            levels = int(tree.depth.max())  # one draft pass each
            drafting = 0.3 + 0.2 * (levels - 1) if levels else 0.0
            speed = tokens / (builder.step_costs[len(tree) - 1] + drafting)
            # A tree may have fewer nodes or levels than it is allowed.
            speeds[shape] = (round(speed, 12), -shape[0], -shape[1])
        best = max(speeds, key=speeds.__getitem__)
        assert builder.shape == trees[best][0]


def test_a_level_that_is_not_worth_its_draft_pass_is_not_read():
    """Each level brings 0.6 of the one above it, and a pass is worth 0.3 tokens: the third level
    would bring 0.216."""
    rows = {(depth, 0): np.array([0.6, 0.0, 0.0, 0.0]) for depth in range(6)}
    costs = (1.0, 1.0, 1.0, 1.0)
    dear = ddtree(rows, "auto", 6, costs=costs, draft_cost=(0.3,))
    assert dear.depths == [0, 1, 2]
    assert dear.growth.cost == pytest.approx(1.0 + 2 * 0.3)
    assert ddtree(rows, "auto", 6, costs=costs, draft_cost=(0.0,)).depths == list(range(7))
    # A draft that takes longer than the target is not asked.
    assert len(ddtree(rows, "auto", 6, costs=costs, draft_cost=(1.1, 0.0))) == 1


def test_no_node_that_pays_is_left_out_for_its_small_chance():
    for seed in range(60):
        weights, costs = curves(seed, kinds=1, nodes=8)
        builder = BUILDERS["ddtree"](size="auto", costs=(costs[0], costs[1], costs[3], costs[7]))
        state = Rate(written=1.0 + seed % 3, cost=1.0)
        price = builder.price(state)
        count = best_count(weights[0], builder.step_costs, price)
        assert count == 1 or weights[0][count - 1] >= builder.least_chance(state) - 1e-12


@pytest.mark.parametrize("name", ["ddtree", "eagle2", "dyspec"])
def test_a_draft_that_promises_too_much_is_believed_less(name):
    assert Rate(promised=9.0, fulfilled=3).agreement == 0.4
    assert Rate(promised=2.0, fulfilled=9).agreement == 1.0
    # As sure as the target, of other things.
    pair = specviz.toy_pair(vocab=8, seed=3, closeness=0.0)
    builder = BUILDERS[name](size="auto", costs=(1.0, 1.05, 1.1, 1.3), draft_cost=(0.3,))
    steps = specviz.run(pair, specviz.RunConfig("ab", builder, max_new_tokens=200)).steps
    nodes = [len(step.parents) for step in steps]
    assert np.mean(nodes[-40:-5]) < np.mean(nodes[:5])


@pytest.mark.parametrize("closeness", [0.3, 0.9])
def test_the_tokens_per_cost_of_a_run_are_near_those_of_its_best_fixed_tree(closeness):
    pair = specviz.toy_pair(vocab=8, seed=2, closeness=closeness)
    costs = (1.0, 1.05, 1.15, 1.6, 2.6)
    builder = BUILDERS["ddtree"](size="auto", costs=costs, draft_cost=(0.25,))

    def rate(builder):
        config = specviz.RunConfig("ab", builder, "naive", max_new_tokens=600)
        steps = specviz.run(pair, config).steps
        line = BUILDERS["ddtree"](size="auto", costs=costs).step_costs
        cost = sum(line[len(step.parents) - 1] + 0.25 * step.draft_passes for step in steps)
        return sum(len(step.emitted) for step in steps) / cost

    fixed = [rate(builder.replace(size=n, depth=d)) for n in (2, 4, 8, 16) for d in (1, 2, 4)]
    assert rate(builder) > 0.97 * max(1.0, *fixed)


def test_costs_are_those_of_pair_drafter_and_place():
    def prepared(pair, drafter, on_disk, **given):
        builder = BUILDERS["eagle2"](size="auto", **given)
        config = specviz.RunConfig(builder=builder, verifier="naive", drafter=drafter)
        return builder.prepare(config, {"name": pair, "offload": "disk" if on_disk else None})

    memory = prepared("smollm2", "quantized", False)
    disk = prepared("smollm2", "quantized", True)
    head = prepared("smollm2", "eagle", False)
    assert memory.costs == head.costs and memory.draft_cost[0] > 2 * head.draft_cost[0]
    # A pass over weights on the disk costs the same over 16 nodes, and a draft in memory little.
    assert disk.costs[4] < 1.1 < memory.costs[4] and disk.draft_cost[0] < memory.draft_cost[0] / 3
    assert prepared("other", "model", False).costs == prepared(EMBEDDED, "model", False).costs
    given = prepared("smollm2", "eagle", False, costs=(1.0, 2.0))
    assert given.costs == (1.0, 2.0) and given.draft_cost == head.draft_cost


@pytest.mark.parametrize("name", ["ddtree", "eagle2", "ddd", "dyspec", "sequoia"])
def test_runs_that_were_saved_with_the_costs_of_old_have_the_defaults(name):
    old = {"costs": [1.0, 1.0, 1.24, 1.24, 1.74, 2.69, 4.38], "draft_cost": 0.5}
    saved = {"name": name, "parameters": {"size": 12, **old}}
    assert strategy_of("builder", saved) == BUILDERS[name](size=12)


def test_sequoia_with_auto_size_runs():
    pair = specviz.toy_pair()
    trace = specviz.run(pair, specviz.RunConfig("ab", "sequoia:size=auto", "sequoia"))
    assert 2 < max(len(step.parents) for step in trace.steps) <= 64
