"""`optimize` predicts with the pair, drafter and texts that it is asked about, says how sure it is, and what to run."""

import json

import pytest

import specviz
from specviz.acceptance.calibration import from_text, to_text
from specviz.acceptance.on_text import acceptance_vector, own_texts
from specviz.commands.cli import main
from specviz.planning.cost_table import CostTable, flat_up_to
from specviz.tree import Topology


@pytest.fixture
def loaded(monkeypatch):
    """The commands get one of these pairs, by its target's name; every load is kept."""
    import specviz.models.pair as module

    asked = []

    def load_pair(target, draft, **options):
        asked.append((target, draft, options["dtype"]))
        return specviz.toy_pair(vocab=8, seed=3 if target else 2, closeness=0.9 if target else 0.3)

    monkeypatch.setattr(module, "load_pair", load_pair)
    return asked


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "cost of mine.json"
    path.write_text(flat_up_to(8).to_json())
    return str(path)


def asked_of(capsys, *options):
    assert main(["optimize", "--verifier", "sequoia", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_another_pair_is_calibrated_before_it_is_predicted(loaded, table, capsys):
    stored = asked_of(capsys, "--cost", table)
    assert not loaded, "the embedded pair has a stored vector"
    own = asked_of(capsys, "--cost", table, "--target", "mine", "--draft", "small")
    assert loaded == [("mine", "small", "auto")] and own["tokens_per_pass"] != stored["tokens_per_pass"]
    pair = specviz.toy_pair(vocab=8, seed=3, closeness=0.9)
    from specviz.commands.bench import built_in_prompts

    config = specviz.RunConfig(max_new_tokens=64)
    texts = list(own_texts(pair, built_in_prompts()[:20], config))
    near = acceptance_vector(pair, specviz.VERIFIERS["sequoia"](), texts, config, 8)
    best = own["best"][0]
    assert best["low"] < best["speedup"] < best["high"]
    assert sum(near.acceptance) > 0.8 and own["tokens_per_pass"] > 2


def test_the_vector_is_measured_on_the_users_prompts(loaded, table, capsys, tmp_path):
    prompts = tmp_path / "my prompts.txt"
    prompts.write_text("ab\nca\nbd\n")
    found = asked_of(capsys, "--cost", table, "--prompts", str(prompts))
    assert loaded and found["texts"] == "continuations of my prompts.txt"


def test_a_vector_of_another_setting_is_rejected_or_warned_about(loaded, table, capsys, tmp_path):
    path = tmp_path / "vector.json"
    assert main(["calibrate", "--positions", "60", "--width", "4", "--json"]) == 0
    path.write_text(capsys.readouterr().out)
    says = json.loads(path.read_text())
    assert says["temperature"] == specviz.RunConfig().temperature and says["texts"] and says["version"]
    assert says["pair"].startswith("toy") and says["drafter"] == "model" and says["parameters"] == {}
    with_it = ["--cost", table, "--acceptance", str(path)]
    assert main(["optimize", *with_it]) == 0
    capsys.readouterr()
    for other, words in (
        (["--temperature", "0.5"], "temperature 0.8, not 0.5"),
        (["--drafter", "ngram"], "drafter 'model', not 'ngram'"),
        (["--verifier", "specinfer"], "verifier 'sequoia', not 'specinfer'"),
        (["--target", "mine", "--texts", "1"], "pair 'toy tables (vocabulary 8, seed 2)', not"),
    ):
        assert main(["optimize", *with_it, *other]) == 2
        assert words in capsys.readouterr().err
    path.write_text(json.dumps(says | {"version": "0.0.1", "dtype": "float16"}))
    run = ["generate", "--prompt", "ab", "--builder", f"sequoia:acceptance={path}", "--max-new-tokens", "4"]
    assert main(run) == 0
    assert "version '0.0.1', not" in capsys.readouterr().err
    assert main([*run, "--target", "mine"]) == 0
    assert "seed 2)', not" in capsys.readouterr().err


def test_the_interval_is_the_jackknife_over_texts_with_students_t():
    from specviz.planning.choose import Candidate, spread_over_texts
    from specviz.planning.forecast import predict

    chain, cost = specviz.BUILDERS["chain"](depth=1), flat_up_to(8)
    shares = (0.5, 0.7, 0.9)
    left = [((sum(shares) - share) / 2,) for share in shares]
    one = Candidate(chain, predict(chain.shape, (0.7,), cost))
    low, high = spread_over_texts(one, left)
    error = (sum((share - 0.7) ** 2 for share in shares) / 2 / 3) ** 0.5  # of a mean of three
    assert high * 1.7 == pytest.approx(1.7 + 4.3027 * error, abs=1e-4) and low * 1.7 == pytest.approx(
        1.7 - 4.3027 * error, abs=1e-4
    )
    assert spread_over_texts(one, left[:1]) == (None, None)


def test_each_text_left_out_is_the_measurement_without_it():
    pair, config = specviz.toy_pair(vocab=6), specviz.RunConfig(max_new_tokens=12)
    texts = list(own_texts(pair, ["abc", "bca", "cab"], config))
    rule = specviz.VERIFIERS["sequoia"]()
    found = acceptance_vector(pair, rule, texts, config, 3)
    assert found.left_out[2] == pytest.approx(acceptance_vector(pair, rule, texts[:2], config, 3).plan)
    assert from_text(to_text([found]))[0].left_out == found.left_out


def test_the_runners_up_differ_and_overlapping_intervals_are_said(loaded, table, capsys):
    assert main(["optimize", "--cost", table, "--target", "mine", "--verifier", "sequoia"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("  next: ") == 3 and "best among" in printed and "The intervals overlap" in printed


def test_the_best_candidate_is_near_the_best_of_all_small_trees():
    """It is called the best among candidates: where a draft pass costs more a node, another tree may be faster."""
    from specviz.planning.choose import best_candidate
    from specviz.planning.forecast import predict

    config, behind = specviz.RunConfig(temperature=1.0), []
    shapes = trees(7)
    for cost in tables():
        best = best_candidate((0.75, 0.1, 0.04, 0.02), cost, config).predicted.speedup
        behind.append(max(predict(shape, (0.75, 0.1, 0.04, 0.02), cost).speedup for shape in shapes) / best - 1)
    assert max(behind) < 0.06 and sum(gap > 1e-9 for gap in behind) < len(behind) / 2


def trees(most):
    """Every ordered tree of two to `most` nodes, breadth first."""

    def shapes(nodes):
        return [()] if nodes == 1 else forests(nodes - 1)

    def forests(nodes):
        if nodes == 0:
            return [()]
        return [
            (first, *rest) for size in range(1, nodes + 1) for first in shapes(size) for rest in forests(nodes - size)
        ]

    found = []
    for shape in (one for nodes in range(2, most + 1) for one in shapes(nodes)):
        parents, waiting = [-1], [(0, shape)]
        for node, below in waiting:
            for child in below:
                waiting.append((len(parents), child))
                parents.append(node)
        found.append(Topology(tuple(parents)))
    return found


def tables():
    """Twelve machines: targets, draft passes and rows that cost more or less with their number."""
    sizes, widths = (1, 4, 64), (1, 32)
    for target in ((1, 1.03, 1.63), (1, 1.36, 8.56), (1, 1, 13)):
        for each in (0.0, 0.08):
            for row in (0.0, 0.05):
                draft = (0.1, 0.1 + 31 * each)
                yield CostTable("synthetic", True, "", 1.0, sizes, target, (0.02, 0.024, 0.084), widths, draft, row)


# ---- several texts at once ----


def test_the_best_tree_for_each_number_of_texts_is_predicted_and_timed(loaded, table, capsys):
    found = asked_of(capsys, "--cost", table, "--texts", "3,1")
    assert [row["texts"] for row in found["texts"]] == [1, 3]
    for row in found["texts"]:
        assert row["speedup"] > 0 and row["same"] == row["texts"] and row["shared"] > 0
    assert set(found["stops_paying"]) == {"predicted", "measured"}
    assert main(["optimize", "--verifier", "sequoia", "--cost", table, "--texts", "2"]) == 0
    assert "2 of 2" in capsys.readouterr().out


def test_another_machine_is_only_predicted(loaded, capsys):
    found = asked_of(capsys, "--machine", "flat:64", "--texts", "1 256")
    assert not loaded and [set(row) for row in found["texts"]] == 2 * [{"texts", "tree", "predicted"}]
    assert 1 < found["stops_paying"]["predicted"] < 256 and found["stops_paying"]["measured"] is None
    assert main(["optimize", "--machine", "flat:64", "--texts", "0"]) == 2
    assert "--texts must be whole numbers from 1" in capsys.readouterr().err
