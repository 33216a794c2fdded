"""Which pages may show this one in a frame."""

import pytest

from app.service.http.policy import FRAMES, frame_ancestors


def test_a_setting_names_the_pages_that_may_show_this_one(monkeypatch):
    monkeypatch.delenv("SPECVIZ_FRAMES", raising=False)
    assert frame_ancestors() == FRAMES
    for origins in ("'none'", "https://course.example.org", "'self' http://localhost:*"):
        monkeypatch.setenv("SPECVIZ_FRAMES", origins)
        assert frame_ancestors() == origins


@pytest.mark.parametrize("wrong", ["*", "https://a.org; script-src *", "javascript:1", "", "a\nb"])
def test_nothing_else_gets_into_the_policy(monkeypatch, wrong):
    monkeypatch.setenv("SPECVIZ_FRAMES", wrong)
    with pytest.raises(ValueError, match="SPECVIZ_FRAMES must be origins"):
        frame_ancestors()
