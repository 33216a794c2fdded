"""The tab Compare without a browser: figures, differences of texts, settings, and runs as messages."""

import json
import re
from dataclasses import replace

import gradio as gr
import pytest
from app.tabs.compare.compared_run import ComparedRun

import specviz
from app.machine.engine import Engine
from app.parts import links
from app.tabs.compare import runs, settings, texts
from specviz.benchmarks.timing import ROUNDS

B, V = specviz.BUILDERS, specviz.VERIFIERS
PAIR = specviz.toy_pair(vocab=12)
TREE = specviz.RunConfig("abc", B["sequoia"](), V["sequoia"](), max_new_tokens=30, seed=3)
CHAIN = replace(TREE, builder=B["chain"](), verifier=V["speculative-sampling"]())
ENTRIES = [ComparedRun("A", TREE), ComparedRun("B", CHAIN), ComparedRun("C", TREE, plain=True)]


def engine(pair=PAIR):
    return Engine(lambda: pair)


def sent(entries, pair=PAIR):
    return [json.loads(text) for text in runs.play(engine(pair), entries)]


def steps_of(messages, at):
    return [step for news in messages for item in news.get("news", ()) if item["at"] == at
            for step in item.get("steps", ())]  # fmt: skip


def last(messages, at, key):
    return [item[key] for news in messages for item in news.get("news", ()) if item["at"] == at and key in item][-1]


# ---- texts ----


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [([], [], None), ([1], [], None), ([1, 2], [1, 2], None), ([1, 2, 3], [1, 9, 3], 1), ([4], [5, 6], 0)],
)
def test_the_first_difference(one, other, at):
    assert texts.first_difference(one, other) == texts.first_difference(other, one) == at


def test_identical_text_is_said_where_it_must_be():
    race = ComparedRun("A", replace(TREE, verifier=V["race"]()))
    plain = ComparedRun("B", TREE, plain=True)
    found = texts.comparison(race, [1, 2, 3], plain, [1, 2, 3])
    assert (found["kind"], found["position"]) == ("equal", None)
    assert found["text"] == "A and B: identical text, all 3 tokens, as expected."
    assert "seed 3 alone determines" in found["why"]
    greedy = [ComparedRun("A", replace(TREE, temperature=0)), ComparedRun("B", replace(CHAIN, temperature=0))]
    assert "temperature 0" in texts.promised(*greedy)
    assert "same configuration" in texts.promised(ComparedRun("A", TREE), ComparedRun("B", TREE))
    assert texts.promised(*ENTRIES[:2]) is None and texts.promised(ENTRIES[0], ENTRIES[2]) is None


def test_a_broken_promise_is_told_with_its_margin():
    race, plain = ComparedRun("A", replace(TREE, verifier=V["race"]())), ComparedRun("B", TREE, plain=True)
    asked = []
    found = texts.comparison(race, [1, 2, 3], plain, [1, 2, 4], lambda at: asked.append(at) or 0.0042, "bfloat16")
    assert asked == [2] and (found["kind"], found["position"]) == ("differs", 2)
    assert "equal up to token 2" in found["text"] and "0.0042 apart (bfloat16 rounding)" in found["text"]
    assert "should be identical" in found["why"]
    assert texts.comparison(race, [1], plain, [2])["text"] == "A and B: equal up to token 0."


def test_where_different_texts_are_expected_it_is_said_why():
    found = texts.comparison(ENTRIES[0], [1, 2], ENTRIES[1], [1, 3])
    assert (found["kind"], found["position"]) == ("expected", 1)
    assert found["text"] == "A and B: the first different token is token 2."
    assert "its own random draws" in found["why"] and "lossless" in found["why"]
    lossy = ComparedRun("B", replace(TREE, verifier=V["typical"]()))
    assert f"B is lossy: {V['typical'].bias}" in texts.comparison(ENTRIES[0], [1], lossy, [2])["why"]
    chance = texts.comparison(ENTRIES[0], [1], ENTRIES[1], [1])
    assert chance["kind"] == "equal" and "by chance" in chance["text"]


def test_unfinished_texts_are_compared_as_far_as_both_go():
    found = texts.comparison(ENTRIES[0], [1, 2, 3], ENTRIES[1], [1, 2], whole=False)
    assert found["kind"] == "so far" and "identical for the first 2 tokens, so far" in found["text"]
    assert texts.comparison(ENTRIES[0], [1, 2, 3], ENTRIES[1], [1, 9], whole=False)["kind"] == "expected"


def test_a_finished_text_that_ended_too_early_is_not_called_identical():
    greedy = [replace(entry, config=replace(entry.config, temperature=0.0)) for entry in ENTRIES]
    found = texts.comparison(greedy[0], [1, 2, 3], greedy[1], [1, 2])
    assert found["kind"] == "differs" and found["text"] == "A and B: identical for 2 tokens, where B ends."
    assert texts.comparison(ENTRIES[0], [1], ENTRIES[1], [1, 2])["kind"] == "expected"


