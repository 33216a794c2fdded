"""Drafters side by side on toy tables: counts are exact, times are only there."""

import specviz
from specviz.benchmarks.compare_drafters import compare


def test_a_row_for_each_drafter_kind_and_temperature():
    pair, builder = specviz.toy_pair(vocab=5), specviz.BUILDERS["k-ary"]()
    drafters = [specviz.DRAFTERS[name]() for name in ("model", "medusa")]
    config = specviz.RunConfig(max_new_tokens=12)
    prompts = {"tales": ["abc", "cab"], "code": ["bbb"]}
    news = list(compare(pair, drafters, builder, prompts, (0.0, 0.8), config, rounds=2))
    rows = news[-1].known
    assert [one.done for one in news] == list(range(1, 37)) and {one.of for one in news} == {36}
    assert [len(one.known) for one in news[:18]] == [0, 0, *[2] * 12, *[4] * 4], "a row is known once a prompt is done"
    assert news[15].known[:2] == rows[:2]
    assert [(row.setting, row.name) for row in rows] == [
        (f"{kind}, T {heat:g}", name) for heat in (0.0, 0.8) for kind in prompts for name in ("model", "medusa")
    ]
    for row in rows:
        assert row.low <= row.speedup <= row.high and row.margin is None
        assert (row.draft_passes > 0) == (row.name == "model") and row.parts["draft"] > 0
    asked = specviz.RunConfig(
        "bbb", builder, specviz.VERIFIERS["exact-match"](), 0.0, max_new_tokens=12, drafter=drafters[1]
    )
    assert rows[3].tokens_per_pass == specviz.run(pair, asked).tokens_per_pass
