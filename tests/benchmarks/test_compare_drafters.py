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
    assert [one.done for one in news] == list(range(1, 17)) and news[0].of == 16
    assert [len(one.known) for one in news[:8]] == [0, 2, 2, 2, 2, 4, 4, 4]
    assert [row.rounds for row in news[6].known] == [2, 2, 1, 1], "one round of code is known so far"
    assert news[6].known[:2] == rows[:2]
    assert [(row.temperature, row.kind, row.drafter) for row in rows] == [
        (heat, kind, name) for heat in (0.0, 0.8) for kind in prompts for name in ("model", "medusa")
    ]
    for row in rows:
        assert row.low <= row.speedup <= row.high and row.rounds == 2
        assert (row.draft_passes > 0) == (row.drafter == "model") and row.draft_ms > 0
    asked = specviz.RunConfig(
        "bbb", builder, specviz.VERIFIERS["exact-match"](), 0.0, max_new_tokens=12, drafter=drafters[1]
    )
    assert rows[3].tokens_per_pass == specviz.run(pair, asked).tokens_per_pass