# ---- entries ----


def test_an_entry_says_what_it_is():
    tree, chain, plain = (entry.about() for entry in ENTRIES)
    assert (tree["title"], tree["details"]) == (
        "Tree: Sequoia · Rule: Sequoia",
        "tree size (nodes) 16, max depth 6, max branching 32",
    )
    assert (chain["title"], chain["details"], chain["lossy"]) == (
        "Tree: Chain · Rule: Speculative sampling",
        "length 4",
        None,
    )
    assert plain["plain"] and plain["title"] == "Plain decoding" and plain["lossy"] is None
    widths = ComparedRun(
        "A", replace(TREE, builder=B["branching"](widths=(4, 2, 1)), verifier=V["target-match"](keyed=True))
    )
    assert widths.details == "children per level 4-2-1, keyed noise on" and widths.same_as_plain
    assert ComparedRun("A", replace(TREE, verifier=V["typical"]())).lossy == V["typical"].bias
    json.dumps([tree, chain, plain])


def test_an_entry_says_who_drafts_it_where_that_is_not_the_draft_model():
    several = ComparedRun("B", replace(TREE, drafter=specviz.DRAFTERS["several"](drafters=("model", "medusa"))))
    assert several.about()["title"] == "Drafter: Several drafters · Tree: Sequoia · Rule: Sequoia"
    assert "drafters model + medusa" in several.details
    assert several.about(alike=True)["title"] == "Drafter: Several drafters"
    assert [column["title"] for column in runs.head([ENTRIES[0], several], "", "")["columns"]] == [
        "Drafter: Draft model",
        "Drafter: Several drafters",
    ]
    assert ComparedRun("A", several.config, plain=True).about(alike=True)["title"] == "Plain decoding"


# ---- runs ----


def test_every_run_travels_whole_and_in_turn():
    messages = sent(ENTRIES)
    assert messages[0]["state"] == "loading" and messages[-1]["state"] == "done"
    assert [column["letter"] for column in messages[1]["columns"]] == ["A", "B", "C"]
    assert sum("columns" in news for news in messages) == 1
    order = [item["at"] for news in messages for item in news.get("news", ()) if "paired" not in item]
    assert order == sorted(order), "one after the other"
    for at, entry in enumerate(ENTRIES):
        wanted = list(entry.steps(PAIR))
        steps = steps_of(messages, at)
        assert [step["index"] for step in steps] == list(range(len(wanted))), "what warms up is not sent"
        assert [step["pieces"] for step in steps] == [list(step.pieces) for step in wanted]
        assert last(messages, at, "state") == "done"
        assert last(messages, at, "figures")["tokens"] == 30
    found = {(pair["a"], pair["b"]): pair for pair in [*last(messages, 1, "pairs"), *last(messages, 2, "pairs")]}
    for (a, b), pair in found.items():
        one, other = ([t for step in entry.steps(PAIR) for t in step.emitted]
                      for entry in ENTRIES if entry.letter in (a, b))  # fmt: skip
        assert pair["position"] == texts.first_difference(one, other)
    assert set(found) == {("A", "B"), ("A", "C"), ("B", "C")}


def test_after_the_runs_each_is_timed_against_plain_decoding_in_turns():
    messages = sent(ENTRIES)
    timed = [item for news in messages for item in news.get("news", ()) if "paired" in item]
    assert [item["at"] for item in timed] == [0] * ROUNDS + [1] * ROUNDS
    assert [item["paired"]["rounds"] for item in timed[:ROUNDS]] == list(range(1, ROUNDS + 1))
    for paired in (item["paired"] for item in timed):
        assert 0 < paired["low"] <= paired["speedup"] <= paired["high"]
    first = next(news for news in messages if any("paired" in item for item in news.get("news", ())))
    assert first["state"] == "done" and "Timing A against plain decoding" in first["note"], "the replay waits for none"
    assert "note" not in messages[-1]


def test_the_end_of_a_text_stops_no_run():
    pair = specviz.toy_pair(vocab=3, eos=(1,))
    assert len(specviz.run(pair, TREE).tokens) < 30, "alone it would end"
    messages = sent(ENTRIES, pair)
    for at in range(3):
        assert last(messages, at, "figures")["tokens"] == 30


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_promised_texts_are_identical(temperature):
    rule = V["race"]() if temperature else V["sequoia"]()
    config = replace(TREE, verifier=rule, temperature=temperature)
    entries = [
        ComparedRun("A", config),
        ComparedRun("B", replace(config, builder=B["dyspec"]())),
        ComparedRun("C", config, plain=True),
    ]
    messages = sent(entries)
    for pair in [*last(messages, 1, "pairs"), *last(messages, 2, "pairs")]:
        assert pair["kind"] == "equal" and pair["text"].endswith("identical text, all 30 tokens, as expected.")


