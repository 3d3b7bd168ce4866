"""Comments that speak to the linter are found, and texts that only look like them are not."""

from __future__ import annotations

import pytest

from toolkit.linter.suppression import Comment, comments


def only(text: str) -> Comment:
    (found,) = comments(text.encode())
    return found


def test_a_comment_names_rules_and_a_reason() -> None:
    found = only("a: 1  # feedctl: ignore[one, two] it is so\n")
    assert [each.id for each in found.rules] == ["one", "two"]
    assert found.reason == "it is so"
    assert (found.line, found.column, found.end_column, found.target) == (1, 7, 43, 1)


def test_a_named_rule_has_a_column() -> None:
    text = "ä: 1 #feedctl:ignore[ one ,two]"
    assert [text[each.column - 1 :][:3] for each in only(text).rules] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ignore[a] why", "why"),
        ("ignore[a]: why", "why"),
        ("ignore[a] - why not", "why not"),
        ("ignore[a]", ""),
        ("ignore[a] --", ""),
    ],
)
def test_a_reason_may_be_set_off(text: str, reason: str) -> None:
    assert only(f"a: 1 # feedctl: {text}").reason == reason


@pytest.mark.parametrize(
    "text", ["ignore", "ignore a", "ignore[]", "ignore[,]", "ignore [a] why", "disable[a] why", ""]
)
def test_what_is_not_understood_names_no_rule(text: str) -> None:
    assert only(f"a: 1 # feedctl: {text}").rules == ()


def test_a_comment_alone_on_its_line_is_about_the_next_line_that_is_none() -> None:
    found = comments(b"# feedctl: ignore[a] x\n# words\n  # feedctl: ignore[b] x\na: 1\n")
    assert [each.target for each in found] == [4, 4]
    assert all(each.alone for each in found)


def test_a_blank_line_ends_what_a_comment_is_about() -> None:
    assert only("# feedctl: ignore[a] x\n\na: 1\n").target == 2


def test_a_comment_at_the_end_of_a_file_is_about_itself() -> None:
    assert only("a: 1\n# feedctl: ignore[a] x\n").target == 3
    assert only("a: 1\n# feedctl: ignore[a] x").target == 2


@pytest.mark.parametrize(
    "text",
    [
        'a: "x # feedctl: ignore[a] y"\n',
        "a: 'x # feedctl: ignore[a] y'\n",
        "a: |\n  x # feedctl: ignore[a] y\n  z\n",
        "a: >-\n  # feedctl: ignore[a] y\n",
        "a: x# feedctl: ignore[a] y\n",
        '"# feedctl: ignore[a] y": 1\n',
        "a: feedctl: no YAML # feedctl: ignore[a] y\n",
        "a: 1 # see feedctl: the manual\n",
    ],
)
def test_a_text_is_no_comment(text: str) -> None:
    assert comments(text.encode()) == ()


@pytest.mark.parametrize("before", ["a: |\n  x\n", "a: 'x'\n", "a: [1,\n  2]\n", "a: x\n  y\n", "a: >-\n  x\n\n"])
def test_a_comment_after_a_value_is_found(before: str) -> None:
    found = only(f"{before}# feedctl: ignore[a] y\nb: 1\n")
    assert found.target == before.count("\n") + 2
