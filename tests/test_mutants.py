"""The edits of `make mutants` still fit the code, so that it does not stop asking unnoticed."""

import pytest

from tests.mutants import EDITS, ROOT, mutant_of


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit.file}: {edit.old.split()[0]}")
def test_every_edit_applies_and_names_a_test(edit):
    mutant = mutant_of(edit)
    assert mutant is not None and edit.new != edit.old, (
        "give tests/mutants.toml the text that stands there now"
    )
    compile(mutant, edit.file, "exec")
    file, name = edit.test.split("[")[0].split("::")
    assert f"def {name}(" in (ROOT / file).read_text("utf-8")
