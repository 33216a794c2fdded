"""The data behind the tabs Acceptance and Speedup: calibration, files of vectors, timing, recorded results."""

import json
import math
from dataclasses import replace

import pytest

import specviz
from app.parts import recorded
from app.parts.card import Source, fill, harmless
from app.tabs import acceptance, speedup
from app.tabs.speedup.timing import cost_of, point, predicted, sizes_from, time_sizes
from specviz import codec
from specviz.acceptance import calibration as vectors
from specviz.acceptance.calibration import SOURCES, calibrate, gather, preset, windows
from specviz.acceptance.on_nodes import DraftUncertainty, draft_uncertainty, rejection_rates
from specviz.acceptance.on_text import Acceptance, acceptance_vector
from specviz.acceptance.text_units import limited, positions_of
from specviz.benchmarks.trials import Trial
from specviz.metrics import wilson
from specviz.planning.cost_table import machine
from tests.matrix import rest_of

PAIR = specviz.toy_pair(vocab=12)
CONFIG = specviz.RunConfig(temperature=0.8, seed=3)
TEXTS = [PAIR.encode("once upon a time there was")[:20], PAIR.encode("a tree of tokens")[:12]]


def last(steps):
    *_, end = steps
    return end


# ---- calibration ----


def test_a_calibration_in_pieces_is_the_whole_one():
    """Where a rule's rate is a closed form of both rows, how the positions are split cannot matter."""
    found = last(calibrate(PAIR, TEXTS, ["sequoia", "race"], CONFIG)).calibration
    whole = rejection_rates(PAIR, TEXTS, CONFIG)
    assert found.rates.positions == whole.positions == found.positions == sum(len(text) - 1 for text in TEXTS)
    for rule in ("specinfer", "spectr", "target-match", "typical"):
        assert found.rates.rates[rule] == pytest.approx(whole.rates[rule]), rule
        assert found.rates.low[rule] == pytest.approx(whole.low[rule])
    assert found.rates.floors["iid"] == pytest.approx(whole.floors["iid"])
    assert found.rates.rates["block"][1] is None
    uncertainty = draft_uncertainty(PAIR, TEXTS, CONFIG)
    assert found.uncertainty.entropy == uncertainty.entropy and found.uncertainty.acceptance == uncertainty.acceptance
    assert [vector.method for vector in found.vectors] == ["expected", "counted"]


def test_what_is_not_known_of_a_position_is_not_known_when_it_is_read_back():
    cold = draft_uncertainty(PAIR, TEXTS, replace(CONFIG, top_k=2))
    assert None in cold.accepted_length and math.inf in cold.cross_entropy
    assert codec.read(DraftUncertainty, codec.plain(cold, exact=True), "doubt") == cold


def test_vectors_join_like_their_positions():
    greedy = replace(CONFIG, temperature=0.0)
    found = last(calibrate(PAIR, TEXTS, ["exact-match"], greedy)).calibration.vectors[0]
    whole = acceptance_vector(PAIR, specviz.VERIFIERS["exact-match"](), TEXTS, greedy, 12)
    assert found.acceptance == pytest.approx(whole.acceptance)
    assert (found.low, found.high) == (pytest.approx(whole.low), pytest.approx(whole.high))


def test_progress_counts_positions_and_texts_and_keeps_what_it_has():
    news = list(calibrate(PAIR, TEXTS, ["sequoia"], CONFIG))
    of = sum(len(text) - 1 for text in TEXTS)
    first = len(TEXTS[0]) - 1
    assert [(n.stage, n.done, n.of, n.texts, n.of_texts) for n in news] == [
        ("Acceptance", first, of, 1, 2), ("Acceptance", of, of, 2, 2),
        ("Rejection rates", first, of, 1, 2), ("Rejection rates", of, of, 2, 2),
    ]  # fmt: skip
    assert news[0].calibration.positions == first and news[-1].calibration.positions == of
    with pytest.raises(ValueError, match="two tokens"):
        next(calibrate(PAIR, [], ["sequoia"], CONFIG))


