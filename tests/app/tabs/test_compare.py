"""The tab Compare without a browser: differences of texts, titles, settings, and runs as
messages."""

import json
from dataclasses import replace
from itertools import combinations

import gradio as gr
import pytest

import specviz
from app.service.queued_run import Turn
from app.tabs import compare
from app.tabs.compare import example, messages, settings, texts
from app.tabs.compare.entry import Entry, titles
from app.tabs.compare.rates import headline, runs_of, times
from specviz.measure.timing import ROUNDS
from specviz.record.metrics import Counts
from specviz.record.trace import PairedSpeedup

B, V, D = specviz.BUILDERS, specviz.VERIFIERS, specviz.DRAFTERS
PAIR = specviz.toy_pair(vocab=12)
TREE = specviz.RunConfig("abc", B["sequoia"](), V["sequoia"](), max_new_tokens=30, seed=3)
CHAIN = replace(TREE, builder=B["chain"](), verifier=V["speculative-sampling"]())
ENTRIES = [Entry("A", TREE.autoregressive()), Entry("B", CHAIN), Entry("C", TREE)]
RACE = replace(TREE, verifier=V["race"]())


def sent(entries, pair=PAIR, **turn):
    return [
        json.loads(text)
        for text in messages.compare_runs(Turn(pair, **turn), entries, "")
        if text is not None
    ]


def updates_of(sent, at, key):
    return [
        item[key]
        for one in sent
        for item in one.get("updates", ())
        if item["at"] == at and key in item
    ]


def steps_of(sent, at):
    return [step for steps in updates_of(sent, at, "steps") for step in steps]


def last(sent, key):
    return [one[key] for one in sent if key in one][-1]


def tokens_of(pair, config):
    return list(specviz.run(pair, config).tokens)


# ---- texts ----


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        ([], [], None),
        ([1], [], 0),
        ([1, 2], [1, 2], None),
        ([1, 2, 3], [1, 9, 3], 1),
        ([4], [5, 6], 0),
    ],
)
def test_the_first_difference(one, other, at):
    assert texts.first_difference(one, other) == texts.first_difference(other, one) == at


def written(configs, tokens):
    """Runs that wrote these tokens."""
    runs = runs_of([Entry(letter, config) for letter, config in zip("ABC", configs, strict=False)])
    for run, own in zip(runs, tokens, strict=True):
        run.written = own
    return runs


def test_what_is_said_of_two_texts():
    greedy, lossy = replace(TREE, temperature=0), replace(TREE, verifier=V["typical"]())
    fly = replace(CHAIN, verifier=V["fly"](), temperature=0)
    for config, wrote, position, why in [
        (RACE, [1, 2, 3], None, "Expected: seed 3 alone"),
        (RACE, [1, 2, 4], 2, "should be identical: seed 3 alone"),
        (greedy, [1, 2], 2, "should be identical: at temperature 0"),
        (TREE, [1, 3, 3], 1, "its own random draws"),
        (TREE, [1, 2, 3, 4], 3, "its own random draws"),
        (TREE, [1, 2, 3], None, ""),
        (lossy, [2], 0, f"B is lossy: {V['typical'].bias}"),
        (fly, [1, 2, 4], 2, f"B is lossy: {V['fly'].bias}"),
    ]:
        plain = config.autoregressive()
        (found,) = texts.remarks(written([plain, config], [[1, 2, 3], wrote]))
        assert found["position"] == position
        assert found["letters"] == ["A", "B"] and found["text"].startswith("A and B: ")
        assert why in found["why"] and bool(why) == bool(found["why"])


def test_every_two_texts_are_compared():
    """The first may be a run like the others, and the others may differ from it."""
    plain = RACE.autoregressive()
    chain = replace(RACE, builder=B["chain"]())
    first, second = texts.remarks(written([TREE, RACE, plain], [[1, 2], [1, 3], [1, 3]]))
    assert first["letters"] == ["A", "B", "C"] and first["position"] == 1
    assert "its own random draws" in first["why"]
    assert second["text"] == "B and C: identical text, all 2 tokens, as expected."
    found = texts.remarks(written([plain, RACE, chain], [[1, 2], [1, 3], [4, 3]]))
    assert [(one["letters"], one["position"]) for one in found] == [
        (["A", "B"], 1),
        (["A", "B", "C"], 0),
    ]
    (same,) = texts.remarks(written([TREE, TREE], [[1], [1]]))
    assert same["why"] == "Expected: each is the same configuration with the same seed."


