"""Every format that engines write, at its right value, and the kinds that look alike."""

import json
from pathlib import Path

import pytest

from specviz.doctor import diagnose, json_records
from tests.doctor.test_doctor import codes, vllm

CASES = Path(__file__).parent / "cases"
SAME_STEPS = {
    "steps": 43,
    "acceptance_length": 84 / 43,
    "accepted_per_step": 41 / 43,
    "acceptance_rate": 41 / 129,
    "per_position": (23 / 43, 13 / 43, 5 / 43),
    "conditional": (23 / 43, 13 / 23, 5 / 13),
}
EXPECTED = {
    "a01-vllm-v1-dp-2026.log": {"throughput": 204.0, "running_requests": 12.0, "steps": 900},
    "a04-vllm-v0.log": {
        "throughput": 61.8,
        "acceptance_rate": 8520 / 13312,
        "acceptance_length": 10590 / 4437,
        "drafted_per_step": pytest.approx(3, rel=1e-3),
    },
    "a05-vllm-bench-serve.log": {
        "throughput": 1330.56,
        "steps": 55411,
        "acceptance_rate": 72660 / 166233,
        "acceptance_length": 1 + 72660 / 55411,
        "per_position": (0.6617, 0.4158, 0.2338),
        "running_requests": 8.0,
    },
    "a08-llama-2026-08-meanlen.log": {
        "steps": 200,
        "acceptance_length": 2.55,
        "per_position": (0.85, 0.7),
        "throughput": 511 / 17,
    },
    "a10-llama-speculative-cli.log": {
        "accepted": 526.0,
        "drafted": 730.0,
        "throughput": 56.083,
        "acceptance_length": 673 / 147,
    },
    "a11-llama-timings.json": {
        "accepted": 65.0,
        "drafted": 347.0,
        "throughput": pytest.approx(18.046, abs=1e-3),
    },
    "a18-trtllm-python-repr.log": {
        "steps": 8,
        "acceptance_length": 2.5,
        "throughput": 1000.0,
        "draft_share": 0.2,
    },
    "a23-vllm-early-alone.log": {
        "steps": None,
        "acceptance_length": None,
        "accepted": 80.0,
        "drafted": 160.0,
        "acceptance_rate": 0.5,
        "throughput": 12.0,
    },
    "vllm-response.json": SAME_STEPS,
    "sglang-meta-info.json": SAME_STEPS | {"throughput": 84 / 0.93},
    "aiperf.jsonl": {"steps": 63, "accepted": 71.0, "drafted": 189.0},
    "speculation_profile.json": {
        "acceptance_length": 2.9255,
        "per_position": (0.8163, 0.6341, 0.4751),
        "conditional": pytest.approx((0.8163, 0.7768, 0.7493), abs=1e-3),
    },
}


def read(name):
    return (CASES / name).read_text("utf-8")


def holds(report, expected):
    for name, value in expected.items():
        found = getattr(report, name)
        number = isinstance(value, float | tuple)
        assert found == (pytest.approx(value, rel=1e-4) if number else value), name


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_each_case_at_its_value(name):
    (report,) = diagnose(read(name))
    holds(report, EXPECTED[name])
    assert "no-speculation-seen" not in codes(report)


def test_the_same_steps_are_the_same_in_every_format():
    (vllm_report,) = diagnose(read("vllm-response.json"))
    (sglang_report,) = diagnose(read("sglang-meta-info.json"))
    profile = {"conditional_accept_rates": vllm_report.conditional}
    (profile_report,) = diagnose(json.dumps(profile))
    bench = {"Acceptance_Length_Histogram": {"1": 20, "2": 10, "3": 8, "4": 5}, "Average_AL": 1.95}
    (bench_report,) = diagnose(json.dumps(bench))
    for report in (sglang_report, profile_report, bench_report):
        assert report.per_position == pytest.approx(vllm_report.per_position)
        assert report.acceptance_length == pytest.approx(vllm_report.acceptance_length, rel=1e-4)


# ---- objects: any order of keys, any place in a text, as JSON or as Python prints them ----

