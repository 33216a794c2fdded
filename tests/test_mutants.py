"""The edits of `make mutants` still fit the code, so that it does not stop asking unnoticed."""

import pytest

from tests.mutants import EDITS, ROOT, applied


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit.file}: {edit.old.split()[0]}")
def test_every_edit_applies_and_names_a_test(edit):
    text = (ROOT / "specviz" / edit.file).read_text("utf-8")
    mutant = applied(edit, text)
    assert mutant is not None and mutant != text, "give tests/mutants.py the text that stands there now"
    compile(mutant, edit.file, "exec")
    file, name = edit.test.split("[")[0].split("::")
    assert f"def {name}(" in (ROOT / file).read_text("utf-8")