@pytest.mark.parametrize(("margin", "rounding"), [(0.2, " (bfloat16 rounding)"), (0.3, "")])
def test_rounding_is_named_only_where_the_margin_allows_it(margin, rounding, monkeypatch):
    calls = []
    monkeypatch.setattr(texts, "margin_at", lambda *about: calls.append(about) or margin)
    runs = written([RACE.autoregressive(), RACE], [[1, 2, 3], [1, 2, 4]])
    (found,) = texts.remarks(runs, Turn(PAIR), "bfloat16")
    apart = f"there the two best candidates were {margin} apart{rounding}."
    assert found["text"] == f"A and B: the first different token is token 3; {apart}"
    assert calls == [(PAIR, RACE, [1, 2])]
    (ended,) = texts.remarks(written([RACE, RACE], [[1, 2], [1]]), Turn(PAIR), "bfloat16")
    assert ended["text"] == "A and B: the first different token is token 2.", "where one ended"


# ---- entries ----


def test_runs_are_called_by_what_differs():
    assert titles(ENTRIES) == ["Plain decoding", "Chain of 4", "Sequoia 16"]
    other = Entry("B", replace(TREE, verifier=V["specinfer"]()))
    assert titles([ENTRIES[2], other]) == [
        "Sequoia 16 · Sequoia",
        f"Sequoia 16 · {V['specinfer'].title}",
    ]
    several = Entry("B", replace(TREE, drafter=D["several"](drafters=("model", "medusa"))))
    assert titles([ENTRIES[2], several]) == [
        f"Sequoia 16 · {D[name].title}" for name in ("model", "several")
    ]
    widths = Entry("A", replace(TREE, builder=B["branching"](widths=(4, 2, 1))))
    assert titles([widths]) == [f"{B['branching'].title} 4,2,1"]
    assert Entry("A", replace(TREE, verifier=V["typical"]())).lossy == V["typical"].bias
    assert ENTRIES[0].lossy is None
    deep = replace(TREE, builder=B["sequoia"](size=8, depth=3))
    assert Entry("B", deep).details == "Sequoia’s rule, depth 3"


def test_a_run_that_reads_no_draft_is_called_by_none():
    lookup = Entry("B", replace(TREE, builder=B["prompt-lookup"](), verifier=V["race"]()))
    eagle = Entry("C", replace(CHAIN, drafter=D["eagle"]()))
    assert titles([ENTRIES[0], lookup, eagle]) == ["Plain decoding", lookup.tree, "Chain of 4"]
    assert titles([ENTRIES[0]] * 2) == ["Plain decoding"] * 2


def test_runs_that_differ_in_a_parameter_of_rule_or_drafter_look_different():
    rule = replace(TREE, verifier=V["typical"](epsilon=0.2))
    assert Entry("A", rule).details == f"{V['typical'].title}’s rule, epsilon 0.2"
    drafter = replace(TREE, drafter=D["several"](drafters=("model", "medusa")))
    assert Entry("A", drafter).details == "Sequoia’s rule, drafters model,medusa"


# ---- runs ----


def test_every_run_travels_whole_and_in_turn_and_is_timed():
    page_messages = sent(ENTRIES)
    assert page_messages[-1]["state"] == "done"
    assert [column["letter"] for column in page_messages[0]["columns"]] == ["A", "B", "C"]
    assert sum("columns" in one for one in page_messages) == 1
    order = [
        item["at"] for one in page_messages for item in one.get("updates", ()) if "steps" in item
    ]
    assert order == sorted(order), "one after the other"
    written = [tokens_of(PAIR, entry.config) for entry in ENTRIES]
    for at, entry in enumerate(ENTRIES):
        wanted = list(specviz.speculate(PAIR, entry.config))
        assert [step["pieces"] for step in steps_of(page_messages, at)] == [
            list(step.emitted_texts) for step in wanted
        ]
        assert updates_of(page_messages, at, "state")[-1] == "done"
        assert updates_of(page_messages, at, "clock")[-1][-1][1] == 30
    for one in last(page_messages, "remarks"):
        those = [written["ABC".index(letter)] for letter in one["letters"]]
        found = {texts.first_difference(*two) for two in combinations(those, 2)}
        assert one["position"] in found
    rows = {row["name"]: row["cells"] for row in last(page_messages, "table")}
    assert all(value.startswith("30 in ") for value, _ in rows["tokens written"])
    gains = rows["speedup vs. plain decoding"]
    assert [bool(note) for _, note in gains] == [
        False,
        True,
        True,
    ] and f"{ROUNDS} rounds, each" in gains[1][1]


