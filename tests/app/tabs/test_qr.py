"""The code of a link."""

import json

import pytest

from app.tabs.parts.qr import qr_code


def test_the_code_of_a_link_is_a_picture():
    image = json.loads(qr_code({"link": "https://example.org/?seed=3"}))["image"]
    assert image.startswith("data:image/svg+xml") and "viewBox" in image


@pytest.mark.parametrize(
    "request_", [{}, None, {"link": "javascript:1"}, {"link": "https://" + "a" * 3000}]
)
def test_only_a_link_has_a_code(request_):
    assert "error" in json.loads(qr_code(request_))
