"""Every sentence of an error is the one in tests/wording.json; `make wording` renews that file."""

import json

import pytest

from tests.wording import CASES, SNAPSHOT, sentence


@pytest.mark.parametrize("name", CASES)
def test_the_wording_of_errors(name):
    text = sentence(name)
    assert text == json.loads(SNAPSHOT.read_text(encoding="utf-8"))[name]
    assert text != "no error" and text.endswith((".", "?"))
