"""Texts of others are only text in markdown."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.rendering.markdown import code, details, escaped, table


@given(st.text())
def test_escaped_text_has_no_markup_and_reads_the_same(text: str) -> None:
    found = escaped(text)
    assert not set("`*_[]<|$@!#\\\n").intersection(found.replace("&#", ""))
    one_line = " ".join(text.split())
    if "&" not in one_line and one_line.isprintable() and one_line.isascii():
        assert html.unescape(found) == one_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("days(10)", "`days(10)`"),
        ("a|b", r"`a\|b`"),
        ("a `b` c", "``a `b` c``"),
        ("`b", "`` `b ``"),
        ("``b", "``` ``b ```"),
        ("two\nlines", "`two lines`"),
        ("", ""),
        ("  ", ""),
    ],
)
def test_code_stands_in_one_cell(text: str, expected: str) -> None:
    assert code(text) == expected


def test_long_code_is_cut() -> None:
    assert code("x" * 200, most=10) == "`" + "x" * 9 + "\N{HORIZONTAL ELLIPSIS}`"


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_a_row_has_as_many_cells_as_there_are_texts(texts: list[str]) -> None:
    *_, row = table([""] * len(texts), [[code(text) for text in texts]])
    assert row.replace(r"\|", "").count("|") == len(texts) + 1
    assert "\n" not in row


def test_details_have_empty_lines_around_what_they_hold() -> None:
    assert list(details("<b>", ["| a |"])) == [
        "<details>",
        "<summary>&#60;b></summary>",
        "",
        "| a |",
        "",
        "</details>",
        "",
    ]