def test_the_page_is_given_results_only_with_a_state_that_says_whether_they_are_final():
    page_messages = sent(ENTRIES)
    states = [one["state"] for one in page_messages]
    assert (
        list(dict.fromkeys(states)) == ["running", "timing", "done"] and states.count("done") == 1
    )
    assert {one["state"] for one in page_messages if "factors" in one} == {"done"}
    timed = [one["note"] for one in page_messages if one["state"] == "timing"]
    assert timed[0] == f"Timing Chain of 4 against plain decoding, {ROUNDS} rounds."
    assert not any("Plain decoding against" in note for note in timed)


def test_a_single_round_has_no_range():
    once = replace(timed(2.0, 9.0), rounds=1)
    spread = messages.measured(Counts(tokens=4, passes=2), once)
    assert ("speedup vs. plain decoding", "2.00×", "1 round") in spread


def test_the_headline_says_who_is_faster_and_how_far_the_rounds_agree():
    sure, unsure = timed(2.0, 9.0), timed(1.0, 9.0)
    assert (times(sure), times(unsure)) == ("2.0", "about 1.0")
    runs = known(ENTRIES, [Counts()] * 3, [None, unsure, sure])
    first = "Sequoia 16 is 2.0 times as fast as plain decoding"
    assert headline(runs) == f"{first}, Chain of 4 about 1.0 times."
    assert headline(known(ENTRIES, [Counts()] * 3, [None] * 3)) == "", "nothing was timed"


def test_the_headline_says_why_a_run_is_slower_than_plain_decoding():
    counts = [Counts(tokens=8, passes=2)] * 3
    slow = headline(known(ENTRIES, counts, [None, timed(0.8, 9.0), timed(0.5, 9.0)]))
    cost = "Here a step of Sequoia 16 costs 8.0 plain passes."
    assert slow.endswith(f"Here a step of Chain of 4 costs 5.0 plain passes. {cost}")
    fast = known(ENTRIES, counts, [None, timed(1.5, 9.0), timed(2, 9.0)])
    assert "Here" not in headline(fast)


def test_a_headline_comes_only_with_the_times_of_the_chart():
    """Texts are compared before anything is timed; a factor then would be of other times."""
    page_messages = sent(ENTRIES)
    assert any(one["state"] == "running" and "remarks" in one for one in page_messages)
    with_headline = [one for one in page_messages if "headline" in one]
    assert with_headline
    for one in with_headline:
        assert all("clock" in update for update in one["updates"]) and one["factors"]


def test_factor_race_and_table_are_of_the_same_rounds():
    """Whatever the rounds give: here they differ much from the runs that were decoded."""
    speedups = [None, *(timed(factor, plain) for factor, plain in ((2.0, 9.0), (2.5, 7.0)))]
    traces = [specviz.run(PAIR, entry.config) for entry in ENTRIES]
    traces = [replace(one, speedup=two) for one, two in zip(traces, speedups, strict=True)]
    data = json.loads(messages.of_traces(ENTRIES, traces))
    assert data["factors"] == ["1×", "2.0×", "2.5×"]
    ends = [update["clock"][-1][0] for update in data["updates"]]
    # Plain decoding is that of all rounds, 8 tokens per second on average.
    assert ends == pytest.approx([30 / 8, 30 / 16, 30 / 20], rel=1e-4)
    table = {row["name"]: [value for value, _ in row["cells"]] for row in data["table"]}
    assert table["tokens per second"] == ["8.0", "16.0", "20.0"]
    assert table["plain decoding, tokens per second"] == ["–", "8.0", "8.0"]
    steps = [float(value.split()[0]) for value in table["time per step after the first"]]
    passes = [float(value) for value in table["tokens per target pass"]]
    assert steps[0] == pytest.approx(125) and steps[1] == pytest.approx(62.5 * passes[1], rel=0.1)