ITERATION = {
    "specDecodingStats": {
        "iterLatencyMS": 6.0,
        "numDraftTokens": 24,
        "numAcceptedTokens": 12,
        "numRequestsWithDraftTokens": 8,
        "draftOverhead": 0.3,
    },
    "inflightBatchingStats": {"numGenRequests": 8, "numContextRequests": 0},
    "iterLatencyMS": 20.0,
    "kvCacheStats": None,
}


@pytest.mark.parametrize("order", [list, lambda keys: list(reversed(list(keys)))])
@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        repr,
        lambda value: json.dumps([value], indent=2),
        lambda value: f"12:00:01 [stats] {value!r}",
        lambda value: f"INFO stats={json.dumps(value)} end",
        lambda value: f"don't mind [this\n{json.dumps({'iterations': [value]})}\nor that}}",
    ],
)
def test_iterations_in_any_order_and_place(order, write):
    value = {key: ITERATION[key] for key in order(ITERATION)}
    (report,) = diagnose(write(value))
    assert (report.steps, report.throughput, report.draft_share) == (8, 1000.0, 0.3)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("vllm-response.json", ["metrics", "speculative_decoding"]),
        ("sglang-meta-info.json", ["meta_info"]),
        ("a11-llama-timings.json", ["timings"]),
    ],
)
def test_the_part_of_a_response_that_was_saved_alone(name, place):
    part = json.loads(read(name))
    for key in place:
        part = part[key]
    (report,) = diagnose(json.dumps(part))
    holds(report, EXPECTED[name])


def test_positions_of_llama_under_its_newest_name():
    line = "draft acceptance = 0.700 (  297 accepted /   426 generated), mean len =  2.39, "
    (report,) = diagnose(line + "acc per pos = (0.798, 0.596)")
    assert report.per_position == (0.798, 0.596)


def test_drafting_statistics_alone_are_read():
    """The latency in them is that of the draft, so there is no throughput."""
    (report,) = diagnose(json.dumps({"specDecodingStats": ITERATION["specDecodingStats"]}))
    assert (report.steps, report.acceptance_length, report.throughput) == (8, 2.5, None)


def test_mlx_timings_and_a_server_state():
    (report,) = diagnose(
        '{"timings": {"predicted_n": 101, "predicted_ms": 2000, "draft_n": 80, '
        '"draft_n_accepted": 60}}'
    )
    assert (report.throughput, report.steps, report.acceptance_rate) == (50.5, 40, 0.75)
    state = {"internal_states": [{"last_gen_throughput": 200.5, "avg_spec_accept_length": 2.5}]}
    (report,) = diagnose(json.dumps(state))
    assert (report.engine, report.acceptance_length, report.throughput) == ("sglang", 2.5, 200.5)


