"""Properties in scripts of SQL stay in their places."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.programs.sql_text import UnusableSql, statements, without_texts
from toolkit.programs.substitution import UnknownProperty

NASTY = st.text(st.sampled_from("ab'\"`\\;-/*\n\r\t\0${}%u0 é\u2028\U0001f600")) | st.text(
    st.characters(blacklist_categories=["Cs"])
)


def texts(script: str, **properties: str) -> list[str]:
    return [each.text for each in statements(script, properties)]


def unescaped(text: str) -> str:
    """What Spark makes of a string without its quotes (ParserUtils.unescapeSQLString), as far as we write escapes."""
    return re.sub(r"\\(u0000|.)", lambda found: "\0" if found[1] == "u0000" else found[1], text, flags=re.DOTALL)


@given(value=NASTY, other=NASTY)
def test_a_text_between_quotes_is_that_text_and_nothing_more(value: str, other: str) -> None:
    (text,) = texts("SELECT 'x${v}y', '${w}' ", v=value, w=other)

    found = re.fullmatch(r"SELECT '((?:[^'\\]|\\.)*)', '((?:[^'\\]|\\.)*)'", text, re.DOTALL)
    assert found
    assert (unescaped(found[1]), unescaped(found[2])) == (f"x{value}y", other)


@given(value=NASTY)
def test_a_text_between_double_quotes_stays_there(value: str) -> None:
    (text,) = texts('SELECT "${v}" AS a', v=value)

    found = re.fullmatch(r'SELECT "((?:[^"\\]|\\.)*)" AS a', text, re.DOTALL)
    assert found
    assert unescaped(found[1]) == value


@given(value=NASTY.filter(lambda text: text and "\0" not in text))
def test_a_text_between_backticks_is_one_name(value: str) -> None:
    (text,) = texts("SELECT * FROM json.`${v}`", v=value)

    found = re.fullmatch(r"SELECT \* FROM json\.`((?:[^`]|``)*)`", text)
    assert found
    assert found[1].replace("``", "`") == value


@given(value=NASTY)
def test_a_text_without_quotes_is_one_number_or_name_or_refused(value: str) -> None:
    try:
        (text,) = texts("SELECT 1 -${v} FROM t", v=value)
    except UnusableSql:
        return
    assert re.fullmatch(r"SELECT 1 -(\w[\w.]*|\([-+][\w.]+\)) FROM t", text, re.ASCII)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("10", "10"),
        ("1.5e3", "1.5e3"),
        ("-10", "(-10)"),
        ("web.clicks", "web.clicks"),
        ("(ds='2012-04-21-00')", "((ds='2012-04-21-00'))"),
        (
            "(ds='A' AND region='us') OR (ds='B' AND region='us')",
            "((ds='A' AND region='us') OR (ds='B' AND region='us'))",
        ),
    ],
)
def test_what_may_stand_without_quotes(value: str, text: str) -> None:
    assert texts("SELECT ${v}", v=value) == [f"SELECT {text}"]


def test_a_filter_of_a_missing_optional_input_selects_nothing() -> None:
    assert texts(
        "SELECT * FROM t WHERE ${falcon_clicks_partition_filter_hive}", falcon_clicks_partition_filter_hive=""
    ) == ["SELECT * FROM t WHERE (false)"]


@pytest.mark.parametrize(
    ("script", "value", "problem"),
    [
        ("SELECT ${v}", "a b", "line 1: the property v has a text that is neither one number nor one name; put quotes"),
        ("SELECT ${v}", "", "the property v has nothing; put quotes around it for a text, '${v}'"),
        ("SELECT ${v}", "(ds='a') OR 1=1", "neither one number nor one name"),
        ("SELECT 1;\n\nSELECT r'${v}'", "it's", "line 3: the property v has a quote or a zero, which a raw string"),
        ("SELECT `${v}`", "", "the property v is empty, which no name is"),
        ("SELECT '${v}'", "\ud800", "the property v has half a character"),
        ("SELECT ${v}'a\\'b'", "r", "found a quote or :// right behind ${v}"),
        ("SELECT ${v}r'a\\'", "r", "found a quote or :// right behind ${v}"),
        ("SELECT 1;\nSELECT 'x", "", 'line 2: found no end of what begins with "\'x"'),
        ("SELECT `a``", "", "found no end"),
        ("SELECT /* x", "", "found no end"),
        ("SELECT /* a /* b */ c */ 1", "", "found a comment within a comment"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(script: str, value: str, problem: str) -> None:
    with pytest.raises(UnusableSql, match=re.escape(problem)):
        statements(script, {"v": value})


def test_an_unknown_property_is_named_with_what_is_near() -> None:
    with pytest.raises(UnknownProperty, match=r"line 2 refers to \$\{clics\}.*did you mean clicks\?"):
        statements("SELECT 1;\nSELECT '${clics}'", {"clicks": "x"})


def test_statements_are_told_apart_by_what_spark_takes_for_the_end_of_one() -> None:
    script = """-- a comment; with ${nothing}
SELECT ';', ";", `;`, r'\\;' /* ; */ -- ;
  , '\\${v}' ;
;; /* only a comment */ ;
SELECT 2
"""
    found = statements(script, {"v": "x"})

    assert [(each.number, each.line) for each in found] == [(1, 2), (2, 5)]
    assert found[0].text.endswith("'\\${v}'")
    assert found[1].text.endswith("SELECT 2")


@pytest.mark.parametrize("first", ["BEGIN", "l1: BEGIN", "-- why\nbegin"])
def test_a_compound_statement_goes_on_to_the_end_of_the_script(first: str) -> None:
    script = f"SELECT 1; {first}\n DECLARE x INT; SELECT '${{v}}'; END;"

    _, last = texts(script, v="a'")

    assert last.endswith("DECLARE x INT; SELECT 'a\\''; END;")


def test_a_statement_without_texts_has_neither_texts_nor_comments() -> None:
    sql = "INSERT INTO `a b` /* hunter2 */ SELECT c, 'hunter2', \"hunter2\", r'hunter2' FROM d -- hunter2"
    assert without_texts(sql) == "INSERT INTO `a b`   SELECT c, '?', '?', '?' FROM d  "
