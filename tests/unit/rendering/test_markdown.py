"""Texts of others are only text in markdown."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from toolkit.printable import on_one_line
from toolkit.rendering.markdown import code, details, escaped, prose, table

MARKDOWN = MarkdownIt("commonmark")


@given(st.text())
def test_escaped_text_has_no_markup_and_reads_the_same(text: str) -> None:
    found = escaped(text)
    assert not set("`*_[]<|$@!#\\\n").intersection(found.replace("&#", ""))
    one_line = " ".join(text.split())
    if "&" not in one_line and one_line.isprintable() and one_line.isascii():
        assert html.unescape(found) == one_line


@pytest.mark.parametrize("in_cell", [False, True])
@given(text=st.text(alphabet="ab_`*|<&$@#!()[]:,. \\\n\u202e") | st.text())
def test_prose_has_no_markup_but_code_and_reads_the_same(text: str, *, in_cell: bool) -> None:
    found = prose(text, in_cell=in_cell)
    (block,) = MARKDOWN.parseInline(found.replace(r"\|", "|") if in_cell else found)  # as a table reads its cells
    children = block.children or []
    assert {each.type for each in children} <= {"text", "code_inline"}
    assert "".join(each.content for each in children) == on_one_line(" ".join(text.split()))
    assert not set("`*_[]<$@!#\\").intersection(*(each.content for each in children if each.type == "text"), "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clicks on primary: 3 instances", "clicks on primary: 3 instances"),
        ("crm_customers on primary (was crm_users):", "`crm_customers` on primary (was `crm_users`):"),
        ("/data/${YEAR} -> none: 1 (a_b), c", "`/data/${YEAR}` -> none: 1 (`a_b`), c"),
        ("a|b `c` x_(1)", "`a|b` `` `c` `` `x_(1)`"),
    ],
)
def test_names_and_templates_in_prose_are_code(text: str, expected: str) -> None:
    assert prose(text) == expected
    assert prose(text, in_cell=True) == expected.replace("|", r"\|")


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
