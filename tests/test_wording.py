"""Every sentence of an error is the one in tests/wording.json; `make wording` renews that file."""

import json

import pytest

from tests.wording import CASES, SNAPSHOT, sentences

SENTENCES = sentences()


@pytest.mark.parametrize("name", CASES)
def test_the_wording_of_errors(name):
    assert SENTENCES[name] == json.loads(SNAPSHOT.read_text(encoding="utf-8"))[name]


def test_every_case_is_an_error_in_a_sentence():
    assert [name for name, text in SENTENCES.items() if text == "no error" or not text.endswith((".", "?"))] == []
