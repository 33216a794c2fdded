"""Would the tests notice? Each edit below breaks the engine in a copy of the tree, and the test beside it must fail.

    python tests/mutants.py             # all of them, some minutes; `make mutants`
    python tests/mutants.py staged      # those whose file or test holds the word

It exits with 1 if an edit survives or no longer applies, or if a test fails without any edit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Edit(NamedTuple):
    """One mistake: `old` stands once in `file`, from the folder specviz, and becomes `new`; `test` must fail."""

    file: str
    old: str
    new: str
    test: str


DECLARED = "tests/proof/test_check.py::test_every_pair_is_what_it_is_declared_to_be"
TREES = "tests/passes/test_huggingface.py::test_trees_score_as_separate_passes[llama-sdpa]"
FRESH = "tests/drafters/test_after_commits.py::test_after_every_commit_a_drafter_says_what_a_fresh_one_says"
COMPILED = "tests/passes/test_compiled.py::test_a_compiled_pass_gives_the_logits_of_torch[qwen2-dtype0-{}]"
FAILS = "tests/passes/test_compiled.py::test_work_that_fails_ends_all_waiting_for_it"
SAME = "tests/passes/test_compiled.py::test_a_token_has_the_same_logits_whatever_stands_beside_it[dtype0]"
TEXT_FORM = "tests/engine/test_wrong_use.py::{}"
INTERVALS = "tests/test_metrics.py::{}"
QUEUE = "tests/app/machine/test_queue.py::{}"
FAIR = QUEUE.format("test_the_address_then_the_session_served_least_recently_comes_next")
SLOTS = QUEUE.format("test_slots_are_given_in_fair_order_and_the_last_is_rejected_where_too_many_wait")
TOP_P = "tests/engine/test_distributions.py::test_top_p_keeps_the_token_that_crosses_the_threshold"
MERGED = "tests/drafters/test_drafters.py::test_a_merged_child_is_compared_with_the_row_of_who_drew_it_first"

EDITS = (
    # Rules, and the residual they draw from.
    Edit("verifiers/walk.py", "r = residual(r, d)", "r = residual(p[node], d)", f"{DECLARED}[batch-specinfer]"),
    Edit("verifiers/walk.py", "bonus = rng.draw(r)", "bonus = rng.draw(p[node])", f"{DECLARED}[chain-sequoia]"),
    Edit("verifiers/block.py", "excess(prob * p[node], rows", "excess(p[node], rows", f"{DECLARED}[chain-block]"),
    Edit("verifiers/traversal.py", "excess(share * r, d)", "excess(r, d)", f"{DECLARED}[sequoia-traversal]"),
    Edit(
        "distributions.py",
        "    np.maximum(left, 0.0, out=left)",
        "    np.abs(left, out=left)",
        "tests/engine/test_distributions.py::test_residual_and_total_variation",
    ),
    # Sampling of children.
    Edit(
        "randomness.py",
        "        drawn.append(rng.draw(rest))\n        rest[drawn[-1]] = 0.0",
        "        drawn.append(rng.draw(rest))",
        f"{DECLARED}[sequoia-traversal]",
    ),
    Edit("sampling.py", "self._turns[len(self._drawn)]", "self._turns[len(self._drawn) - 1]", MERGED),
    Edit("sampling.py", "        q.order = tuple(first[token] for token in tokens)\n", "", MERGED),
    # Noise is keyed by the position in the text.
    Edit(
        "randomness.py",
        "[self.seed, 1, int(position)]",
        "[self.seed, 1]",
        "tests/engine/test_randomness.py::test_noise_is_keyed_by_position_and_independent_of_the_stream",
    ),
    Edit("tree.py", "self.start + self.depths[node] + 1", "self.start + node + 1", f"{DECLARED}[sequoia-race]"),
    # Temperature, top-k and top-p.
    Edit(
        "distributions.py",
        "row *= 1 / temperature",
        "row *= temperature",
        "tests/engine/test_distributions.py::test_rows_agree_however_they_are_asked_for",
    ),
    Edit("distributions.py", "min(int(sampling.top_k), len(row))", "min(int(sampling.top_k) + 1, len(row))", TOP_P),
    Edit("distributions.py", "threshold)) + 1]", "threshold))]", TOP_P),
    # Masks, positions, commits, the order of a tree.
    Edit("passes/huggingface.py", "(self._base + depths[node] for", "(self._base + self._slots[node] for", TREES),
    Edit(
        "passes/slots.py",
        "rows[slot - first] = self._sees[self[tree.parents[node]]] if node else False",
        "rows[slot - first] = np.arange(rows.shape[1]) < slot",
        TREES,
    ),
    Edit("passes/cache.py", "block.index_select(3, index)", "block[:, :, :, start + moved : self.used]", TREES),
    Edit(
        "tree.py",
        "(self.weight[child], -child)",
        "(self.weight[child], child)",
        "tests/papers/test_mask_blocks.py::test_the_heaviest_child_comes_first_and_ties_stay_as_drawn",
    ),
    # Drafters, and what is learnt from them.
    Edit(
        "models/eagle.py",
        "super().commit(tree, (), emitted)",
        "super().commit(tree, path, emitted)",
        f"{FRESH}[draft-eagle-eagle2]",
    ),
    Edit(
        "models/early_exit.py",
        " or self.cache.writer is not self",
        "",
        f"{FRESH}[early-exit:2-cascade early-exit model-dyspec]",
    ),
    Edit(
        "drafters/staged.py",
        "self.draft.commit(self._shadow, kept, emitted)",
        "self.draft.commit(self._shadow, path, emitted)",
        f"{FRESH}[draft-staged-eagle2]",
    ),
    Edit(
        "drafters/cascade.py",
        "(tree.depths[node] < self.at)",
        "(tree.depths[node] <= self.at)",
        "tests/drafters/test_drafters.py::test_the_levels_of_a_cascade_come_from_whom_it_says",
    ),
    Edit(
        "drafters/online.py",
        "self._steps % self.every == 0",
        "self._steps % self.every == 1",
        "tests/drafters/test_online.py::test_it_learns_after_every_so_many_steps_and_not_between",
    ),
    Edit(
        "acceptance/vectors.py",
        "tried[rank] += 1",
        "tried[rank] += child_taken not in children[node][:rank]",
        "tests/builders/test_builders_planned.py::test_children_after_the_accepted_one_count_as_tried_too",
    ),
    # Compiled passes.
    Edit(
        "passes/compiled/kernels.py",
        "low * cos[i] + high * sin[i]\n",
        "low * cos[i] - high * sin[i]\n",
        COMPILED.format(1),
    ),
    Edit(
        "passes/compiled/kernels.py",
        "first = slots - len(masked)",
        "first = slots - len(masked) - 1",
        COMPILED.format(1),
    ),
    Edit(
        "passes/compiled/kernels.py",
        "np.sqrt(total / np.float32(width) + np.float32(eps))",
        "np.sqrt(total / np.float32(width) + np.float32(1000 * eps))",
        COMPILED.format(1),
    ),
    Edit("passes/compiled/kernels.py", "values[pair, used + row, i] = ", "values[pair, row, i] = ", COMPILED.format(1)),
    Edit(
        "passes/compiled/kernels.py",
        "cos, sin, keys[pair, used + row])",
        "cos, sin, keys[pair, row])",
        COMPILED.format(1),
    ),
    Edit(
        "passes/compiled/kernels.py",
        "    chunk = atomic_add(counters, 2 * phase)\n",
        "    chunk = atomic_add(counters, 2 * phase) // 2\n",
        COMPILED.format(1),
    ),
    Edit(
        "passes/compiled/kernels.py",
        "if len(bias):\n                    _add(sums[row], bias[start:end])",
        "if len(bias):\n                    _add(sums[row], bias[: end - start])",
        COMPILED.format(1),
    ),
    Edit("passes/compiled/kernels.py", "top = row_max(scores[row])", "top = scores[row, 0] * 0 + 60", SAME),
    Edit("passes/compiled/kernels.py", "group = heads // kv_heads", "group = 1", COMPILED.format(1)),
    Edit("passes/compiled/helpers.py", "            self.counters[FAILED] = 1\n", "            pass\n", FAILS),
    # The text form of strategies.
    Edit(
        "strategy.py",
        r"""re.split(r",(?=[^,=]*=)", parameters)""",
        """parameters.split(",")""",
        TEXT_FORM.format("test_parse_strategy"),
    ),
    Edit(
        "strategy.py",
        """separators=(",", ":")) if nested else""",
        """separators=(",", ":")) if not nested else""",
        TEXT_FORM.format("test_a_spelled_vector_is_read_back"),
    ),
    Edit(
        "strategy.py",
        """return (value,) if "array" in types and not""",
        """return value if "array" in types and not""",
        TEXT_FORM.format("test_parse_strategy"),
    ),
    Edit("strategy.py", " or key.strip() in values:", ":", TEXT_FORM.format("test_a_wrong_use_gets_a_sentence")),
    Edit(
        "strategy.py",
        """if value != ("auto" if defaults else fields[name].default)}""",
        "}",
        TEXT_FORM.format("test_a_spelled_strategy_is_read_back"),
    ),
    # Intervals.
    Edit(
        "metrics.py",
        "student(number - 1) * np.sqrt",
        "student(number) * np.sqrt",
        INTERVALS.format("test_a_mean_is_its_standard_error_times_t_and_one_text_has_no_interval"),
    ),
    Edit(
        "metrics.py",
        "of(total[..., None, :] - rows)",
        "of(rows)",
        INTERVALS.format("test_a_mean_is_its_standard_error_times_t_and_one_text_has_no_interval"),
    ),
    Edit("metrics.py", "np.minimum(worth, total)", "total", INTERVALS.format("test_texts_are_the_unit_of_a_share")),
    Edit(
        "metrics.py",
        "rows = _by_text(np.asarray(rows, dtype=float), texts)",
        "rows = np.asarray(rows, dtype=float)",
        INTERVALS.format("test_texts_are_the_unit_of_a_share"),
    ),
    # The queue of the page.
    Edit("../app/machine/queue.py", "for key in (visitor.address, visitor):", "for key in (visitor,):", FAIR),
    Edit(
        "../app/machine/queue.py",
        "take_turns(take_turns(list(waiting), visitor_of), lambda",
        "take_turns(list(waiting), lambda",
        FAIR,
    ),
    Edit("../app/machine/queue.py", "rounds[key(item)] += 1", "pass", FAIR),
    Edit(
        "../app/machine/queue.py",
        "self._waiting, lambda one: one[0])[-1]",
        "self._waiting, lambda one: one[0])[0]",
        SLOTS,
    ),
    Edit("../app/machine/queue.py", "        self._free += 1\n", "", SLOTS),
)


def copy(folder: Path) -> None:
    """The tree as it is, with its large files linked."""
    for name in ("specviz", "app", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "assets").symlink_to(ROOT / "assets")


def passes(folder: Path, *tests: str) -> bool:
    """Whether tests pass in a copy.

    Raises:
        RuntimeError: if they could not be run.
    """
    asked = [sys.executable, "-B", "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    if done.returncode not in (0, 1):  # 1: a test failed
        raise RuntimeError(f"{', '.join(tests)} could not be run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


def applied(edit: Edit, text: str) -> str | None:
    """The text of a file with an edit, None where what it replaces does not stand there once."""
    return text.replace(edit.old, edit.new) if text.count(edit.old) == 1 else None


def main(words: list[str]) -> int:
    edits = [edit for edit in EDITS if not words or any(word in edit.file + edit.test for word in words)]
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copy(folder)
        if not passes(folder, *{edit.test: None for edit in edits}):
            print("A test fails without any edit, so it says nothing about them.")
            return 1
        for edit in edits:
            path = folder / "specviz" / edit.file
            text = path.read_text(encoding="utf-8")
            mutant = applied(edit, text)
            if mutant is None:
                result = "not found"
            else:
                path.write_text(mutant, encoding="utf-8")
                result = "survived" if passes(folder, edit.test) else "killed"
                path.write_text(text, encoding="utf-8")
            bad += result != "killed"
            print(f"{result:10} {edit.file}: {' '.join(edit.old.split())} -> {' '.join(edit.new.split())}", flush=True)
    print(f"{len(edits) - bad} of {len(edits)} killed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