def test_a_streamed_answer_counts_once():
    def chunk(answer, tokens):
        timings = {"predicted_n": tokens, "predicted_ms": 10 * tokens, "draft_n": tokens}
        return json.dumps({"id": answer, "timings": timings | {"draft_n_accepted": tokens // 2}})

    stream = [chunk("a", 11), chunk("a", 101), chunk("b", 51)]
    (report,) = diagnose("\n\n".join(f"data: {one}" for one in stream) + "\n\ndata: [DONE]\n")
    assert (report.drafted, report.accepted) == (152, 75)


def test_results_of_benchmarks_as_json():
    result = {
        "output_throughput": 900.0,
        "duration": 10.0,
        "max_concurrency": 4,
        "spec_decode_num_drafts": 1000,
        "spec_decode_draft_tokens": 3000,
        "spec_decode_accepted_tokens": 1500,
        "spec_decode_acceptance_length": 2.5,
        "spec_decode_per_position_acceptance_rates": [0.8, 0.5, 0.2],
    }
    (report,) = diagnose(json.dumps(result))
    assert (report.engine, report.steps, report.acceptance_length) == ("vllm", 1000, 2.5)
    assert report.conditional == pytest.approx((0.8, 0.625, 0.4))


@pytest.mark.parametrize(
    "text",
    [
        '{"conditional_accept_rates": null, "marginal_accept_rates": null}',
        '{"measured": false, "marginal_accept_rates": [0.5], "mean_accept_length": 1.5}',
        '{"timings": {"predicted_n": true, "predicted_ms": NaN}}',
        '{"Acceptance_Length_Histogram": {"x": 3}}',
        "{'inflightBatchingStats': __import__('os')}",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_objects_that_say_nothing(text):
    with pytest.raises(ValueError, match="Nothing that an engine decoded"):
        diagnose(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"marginal_accept_rates": [0.2, 0.9]}', "must fall from position to position"),
        (
            '{"marginal_accept_rates": [0.8, 0.7], "conditional_accept_rates": [0.8, 0.7]}',
            "be products of conditional_accept_rates",
        ),
        ('{"conditional_accept_rates": ["high"]}', "numbers from 0 to 1"),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused_with_the_reason(text, words):
    with pytest.raises(ValueError, match=words):
        diagnose(text)


# ---- ranks and loads ----


def test_ranks_add_up_in_each_interval():
    (report,) = diagnose(read("a01-vllm-v1-dp-2026.log"))
    expected = [
        (300 * first + 600 * second) / 900
        for first, second in ((0.85, 0.6), (0.6, 0.3), (0.35, 0.1))
    ]
    assert report.per_position == pytest.approx(expected)
    later = read("a01-vllm-v1-dp-2026.log").replace("12:25:03", "12:25:13")
    (twice,) = diagnose(read("a01-vllm-v1-dp-2026.log") + later)
    assert (twice.throughput, twice.running_requests, twice.steps) == (204.0, 12.0, 1800)


def test_ranks_that_speak_at_other_times_are_not_added():
    lines = read("a01-vllm-v1-dp-2026.log").splitlines()
    late = [line.replace("12:25:03", "12:25:33") for line in lines[2:]]
    (*reports,) = diagnose("\n".join(lines[:2] + late))
    assert [report.throughput for report in reports] == [84.0, 120.0]


def test_ranks_of_sglang_add_up():
    line = (
        "[2026-06-02 10:00:0{0} DP{1} TP0] Decode batch, #running-req: 4, accept len: {2}, "
        "accept rate: 0.5, gen throughput (token/s): {3}, #queue-req: 0\n"
    ).format
    text = line(1, 0, 2.5, 300.0) + line(1, 1, 2.0, 200.0) + line(9, 0, 2.5, 300.0)
    (report,) = diagnose(text + line(9, 1, 2.0, 200.0))
    assert (report.throughput, report.running_requests) == (500.0, 8.0)
    assert report.acceptance_length == 2.25 and report.drafted_per_step == 2.5


def test_two_loads_are_two_reports():
    text = vllm(100, (0.8, 0.5), 90, running=1) * 3 + vllm(900, (0.6, 0.3), 800, running=32) * 3
    low, high = diagnose(text)
    assert (low.running_requests, low.throughput) == (1, 90)
    assert (high.running_requests, high.throughput) == (32, 800)
    assert low.per_position == (0.8, 0.5) and high.per_position == (0.6, 0.3)


def test_a_load_that_wavers_is_one_and_a_rare_one_is_none():
    text = "".join(vllm(100, (0.8,), 90 + n, running=14 + n % 4) for n in range(20))
    assert len(diagnose(text)) == 1
    assert len(diagnose(text + vllm(100, (0.8,), 9, running=1))) == 1


# ---- what is drafted in SGLang, simulated acceptance ----


def sglang(length, rate, running=16, throughput=1000):
    return (
        f"Decode batch, #running-req: {running}, accept len: {length:.2f}, accept rate: {rate:.2f}"
        f", gen throughput (token/s): {throughput:.2f}, #queue-req: 0\n"
    )


@pytest.mark.parametrize("drafted", [3, 5, 7])
def test_sglang_rates_of_both_generations_give_the_draft(drafted):
    lengths = (1.62, 1.81, 2.13, 1.57)
    newer = "".join(sglang(length, (length - 1) / drafted) for length in lengths)
    older = "".join(sglang(length, length / (drafted + 1)) for length in lengths)
    for text in (newer, older):
        (report,) = diagnose(text)
        assert report.drafted_per_step == pytest.approx(drafted, rel=0.05)
        assert "trees-under-load" in codes(report)


def test_sglang_tails_with_one_chance_for_all_positions():
    (report,) = diagnose("".join(sglang(length, (length - 1) / 7) for length in (1.5, 1.52, 1.48)))
    (advice,) = [one for one in report.advice if one.code == "flat-tail"]
    assert "every position is accepted alike" in advice.text
    assert advice.flag.startswith("--speculative-num-steps 2 ")


@pytest.mark.parametrize(
    "setting",
    [
        "'rejection_sample_method': 'synthetic', ",
        '"rejection_sample_method":"synthetic"',
        "synthetic_acceptance_rate=0.7 ",
        "export SGLANG_SIMULATE_ACC_LEN=2.8\n",
        "--spec-decode-acceptance-rate 0.59\n",
    ],
)
def test_simulated_acceptance_is_recognised_by_its_setting(setting):
    (report,) = diagnose(f"{setting}\n{vllm(100, (0.8, 0.5), 90)}")
    assert report.advice[0].code == "simulated" and report.simulated
    (real,) = diagnose("SGLANG_SIMULATE_ACC_LEN=-1\n" + vllm(100, (0.8, 0.5), 90))
    assert "simulated" not in codes(real)


def test_simulated_acceptance_is_recognised_by_a_constant_length():
    def code(*lines):
        (report,) = diagnose("".join(lines))
        return "simulated" in codes(report)

    assert code(*[sglang(2.8, 0.6)] * 5)
    assert not code(*[sglang(2.8, 0.6)] * 3)  # too few
    assert not code(*[sglang(4.0, 1.0)] * 5)  # all is accepted
    assert not code(*[sglang(1.0, 0.0)] * 5)  # nothing is
    assert not code(*(sglang(2.8 + n / 100, 0.6) for n in range(5)))


def test_other_outputs_of_vllm_and_sglang():
    offline = (
        "total_num_output_tokens: 200\nnum_drafts: 100\nnum_draft_tokens: 300\n"
        "num_accepted_tokens: 100\nmean acceptance length: 2.00\n"
        "acceptance at token 0: 0.60\nacceptance at token 1: 0.30\nacceptance at token 2: 0.10\n"
    )
    (report,) = diagnose(offline)
    assert (report.steps, report.acceptance_length) == (100, 2.0)
    assert report.per_position == (0.6, 0.3, 0.1)
    serving = (
        "============ Serving Benchmark Result ============\nBackend:                  sglang\n"
        "Output token throughput (tok/s):         930.50\nConcurrency:              7.9\n"
        "Accept length:                           2.41\n=====\n"
    )
    (report,) = diagnose(serving)
    assert (report.engine, report.throughput) == ("sglang", 930.5)
    assert (report.acceptance_length, report.running_requests) == (2.41, 7.9)


def test_damaged_metrics_do_not_hide_the_others():
    good = "vllm:spec_decode_num_drafts_total 10\nvllm:spec_decode_num_draft_tokens_total 30\n"
    bad = 'vllm:x{a="\nvllm:spec_decode_num_drafts_total{ 1\nsglang:spec_accept_length NaN\n'
    assert diagnose(bad + good) == diagnose(good)


# ---- files that are cut off, or large ----


@pytest.mark.parametrize("write", [repr, json.dumps, lambda value: json.dumps(value, indent=1)])
def test_a_list_that_was_cut_off_is_read_up_to_there(write):
    whole = write([ITERATION] * 5)
    (report,) = diagnose(whole[: -len(write(ITERATION)) // 2])
    assert report.steps == 32


def test_lines_of_a_log_are_not_tried_as_json(monkeypatch):
    """Each try that fails takes time, and a log has a bracket in every line."""
    monkeypatch.setattr(json_records, "_object_at", lambda *arguments: pytest.fail("tried"))
    assert diagnose(read("a01-vllm-v1-dp-2026.log"))[0].steps == 900


def test_tries_of_broken_objects_are_limited(monkeypatch):
    tries = []
    monkeypatch.setattr(
        json_records, "_object_at", lambda text, start: tries.append(len(text)) or (None, 0)
    )
    with pytest.raises(ValueError, match="Nothing that an engine decoded"):
        diagnose("{'a': 1\n" * 1000 + '{"b": ' * 1000)
    assert sum(length > 10_000 for length in tries) < 2 * json_records.BROKEN
    assert len(tries) < 1100