def test_the_margin_of_a_broken_promise_is_asked_of_the_models():
    race, plain = ComparedRun("A", replace(TREE, verifier=V["race"]())), ComparedRun("B", TREE, plain=True)
    tokens = [token for step in plain.steps(PAIR) for token in step.emitted]
    wrong = [*tokens[:7], (tokens[7] + 1) % 12, *tokens[8:]]
    (found,) = runs.pairs([race, plain], [wrong, tokens], 1, PAIR)
    assert found["kind"] == "differs" and "equal up to token 7; there the two best candidates were" in found["text"]
    assert runs.Margin(PAIR, plain, tokens)(7) > 0


class Breaking:
    """A toy pair that breaks where the tree has as many nodes as given."""

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


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(RuntimeError("secret"), "server's log"), (ValueError("The cache is full."), "cache is full")],
)
@pytest.mark.parametrize("late", [0, 12])
def test_a_run_that_fails_harms_no_other(error, sentence, late, caplog):
    """The chain alone has five nodes; it breaks at once, or after a while."""
    pair = Breaking(lambda nodes, length: nodes == 5 and length >= 3 + late, error)
    messages = sent([ENTRIES[1], ENTRIES[0], ENTRIES[2]], pair)
    assert last(messages, 0, "state") == "error" and sentence in last(messages, 0, "note")
    assert "secret" not in json.dumps(messages)
    assert [last(messages, at, "state") for at in (1, 2)] == ["done", "done"]
    assert bool(steps_of(messages, 0)) == bool(late)
    assert sum(len(step["pieces"]) for step in steps_of(messages, 1)) == 30
    assert messages[-1]["state"] == "done"
    if not late:
        assert not last(messages, 1, "pairs"), "there is no text to compare with"


def test_what_cannot_even_begin_is_rejected_and_frees_the_machine():
    busy = engine()
    with pytest.raises(ValueError, match="context of 4096"):
        list(runs.play(busy, [replace(entry, config=replace(entry.config, prompt="a" * 5000)) for entry in ENTRIES]))
    assert not busy._running.locked()


def test_a_comparison_that_is_left_frees_the_machine():
    busy = engine()
    run = runs.play(busy, ENTRIES)
    next(text for text in run if "columns" in json.loads(text))
    assert busy._running.locked()
    run.close()
    assert not busy._running.locked()


def test_the_recorded_comparison_needs_no_model_and_its_texts_are_identical():
    data = json.loads(runs.recorded())
    assert data["badge"] == "recorded runs" and data["state"] == "done"
    assert [column["title"] for column in data["columns"]] == [
        f"Drafter: {title}" for title in ("Draft model", "Medusa heads", "EAGLE")
    ]
    assert re.fullmatch(r"recorded on \d+ [A-Z][a-z]+ 20\d\d on a machine of \d+ cores", data["when"])
    written = ["".join(piece for step in item["steps"] for piece in step["pieces"]) for item in data["news"]]
    assert len(set(written)) == 1
    found = [pair for item in data["news"] for pair in item["pairs"]]
    assert len(found) == 3 and all("as expected" in pair["text"] for pair in found)
    assert len(runs.recorded()) < 200_000


# ---- settings ----


@pytest.fixture(scope="module")
def chosen():
    with gr.Blocks():
        return settings.lay_out(gr.Textbox("a b c", label="Prompt"))


TREES = {
    "Verification rule of A": "sequoia", "Tree builder of B": "chain", "Verification rule of B": "speculative-sampling",
    "Drafter of B": "model", "Verification rule of C": "dyspec", "C": "plain", "Temperature": 0.6, "New tokens": 96,
}  # fmt: skip


def values(chosen, **changes):
    """A tree, a chain and plain decoding, some of it changed: by label, or by letter for what decodes a column."""
    changes = TREES | changes
    kinds = {f"{letter} decodes by": changes.pop(letter) for letter in "ABC" if letter in changes}
    changes |= kinds
    return tuple(changes.pop(control.label, control.value) for control in chosen.inputs)


def test_the_controls_open_with_the_recorded_race(chosen):
    opening = [control.value for control in chosen.inputs]
    shown = [replace(trace.config, prompt="a b c") for trace in runs.race()]
    for entry, config in zip(chosen.read(opening), shown, strict=True):
        assert entry.config.resolved == config.resolved
        assert replace(entry.config, builder="k-ary", verifier="race", drafter="model") == replace(
            config, builder="k-ary", verifier="race", drafter="model"
        )
    assert chosen.possible(opening)


