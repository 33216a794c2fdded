"""Logs and metrics of engines: real formats, the numbers that follow, and what must not follow."""

import json
from pathlib import Path

import pytest

from specviz.base.codec import dumps
from specviz.doctor import diagnose

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = json.loads((SAMPLES / "expected.json").read_text("utf-8"))
BASELINES = {"vllm": 100.0, "llama.cpp": 60.0, "sglang": 2500.0, "tensorrt-llm": 200.0}
# What https://github.com/vllm-project/vllm/issues/39680 reports: 96.6 % accepted, and slower.
SLOWER = """without mtp
(APIServer pid=1422509) INFO 04-09 11:27:10 [loggers.py:259] Engine 000: Avg prompt \
throughput: 967.2 tokens/s, Avg \
generation throughput: 342.2 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%
with mtp
(APIServer pid=1409788) INFO 04-09 11:17:53 [loggers.py:259] Engine 000: Avg prompt \
throughput: 1357.9 tokens/s, Avg \
generation throughput: 128.3 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.2%
(APIServer pid=1409788) INFO 04-09 11:17:53 [metrics.py:101] SpecDecoding metrics: \
Mean acceptance length: 1.97, \
Accepted throughput: 63.00 tokens/s, Drafted throughput: 65.20 tokens/s, Accepted: 630 tokens, \
Drafted: 652 tokens, \
Per-position acceptance rate: 0.966, Avg Draft acceptance rate: 96.6%
"""


def read(name):
    return (SAMPLES / name).read_text("utf-8")


def codes(report):
    return [one.code for one in report.advice]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_samples_of_each_engine(name):
    (first,) = diagnose(read(name))
    (report,) = diagnose(read(name), BASELINES[first.engine])
    found = json.loads(dumps(report.to_dict())) | {"advice": codes(report)}
    for key, value in EXPECTED[name].items():
        number = isinstance(value, float) or key == "per_position"
        assert found[key] == (pytest.approx(value, rel=1e-4) if number else value), key
    assert first.pays is None and first.speedup is first.step_price is None


def test_every_sample_is_expected():
    assert {path.name for path in SAMPLES.iterdir()} == {*EXPECTED, "expected.json"}


def test_the_slow_engine_of_the_vllm_thread():
    """The price of its step is tau B / S = (1 + 630 / 652) 342.2 / 128.3 plain steps."""
    (report,) = diagnose(SLOWER, baseline_text=SLOWER)
    assert (report.baseline, report.throughput, report.running_requests) == (342.2, 128.3, 1)
    assert (
        report.step_price
        == pytest.approx((1 + 630 / 652) * 342.2 / 128.3)
        == pytest.approx(5.24, abs=0.005)
    )
    assert report.speedup == pytest.approx(0.375, abs=0.0005) and report.pays is False
    assert (
        codes(report) == ["overhead"]
        and "1.97 tokens" in report.advice[0].text
        and "5.24" in report.advice[0].text
    )
    assert "includes reading prompts" in report.advice[0].text


def test_the_llama_thread_gives_no_baseline_and_so_no_verdict():
    """https://github.com/ggml-org/llama.cpp/issues/25908: 0.90 accepted, a mean length of 3.7 to
    3.9, 165.4 tokens/s, and slower than plain decoding. If that were 1.2 times as fast, a step
    would take the time of 4.6 plain steps."""
    text = (
        "eval time = 1547.8 ms / 256 tokens\ndraft acceptance = 0.90000 (  189 accepted /   210 "
        "generated)"
    )
    (report,) = diagnose(text)
    assert report.throughput == pytest.approx(165.4, abs=0.01) and report.acceptance_rate == 0.9
    assert report.acceptance_length == pytest.approx(1 + 189 / 66) and report.pays is None
    assert codes(report) == ["needs-baseline"]
    (slower,), (faster,) = (diagnose(text, baseline) for baseline in (1.2 * report.throughput, 100))
    assert (
        slower.step_price
        == pytest.approx(1.2 * report.acceptance_length)
        == pytest.approx(4.64, abs=0.005)
    )
    assert slower.pays is False
    assert codes(slower) == ["overhead"] and faster.pays is True and codes(faster) == ["pays"]