@pytest.mark.parametrize(
    ("name",), rest_of(specviz.DRAFTERS, fits=lambda name: name != "several", few=("model", "medusa", "retrieval"))
)
def test_every_drafter_with_one_row_a_node_is_calibrated(name):
    config = replace(CONFIG, drafter=specviz.DRAFTERS[name]())
    *_, news = calibrate(PAIR, TEXTS, ["sequoia", "race"], config)
    assert news.calibration.positions == sum(map(positions_of, TEXTS)) and news.done == news.of
    assert {vector.drafter for vector in news.calibration.vectors} == {name}
    assert (news.calibration.rates is None) == (name == "retrieval")  # it draws no child that it has not seen
    sentence = acceptance.how_measured(news.calibration.vectors)
    assert ("Drafted by" in sentence) == (name != "model")
    assert ("by level" in sentence) == config.drafter.by_level
    for vector in news.calibration.vectors:
        cards, best = speedup.forecast_cards(vector, machine("a100"), speedup.source_of(machine("a100")))
        assert best["drafter"] == name and best["size"] >= 2 and cards


def test_the_speedup_of_a_drafter_is_told_from_its_own_vectors_and_costs():
    heads = vector(drafter="medusa", levels=((0.5, 0.2, 0.1), (0.2, 0.1, 0.0), (0.0, 0.0, 0.0)))
    known = (heads, vector())
    assert speedup.by_drafter(known, "medusa")[0] == "Sequoia with Medusa heads, T 0.8"
    assert speedup.picked("Sequoia with Medusa heads, T 0.8", known) == heads
    assert speedup.by_drafter(known, "model")[0] == "Sequoia, T 0.8" and speedup.by_drafter(known, "staged") == []
    here = replace(recorded.read().cost, machine="this machine", settings={"drafter": "model"})
    _, best = speedup.forecast_cards(heads, here, speedup.source_of(here))
    assert "Costs are those of the draft model" in speedup.best_sentence(best, here)
    own = replace(here, settings={"drafter": "medusa"})
    assert "Costs are" not in speedup.best_sentence(best, own) + speedup.best_sentence(best, machine("a100"))
    (*_, news) = time_sizes(PAIR, heads, own, (2, 4), rounds=1, tokens=8)
    assert news.done == news.of


def test_windows_hold_as_many_positions_as_are_wanted():
    assert [len(piece) for piece in windows(range(300), 1000, 4096)] == [128, 128, 44]
    assert sum(len(piece) - 1 for piece in windows(range(3000), 500, 4096)) == 500
    assert [len(piece) for piece in windows(range(129), 500, 4096)] == [128], "one token alone has no position"
    assert windows([7], 50, 4096) == [] and list(limited([[1, 2, 3], [4, 5]], 2)) == [[1, 2, 3]]


@pytest.mark.parametrize("kind", SOURCES.values())
def test_every_text_gives_the_positions_it_is_asked_for(kind):
    yours = "the quick brown fox jumps over the lazy dog. " * 20
    _, _, texts = last(gather(PAIR, kind, yours, 60, CONFIG))
    assert sum(map(positions_of, texts)) == 60


def test_texts_that_cannot_be_measured_get_a_sentence():
    for kind, yours, words in (("yours", " ", "empty"), ("yours", "x" * 20_001, "20,001"), ("nonsense", "", "one of")):
        with pytest.raises(ValueError, match=words):
            next(gather(PAIR, kind, yours, 60, CONFIG))
    assert len(preset("prose")) > 2000 and "class Calendar" in preset("code")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": []}, "at least one"), ({"rules": None}, "at least one"), ({"rules": ["exact-match"]}, "temperature"),
        ({"temperature": "hot"}, "Temperature must"), ({"temperature": math.nan}, "Temperature must"),
        ({"top_p": 0}, "Top-p must"), ({"positions": 10**9}, "Positions must"), ({"positions": True}, "Positions must"),
        ({"drafter": "oracle"}, "Drafter must"), ({"drafter": None}, "Drafter must"),
        ({"drafter": "several"}, "no single draft distribution"),
    ],
)  # fmt: skip
def test_bad_settings_get_a_sentence(change, words):
    good = {"rules": ["sequoia"], "temperature": 0.8, "top_p": 1, "positions": 100, "drafter": "medusa"}
    assert acceptance.settings(**good)[0] == ["sequoia"]
    with pytest.raises(ValueError, match=words):
        acceptance.settings(**(good | change))


# ---- files of vectors ----


