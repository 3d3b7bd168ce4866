"""Names in a message."""

from __future__ import annotations

from toolkit.linter.rules.base_entities import listed


def test_a_few_names_are_all_told_each_once() -> None:
    assert listed(["a", "b", "a"]) == "a, b"
    assert listed([]) == ""


def test_of_many_names_the_first_are_told() -> None:
    text = listed(f"n{number}" for number in range(1022))
    assert text.startswith("n0, n1, ")
    assert text.endswith("n18, n19 and 1,002 more")