def test_a_tree_a_chain_and_plain_decoding_are_read(chosen):
    entries = chosen.read(values(chosen))
    assert [entry.title for entry in entries] == [
        "Tree: Sequoia · Rule: Sequoia",
        "Tree: Chain · Rule: Speculative sampling",
        "Plain decoding",
    ]
    assert all((entry.config.prompt, entry.config.max_new_tokens) == ("a b c", 96) for entry in entries)
    assert chosen.possible(values(chosen))
    assert len(chosen.updates(values(chosen))) == len(chosen.outputs)


def test_columns_have_parameters_of_their_own_and_share_the_rest(chosen):
    given = list(values(chosen, Seed=7, Temperature=0.5, C="speculation"))
    for column, size in zip(chosen.columns, (8, 4, 12), strict=True):
        field = column.controls.builder.parameters["sequoia"][0]
        given[chosen.inputs.index(column.controls.builder.menu)] = "sequoia"
        given[chosen.inputs.index(column.controls.verifier.menu)] = "traversal"
        given[chosen.inputs.index(field)] = size
    entries = chosen.read(given)
    assert [entry.config.builder.size for entry in entries] == [8, 4, 12]
    assert {(entry.config.seed, entry.config.temperature, entry.config.verifier) for entry in entries} == {
        (7, 0.5, V["traversal"]())
    }


def test_a_third_column_may_be_off_and_two_are_always_there(chosen):
    assert [entry.letter for entry in chosen.read(values(chosen, C="off"))] == ["A", "B"]
    for letter, kind in (("A", "off"), ("B", "nonsense"), ("C", None), ("A", ["plain"])):
        given = values(chosen, **{letter: kind})
        assert not chosen.possible(given)
        with pytest.raises(ValueError, match=f"^{letter}: {letter} must be one of Speculation, Plain decoding"):
            chosen.read(given)


def test_impossible_and_lossy_pairs_are_told_by_column(chosen):
    given = values(chosen, **{"Tree builder of B": "k-ary"})
    kind, text = chosen.columns[1].verdict(*chosen.split(given)[1])
    assert kind == "impossible" and "chains" in text and not chosen.possible(given)
    with pytest.raises(ValueError, match=r"^B: Speculative sampling is defined for chains"):
        chosen.read(given)
    updates = dict(zip(map(id, chosen.outputs), chosen.updates(given), strict=True))
    notices = [json.loads(updates[id(column.said)])["kind"] for column in chosen.columns]
    assert notices == ["", "impossible", ""]
    lossy = values(chosen, **{"Verification rule of A": "typical"})
    assert chosen.possible(lossy) and chosen.columns[0].verdict(*chosen.split(lossy)[0])[0] == "lossy"
    assert chosen.read(lossy)[0].lossy == V["typical"].bias


def test_what_all_share_is_rejected_without_a_letter_and_what_is_hidden_is_not_read(chosen):
    with pytest.raises(ValueError, match=r"^Prompt must not be empty"):
        chosen.read(values(chosen, Prompt="  "))
    with pytest.raises(ValueError, match=r"^Seed must be"):
        chosen.read(values(chosen, Seed=-1))
    given = values(chosen, **{"Tree builder of B": "nonsense", "B": "plain"})
    assert chosen.read(given)[1].plain and chosen.possible(given)
    assert not chosen.possible(values(chosen, **{"Tree builder of B": "nonsense"}))


def test_menus_of_each_column_are_marked_for_its_own_choice(chosen):
    updates = dict(zip(map(id, chosen.outputs), chosen.updates(values(chosen)), strict=True))
    tree, chain = (dict(map(reversed, updates[id(column.controls.verifier.menu)].choices))
                   for column in chosen.columns[:2])  # fmt: skip
    assert "✕ incompatible" in tree["block"] and "✕" not in chain["block"]


# ---- links ----


def test_a_link_brings_back_every_column(chosen):
    given = list(values(chosen, Seed=9, A="plain", C="speculation", Prompt="x & y"))
    third = chosen.columns[2].controls
    for control, value in ((third.builder.menu, "k-ary"), (third.builder.parameters["k-ary"][0], 3)):
        given[chosen.inputs.index(control)] = value
    query = links.write(chosen, given)
    assert "a.decodes=plain" in query and "a.builder" not in query and "c.builder=k-ary:width=3," in query
    opened = links.read(chosen, f"?tab=compare&{query}")
    assert not opened.changes and chosen.read(opened.values) == chosen.read(given)


def test_a_stranger_s_link_is_checked(chosen):
    hostile = "?tab=compare&a.decodes=off&b.builder=<b>&c.decodes=nothing&seed=-1&a.builder.size=9999"
    opened = links.read(chosen, hostile)
    assert len(chosen.read(opened.values)) == 3 and len(opened.changes) == 5
