"""The code of a link."""

import json

import pytest

from app.tabs.parts.qr import qr_code


def test_the_code_of_a_link_is_a_square_with_three_corners():
    rows = json.loads(qr_code({"link": "https://example.org/?seed=3"}))["rows"]
    assert {len(row) for row in rows} == {len(rows)}
    corners = [rows[0][:7], rows[0][-7:], rows[-1][:7]]
    assert corners == ["1111111"] * 3 and rows[-1][-7:] != "1111111"


@pytest.mark.parametrize(
    "request_", [{}, None, {"link": "javascript:1"}, {"link": "https://" + "a" * 3000}]
)
def test_only_a_link_has_a_code(request_):
    assert "error" in json.loads(qr_code(request_))
