"""The promise of sizes: no room grows unnoticed."""

from tests import house


def test_no_room_is_larger_than_its_limit():
    limits = house.read_limits()
    tokens, _ = house.sizes()
    assert set(tokens) == set(limits), "a room came or went: python -m tests.house --renew"
    larger = [
        f"{room} has {count:,} tokens of code, at most {limits[room]:,}"
        for room, count in tokens.items()
        if count > limits[room]
    ]
    hint = "Make it smaller, or raise its limit, python -m tests.house --renew, and say what for."
    assert not larger, f"{'; '.join(larger)}. {hint}"


def test_tokens_are_those_of_code():
    source = '"""A module."""\n\n# a comment\nx = 1\n\n\ndef f():\n    """Said."""\n    return x\n'
    assert house.count_tokens(source) == (3 + 5 + 2, 3)
