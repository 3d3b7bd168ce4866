"""Names of partitions as Hive writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.catalog.partition_name import (
    NULL,
    escape,
    joined_name,
    matching_names,
    split_name,
    unescape,
    values_by_key,
    values_of,
)

_KEYS = st.lists(st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True), min_size=1, max_size=4, unique=True)


@given(st.text(min_size=1))
def test_what_is_escaped_is_unescaped_to_what_it_was(text: str) -> None:
    assert unescape(escape(text)) == text


@given(st.data(), _KEYS)
def test_a_name_is_split_into_the_values_that_it_was_joined_of(data: st.DataObject, keys: list[str]) -> None:
    values = tuple(data.draw(st.text(min_size=1)) for _ in keys)
    assert split_name(joined_name(keys, values)) == dict(zip(keys, values, strict=True))
    assert values_of(joined_name(keys, values)) == values


def test_special_characters_are_escaped_as_hive_does_and_all_others_stay() -> None:
    assert escape("a/b=c:d%e'f\"g#h*i?j\\k{l[m]n^o\x7f\n") == (
        "a%2Fb%3Dc%3Ad%25e%27f%22g%23h%2Ai%3Fj%5Ck%7Bl%5Bm%5Dn%5Eo%7F%0A"
    )
    assert escape("a b}|~`!@$&()_-+,.;<>é€😀") == "a b}|~`!@$&()_-+,.;<>é€😀"


def test_an_empty_value_is_the_name_of_null() -> None:
    assert joined_name(["DS", "region"], ["2026-03-01", ""]) == f"ds=2026-03-01/region={NULL}"


@pytest.mark.parametrize("text", ["100%", "%zz", "%2", "%"])
def test_a_percent_sign_that_no_digits_follow_stays(text: str) -> None:
    assert unescape(text) == text


@pytest.mark.parametrize("name", ["", "ds", "ds=1/", "=1", "ds=1/ds=2"])
def test_what_is_no_name_is_refused_with_what_was_expected(name: str) -> None:
    with pytest.raises(ValueError, match="expected KEY=VALUE"):
        split_name(name)


def test_values_are_found_under_keys_in_any_spelling() -> None:
    assert values_by_key("ds=1/region=us", ["DS", "Region", "country"]) == {"DS": "1", "Region": "us"}


def test_names_match_by_whole_values_of_the_keys_that_are_asked_for() -> None:
    names = ("ds=1/region=in", "ds=1/region=us", "ds=10/region=us")
    assert matching_names(names, {"ds": "1"}) == names[:2]
    assert matching_names(names, {"region": "us", "ds": "10"}) == names[2:]
    assert matching_names(names, {}) == names
    assert matching_names(names, {"country": "us"}) == ()