def vllm(steps, rates, throughput, running=1):
    """Two lines of vLLM: all steps draft a token for each rate."""
    accepted, drafted = round(steps * sum(rates)), steps * len(rates)
    return (
        "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
        f"{throughput:.4f} tokens/s, "
        f"Running: {running} reqs, Waiting: 0 reqs\n"
        f"SpecDecoding metrics: Mean acceptance length: {1 + accepted / steps:.2f}, "
        f"Accepted: {accepted} tokens, "
        f"Drafted: {drafted} tokens, Per-position acceptance rate: "
        f"{', '.join(f'{rate:.3f}' for rate in rates)}, Avg\n"
    )


def test_a_shorter_draft_names_its_estimate():
    (report,) = diagnose(vllm(1000, (0.5, 0.3, 0.1, 0.02), 100), 80)
    price = 1.92 * 80 / 100
    (shorten,) = [one for one in report.advice if one.code == "shorten"]
    low, high = (
        1.9 / price,
        1.9 / (1 + (price - 1) * 3 / 4),
    )  # all extra time fixed, or in proportion to the length
    assert f"{low:.2f} to {high:.2f} times" in shorten.text and {"pays", "flat-tail"} <= set(
        codes(report)
    )
    assert shorten.flag == """--speculative-config '{"num_speculative_tokens": 3}'"""


def test_llama_lines_in_either_order_give_the_time_of_drafting():
    lines = read("llama.txt").splitlines()
    expected = 325.555 / 2296.72
    for text in (lines, lines[4:5] + lines[1:2] + lines[5:]):
        (report,) = diagnose("\n".join(text), 60)
        assert report.draft_share == pytest.approx(expected) and report.pays and report.steps == 87
        assert "14% of it for drafting" in report.advice[0].text


def test_files_of_one_engine_are_read_together():
    """Metrics count the steps, and the log of the same time gives the throughput; nothing is
    counted twice."""
    log = vllm(50, (0.7, 0.4), 250, running=12)
    (alone,), (both,) = diagnose(read("vllm.metrics")), diagnose(read("vllm.metrics") + log)
    assert alone.throughput is None and alone.advice[0].code == "needs-baseline"
    assert (
        both.throughput == 250
        and both.steps == alone.steps
        and both.per_position == alone.per_position
    )


def test_tensorrt_iterations_give_the_share_of_drafting():
    (report,) = diagnose(read("tensorrt.jsonl").splitlines()[1], 100)
    assert report.draft_share == 0.3 and "from 1 iteration" in report.advice[0].text


def test_a_baseline_log_counts_only_under_the_same_load():
    text = vllm(1000, (0.7,), 900, running=16)
    plain = "Avg generation throughput: {} tokens/s, Running: {} reqs, Waiting: 0 reqs\n".format
    (report,) = diagnose(text, baseline_text=plain(700, 16) + plain(90, 1))
    assert report.baseline == 700 and report.pays is True
    (other,) = diagnose(text, baseline_text=plain(90, 1))
    assert other.baseline is other.pays is None
    with pytest.raises(ValueError, match="no throughput of plain decoding"):
        diagnose(text, baseline_text=text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (vllm(100, (0.1, 0.02), 50), "first-position-low"),
        (vllm(1000, (0.5, 0.3, 0.2, 0.1), 900, running=32), "trees-under-load"),
        (
            plain := "Avg generation throughput: 90.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs",
            "no-speculation-seen",
        ),
    ],
)
def test_advice_without_a_baseline(text, code):
    (report,) = diagnose(text)
    assert code in codes(report) and report.pays is None
    (fine,) = diagnose(vllm(1000, (0.9, 0.7), 50))
    assert codes(fine) == ["needs-baseline"]


def test_workers_are_added_up_but_for_their_means():
    workers = "".join(
        f'sglang:{name}{{tp_rank="{rank}"}} {value}\n'
        for name, values in (
            ("spec_accept_length", (2.0, 3.0)),
            ("gen_throughput", (100.0, 60.0)),
            ("num_running_reqs", (4.0, 2.0)),
        )
        for rank, value in enumerate(values)
    )
    (report,) = diagnose(workers)
    assert (report.acceptance_length, report.throughput, report.running_requests) == (
        2.5,
        160.0,
        6.0,
    )


