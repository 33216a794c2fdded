"""A failure ends in one sentence, whatever kind of handler it happens in."""

import pytest

from app.parts.failures import explained, reason


def handler(error):
    raise error


def generator(error):
    yield "begun"
    raise error


ENDS = {
    handler: lambda made, error: made(error),
    generator: lambda made, error: list(made(error))[-1],
}


@pytest.mark.parametrize("work", ENDS)
def test_every_kind_of_handler_ends_in_a_sentence(work, caplog):
    made = explained("It failed.", lambda text: {"said": text}, lambda error: f"{error} Try again.")(work)
    assert ENDS[work](made, ValueError("It is full.")) == {"said": "It is full. Try again."}
    assert not caplog.text
    assert ENDS[work](made, RuntimeError("secret")) == {"said": "It failed. See the server's log for the reason."}
    assert "secret" in caplog.text


def test_a_sentence_in_the_middle_of_a_run_is_shown_and_logged(caplog):
    assert reason(ValueError("The cache is full.")) == "The cache is full."
    assert "The cache is full." in caplog.text