def test_a_run_that_was_not_timed_says_why():
    page_messages = sent(ENTRIES, others_wait=lambda: True)
    assert last(page_messages, "factors") == ["1×", "not timed", "not timed"]
    untimed = "Not timed, as other work came first"
    assert last(page_messages, "headline") == f"{untimed}: Chain of 4, Sequoia 16."
    counts = [Counts(timed_tokens=9)] * 3
    one = headline(known(ENTRIES, counts, [None, timed(2.0, 9.0), None]))
    assert one == f"Chain of 4 is 2.0 times as fast as plain decoding. {untimed}: Sequoia 16."


def test_a_run_that_ended_with_its_first_step_has_no_factor():
    counts = [Counts.of(specviz.run(PAIR, entry.config).steps[:1]) for entry in ENTRIES]
    data = messages.results(known(ENTRIES, counts, [None] * 3))
    assert (data["factors"], data["headline"]) == (["1×", "", ""], "")


def known(entries, counts, speedups):
    """The runs of entries, with what is known of them."""
    runs = runs_of(entries)
    for run, own, speedup in zip(runs, counts, speedups, strict=True):
        run.counts, run.speedup = own, speedup
    return runs


def timed(factor, plain):
    """Three rounds of a run in which plain decoding had so many tokens per second."""
    rates = (factor * plain, plain)
    return PairedSpeedup(factor, factor - 0.1, factor + 0.2, 3, *rates, 1.0, factor)


def test_the_race_of_a_run_has_the_times_of_its_factor():
    page_messages = sent(ENTRIES)
    plain, *others = (updates_of(page_messages, at, "clock")[-1][-1][0] for at in range(3))
    gains = {row["name"]: row["cells"] for row in last(page_messages, "table")}
    for end, (gain, _) in zip(others, gains["speedup vs. plain decoding"][1:], strict=True):
        assert plain / end == pytest.approx(float(gain[:-1]), abs=0.006)


def test_the_end_of_a_text_is_the_end_of_its_run():
    pair = specviz.toy_pair(vocab=3, eos=(1,))
    page_messages = sent(ENTRIES, pair)
    for at, entry in enumerate(ENTRIES):
        written = tokens_of(pair, entry.config)
        assert updates_of(page_messages, at, "clock")[-1][-1][1] == len(written) < 30


def test_every_run_has_its_factor_and_a_colour_of_its_own():
    page_messages = sent(ENTRIES)
    factors = last(page_messages, "factors")
    assert factors[0] == "1×" and all(text.endswith("×") for text in factors)
    assert [column["kind"] for column in page_messages[0]["columns"]] == ["plain", "chain", "tree"]
    twice = sent([ENTRIES[0], Entry("B", TREE), Entry("C", replace(TREE, seed=4))])
    assert [column["kind"] for column in twice[0]["columns"]] == ["plain", "other", "tree"]


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_promised_texts_are_identical(temperature):
    config = replace(RACE if temperature else TREE, temperature=temperature)
    configs = (config.autoregressive(), config, replace(config, builder=B["dyspec"]()))
    page_messages = sent([Entry(letter, one) for letter, one in zip("ABC", configs, strict=True)])
    (found,) = last(page_messages, "remarks")  # one for all three
    assert found["text"].startswith("A, B and C: identical text")


class Breaking:
    """A toy pair that breaks where `broken` says so of a tree's nodes and the length of the
    context."""

    def __init__(self, broken, error):
        self.broken, self.error = broken, error

    def __getattr__(self, name):
        return getattr(PAIR, name)

    def open(self, tokens):
        target, draft = PAIR.open(tokens)
        forward = target.forward

        def fails(tree, nodes):
            if self.broken(len(tree), len(target.context)):
                raise self.error
            return forward(tree, nodes)

        target.forward = fails
        return target, draft


FAILURES = [
    (RuntimeError("secret"), "server's log"),
    (ValueError("The cache is full."), "cache is full"),
]


@pytest.mark.parametrize(("error", "sentence"), FAILURES)
@pytest.mark.parametrize("late", [0, 12])
def test_a_run_that_fails_ends_the_comparison_with_its_letter(error, sentence, late, caplog):
    """The chain alone has five nodes; it breaks at once, or after a while."""
    pair = Breaking(lambda nodes, length: nodes == 5 and length >= 3 + late, error)
    with pytest.raises(ValueError, match=f"^B: .*{sentence}") as raised:
        sent(ENTRIES, pair)
    assert "secret" not in str(raised.value)