def vector(**change):
    shares = (0.5, 0.25, 0.0)
    low, high = zip(*(wilson(share, 40, 2.0) for share in shares), strict=True)
    return replace(Acceptance(shares, low, high, 40, "expected", "sequoia", "distinct", 0.8, None), **change)


def test_saved_vectors_come_back_and_the_command_line_reads_them(tmp_path):
    from specviz.acceptance.vectors import read_acceptance

    one, two = vector(), vector(verifier="race", scheme="race", method="counted", draft_temperature=0.6)
    assert vectors.from_text(vectors.to_text([one])) == (one,)
    assert vectors.from_text(vectors.to_text([one, two]).encode()) == (one, two)
    (tmp_path / "v.json").write_text(vectors.to_text([one]))
    assert read_acceptance(tmp_path / "v.json") == one.acceptance


NEEDED = [
    "acceptance",
    "low",
    "high",
    "positions",
    "method",
    "verifier",
    "scheme",
    "temperature",
    "draft_temperature",
]  # of any file


def damaged():
    good = json.loads(vectors.to_text([vector()]))
    yield "not json", "{", "not JSON"
    yield "binary", b"\xff\xfe\x00", "not JSON"
    yield "deep", "[" * 100_000, "not JSON"
    yield "a list", "[1, 2]", "acceptance vector"
    yield "none", '{"vectors": []}', "acceptance vector"
    yield "no object", '{"vectors": [3]}', "must be an object"
    for name in NEEDED:
        yield f"without {name}", json.dumps({key: value for key, value in good.items() if key != name}), f"no '{name}'"
    for name, value, words in (
        ("acceptance", [0.5, 2, 0], "number from 0 to 1"), ("acceptance", [0.5, math.nan, 0], "not JSON"),
        ("acceptance", [], "one length"), ("acceptance", [0.5], "one length"),
        ("acceptance", [[0.5], [0.2]], "number from 0 to 1"), ("acceptance", [0.6, 0.6, 0], "sum to at most 1"),
        ("low", [0.9, 0.9, 0.9], "between low and high"),
        ("positions", 0, "whole number"), ("positions", 4.5, "whole number"),
        ("method", "guessed", "one of expected, counted"), ("verifier", "<b>", "one of"),
        ("verifier", ["race"], "one of"),
        ("scheme", "none", "one of"), ("temperature", -1, "number from 0"), ("temperature", math.inf, "not JSON"),
        ("temperature", "1", "number from 0"), ("draft_temperature", [], "number from 0"),
    ):  # fmt: skip
        yield f"{name} {value}", json.dumps(good | {name: value}), words


@pytest.mark.parametrize(("text", "words"), [pytest.param(*rest, id=name) for name, *rest in damaged()])
def test_a_damaged_file_gets_a_sentence(text, words):
    with pytest.raises(ValueError, match=words) as error:
        vectors.from_text(text)
    assert len(str(error.value)) < 300


# ---- speed ----


def test_timed_sizes_are_those_asked_for_and_their_predictions_the_forecasts():
    cost = machine("flat:64")
    news = list(time_sizes(PAIR, vector(), cost, (2, 4, 8), rounds=2, tokens=12))
    assert [n.done for n in news] == list(range(1, 9)) and {n.of for n in news} == {8}
    assert [point.size for point in news[-1].known] == [2, 4, 8]
    for found, cells in zip(news[-1].known, predicted(vector(), cost).cells, strict=False):
        if found.size == 2:
            assert found.predicted == pytest.approx(max(cell.speedup for cell in cells if cell))
        assert 0 < found.low <= found.high and found.measured > 0  # a ratio of sums may lie beyond both
    assert news[0].known == ()


def test_a_point_is_a_trial_beside_its_prediction():
    cell = predicted(vector(), machine("a100")).best
    trial = Trial("a tree", 2.0, 1.0, 3.0, 0.1, 2.5, 0.01, {}, 40)
    assert point(cell, trial) == ("a tree", cell.size, cell.speedup, 2.0, 1.0, 3.0)


@pytest.mark.parametrize("text", ["", None, "two", "1, 2", "2 9999", "-4", "4.5", "²", "2," * 40, "9" * 5000])
def test_bad_sizes_get_a_sentence(text):
    with pytest.raises(ValueError, match="Sizes to time must"):
        sizes_from(text)
    assert sizes_from("8, 2 4,4") == (2, 4, 8)