def test_several_engines_among_other_lines():
    noise = "INFO: 127.0.0.1 - GET /health\n" * 50
    text = noise + noise.join(
        read(name) for name in ("vllm.txt", "sglang.txt", "llama.txt", "tensorrt.jsonl")
    )
    reports = diagnose(text)
    assert [one.engine for one in reports] == ["vllm", "llama.cpp", "sglang", "tensorrt-llm"]
    for report, name in zip(
        reports, ("vllm.txt", "llama.txt", "sglang.txt", "tensorrt.jsonl"), strict=True
    ):
        assert report == diagnose(read(name))[0]


@pytest.mark.parametrize(
    "text", ["", "\n" * 100, "{}", "[1, 2]", "Hello,\nworld.", "# HELP up\nup 1\n"]
)
def test_a_foreign_text_is_answered_with_what_is_recognised(text):
    with pytest.raises(ValueError, match="Nothing that an engine decoded") as failed:
        diagnose(text)
    for name in ("llama.cpp", "SGLang", "TensorRT-LLM", "Prometheus"):
        assert name in str(failed.value)


@pytest.mark.parametrize("baseline", [0, -1.0, float("nan"), float("inf"), "fast"])
def test_a_baseline_is_a_number_above_0(baseline):
    with pytest.raises(ValueError, match="baseline must be a number above 0"):
        diagnose(SLOWER, baseline)


# ---- a text from a stranger ----

HOSTILE = [
    (
        "SpecDecoding metrics: Accepted: 9\x1b[2J9 tokens, Drafted: 1e999 tokens, Per-position "
        "acceptance rate: \x07"
    ),
    "SpecDecoding metrics: " + "Accepted: 1, " * 500,
    "SpecDecoding metrics: Mean acceptance length: 0.00, Per-position acceptance rate: "
    + "0.1, " * 400,
    "Avg generation throughput: 5\x1b]0;x\x07 tokens/s, Running: 1 reqs",
    "statistics " * 400,
    "statistics x: #gen tokens = 0, #gen drafts = 0, dur(b,g,a) = 0, 0, 0 ms",
    "eval time = 0.00 ms / 0 tokens",
    "draft acceptance = 0.0 ( 0 accepted / 0 generated), mean acceptance length = 0.00",
    (
        "Decode batch, #running-req: 0, accept len: 0.00, accept rate: 0.00, gen throughput "
        "(token/s): 0.00"
    ),
    (
        "Decode batch, #running-req: 1, accept len: 9.99, accept rate: 0.01, gen throughput "
        "(token/s): 1.00"
    ),
    "vllm:spec_decode_num_drafts_total{" * 100,
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="\x1b[2J"} 5',
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="99999999999"} NaN',
    "vllm:spec_decode_num_drafts_total -5",
    '{"speculative_decoding": {"num_spec_steps": 1e999, "acceptance_histogram": ["\x1b"]}}',
    '{"speculative_decoding": {"num_spec_steps": 2, "num_draft_tokens": 3, '
    '"per_step_drafted": [9999999, 1], "per_step_accepted": [99, 0], '
    '"num_accepted_draft_tokens": 1}}',
    '{"iterLatencyMS": true, "specDecodingStats": []}',
    '{"predicted_ms": -1, "predicted_n": null}',
    '{"speculative_decoding": ' + "[" * 5000,
]


@pytest.mark.parametrize("line", HOSTILE)
def test_a_hostile_line_breaks_nothing_and_is_not_echoed(line):
    from specviz.commands.doctor import text_of

    for text in (line, f"{SLOWER}\n{line}\n{read('llama.txt')}"):
        for baseline in (None, 50.0):
            try:
                report = "\n".join(
                    text_of(one) + dumps(one.to_dict()) for one in diagnose(text, baseline)
                )
            except ValueError as error:
                report = str(error)
            assert all(character.isprintable() or character == "\n" for character in report)


def test_four_megabytes_of_noise():
    words = "Avg generation statistics draft acceptance Decode vllm metrics spec accept {} [] 0.5, "
    noise = "".join(f"{words * 3}{number}\n" for number in range(15_000))
    assert len(noise) > 3_900_000
    with pytest.raises(ValueError, match="Nothing"):
        diagnose(noise)
    half = len(noise) // 2
    (report,) = diagnose(f"{noise[:half]}\n{SLOWER}{noise[half:]}")
    assert report.steps == 652