def test_what_cannot_begin_is_rejected():
    with pytest.raises(ValueError, match="context of 4096"):
        sent([Entry("A", replace(TREE, prompt="a" * 5000))])


def test_the_recorded_race_needs_no_model_and_its_texts_are_identical():
    data = json.loads(compare.recorded({"anything": 1}))
    assert [column["title"] for column in data["columns"]] == [
        "Plain decoding",
        "Chain of 5",
        "Sequoia 32",
    ]
    assert (
        data["state"] == "done" and data["badge"] == "recorded" and " cores" in str(data["table"])
    )
    assert (
        len(
            {
                "".join(piece for step in item["steps"] for piece in step["pieces"])
                for item in data["updates"]
            }
        )
        == 1
    )
    assert [one["position"] for one in data["remarks"]] == [None]
    assert len(compare.recorded(0)) < 300_000


# ---- settings and links ----


@pytest.fixture(scope="module")
def chosen():
    with gr.Blocks():
        return settings.lay_out(gr.Textbox("a b c", label="Prompt"))


def values(chosen, **changes):
    """What the controls hold, some of it changed by the name in a link, with "_" for "."."""
    changes = {
        name.replace("_", ".", 1) if name[1] == "_" else name: value
        for name, value in changes.items()
    }
    return [changes.get(name, control.value) for name, control in chosen.named.items()]


def test_the_controls_open_with_what_the_recorded_race_shows(chosen):
    entries = chosen.read(values(chosen))
    assert [entry.config.builder for entry in entries] == [
        config.builder for config in example.CONFIGS.values()
    ]
    assert (
        all(entry.config.prompt == "a b c" for entry in entries) and chosen.judge(values(chosen))[0]
    )
    assert len(chosen.judge(values(chosen))[1]) == len(chosen.outputs)


def test_columns_have_strategies_of_their_own_and_share_the_rest(chosen):
    first, second, third = chosen.read(values(chosen, seed=7, b_builder="sequoia:size=8"))
    assert (first.autoregressive, second.config.builder.size, third.config.seed) == (True, 8, 7)
    for name, value in (("b_builder", "nonsense"), ("c_verifier", None), ("a_builder", "off")):
        wrong = values(chosen, **{name: value})
        assert not chosen.judge(wrong)[0]
        with pytest.raises(ValueError, match=f"^{name[0].upper()}: "):
            chosen.read(wrong)


def test_plain_decoding_may_be_taken_out_and_stand_elsewhere(chosen):
    inputs = values(chosen, a_builder="k-ary:width=3", b_builder="plain", b_verifier="specinfer")
    possible, updates = chosen.judge(inputs)
    assert possible and not any("plain" in str(one).lower() for one in updates)
    first, second, _ = chosen.read(inputs)
    assert (first.config.builder.width, second.autoregressive) == (3, True)
    assert second.config.verifier.name == "plain", "the rule follows"


def test_a_comparison_without_plain_decoding_has_factors_all_the_same():
    """Each run is timed in turns with plain decoding, whether a column shows that or not."""
    page_messages = sent([Entry("A", TREE), Entry("B", CHAIN)])
    assert all(factor.endswith("×") for factor in last(page_messages, "factors"))
    assert "times as fast as plain decoding" in last(page_messages, "headline")


def test_what_cannot_run_is_said_of_its_column(chosen):
    impossible = values(chosen, b_builder="k-ary", b_verifier="speculative-sampling")
    assert not chosen.judge(impossible)[0]
    with pytest.raises(ValueError, match=r"^B: Speculative sampling is defined for chains"):
        chosen.read(impossible)
    updates = dict(zip(map(id, chosen.outputs), chosen.judge(impossible)[1], strict=True))
    kinds = [json.loads(updates[id(column.notice)])["kind"] for column in chosen.columns]
    assert kinds == ["", "impossible", ""]
    lossy = values(chosen, b_verifier="typical", temperature=0.8)
    assert chosen.judge(lossy)[0] and chosen.read(lossy)[1].lossy == V["typical"].bias
    for name, value in (("prompt", "  "), ("seed", -1)):
        with pytest.raises(ValueError, match=f"^{name.capitalize()} must"):
            chosen.read(values(chosen, **{name: value}))