def test_machines_are_projections_and_this_one_is_not():
    here = recorded.read().cost
    assert cost_of("here", here, 1, 0) is here and not here.projection
    assert all(cost_of(kind, here, 64, 0.05).projection for kind in ("a100", "l40-offload", "flat"))
    for bad in (("cray", 1, 0), ("flat", 0, 0), ("flat", "x", 0), ("flat", 4, math.nan), ("flat", 4, None)):
        with pytest.raises(ValueError, match="must be"):
            cost_of(bad[0], here, *bad[1:])


def test_measured_and_projected_never_share_a_card():
    here = replace(recorded.read().cost, machine="a machine")
    for cost, kind in ((here, "recorded"), (machine("a100"), "projection")):
        cards, best = speedup.forecast_cards(vector(), cost, speedup.source_of(cost))
        for name in ("speedup", "cost", "marginal"):
            words, figure = cards[name]
            assert json.loads(words)["source"]["kind"] == kind
            assert any(note.text == "projection" for note in figure.layout.annotations) == (kind == "projection")
        assert best["size"] >= 2 and 1 <= best["depth"] < best["size"]
        assert ("Projection" in speedup.best_sentence(best, cost)) == (kind == "projection")


def test_vectors_that_cannot_decide_about_a_tree_are_not_offered():
    hot = vector(verifier="exact-match")
    assert not any(name.startswith("Exact match, T 0.8") for name in speedup.choices((vector(), hot)))
    assert speedup.picked("Sequoia, T 0.8", (vector(),)) == vector()
    with pytest.raises(ValueError, match="Choose"):
        speedup.picked("nothing", (vector(),))


# ---- cards ----


def test_the_recorded_results_fill_every_card():
    past = recorded.read()
    cards = acceptance.cards_for(past.calibration, Source("recorded", past.label))
    assert set(cards) == {"acceptance", "rejection", "probability", "doubt", "length", "bounds", "ratio"}
    for name, (words, figure) in cards.items():
        said = json.loads(words)
        assert said["title"] and said["read"] and said["made"] and "<" not in words
        assert figure.data, name
        files = {file["label"]: file["text"] for file in said["files"]}
        assert json.loads(files["JSON"]) and files["CSV"].startswith("series,x,y,z\n") and files["CSV"].count("\n") > 5
    saved = next(f for f in json.loads(cards["acceptance"][0])["files"] if f["label"] == "Save vectors")
    assert vectors.from_text(saved["text"]) == past.calibration.vectors
    assert past.calibration.rates.positions == past.calibration.positions == len(past.calibration.uncertainty.entropy)


def test_which_figures_are_exact_and_which_counted_is_said():
    text = acceptance.how_measured((vector(), vector(verifier="race", method="counted")))
    assert (
        text == "Exact expectation over the acceptance draws, children sampled: Sequoia; counted: Race. 40 positions."
    )


def test_no_text_of_a_card_can_be_markup():
    assert "<" not in harmless({"text": "</script><img onerror=x>"})
    from specviz.plots import PLOTS

    words, _ = fill("predicted", PLOTS["predicted"].info(()), Source("measured", "<i>"))
    assert "<" not in words and json.loads(words)["source"]["label"] == "<i>"


def test_vectors_of_a_single_text_have_no_interval_and_come_back():
    one = Acceptance((0.5, 0.2), (None, None), (None, None), 40, "expected", "sequoia", "distinct", 0.8, None)
    assert vectors.from_text(vectors.to_text([one])) == (one,)


def test_a_file_of_vectors_says_who_drafted_and_an_older_one_means_the_model():
    found = acceptance_vector(
        PAIR, specviz.VERIFIERS["sequoia"](), TEXTS, replace(CONFIG, drafter=specviz.DRAFTERS["medusa"]()), 5
    )
    text = vectors.to_text([found])
    assert vectors.from_text(text) == (found,)
    row = json.loads(text)
    old = json.dumps({name: row[name] for name in NEEDED})
    assert vectors.from_text(old)[0].plan == found.acceptance
    for change in ({"drafter": "oracle"}, {"drafter": 3}, {"levels": [0.5]}, {"levels": 3}, {"levels": [[0.9, 0.9]]}):
        with pytest.raises(ValueError, match=next(iter(change))):
            vectors.from_text(json.dumps(row | change))
