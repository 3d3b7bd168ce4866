"""Columns that expectations look at, and the expectations that one reading of all rows answers together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.quality.documents import RequestedExpectation


def is_one_aggregate(expectation: RequestedExpectation) -> bool:
    """Return whether Great Expectations computes an expectation by aggregates of all rows, or by the schema."""
    return expectation.type in _AGGREGATES and _OF_SOME_ROWS.isdisjoint(expectation.kwargs)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AGGREGATES = _words(
    """
    expect_column_max_to_be_between expect_column_mean_to_be_between expect_column_min_to_be_between
    expect_column_stdev_to_be_between expect_column_sum_to_be_between
    expect_column_proportion_of_non_null_values_to_be_between
    expect_column_value_lengths_to_be_between expect_column_value_lengths_to_equal
    expect_column_values_to_be_between expect_column_values_to_be_in_set expect_column_values_to_not_be_in_set
    expect_column_values_to_be_null expect_column_values_to_not_be_null
    expect_column_values_to_match_regex expect_column_values_to_not_match_regex
    expect_column_values_to_match_regex_list expect_column_values_to_not_match_regex_list
    expect_column_to_exist expect_table_column_count_to_be_between expect_table_column_count_to_equal
    expect_table_columns_to_match_ordered_list expect_table_columns_to_match_set
    expect_table_row_count_to_be_between expect_table_row_count_to_equal
    """
)
_OF_SOME_ROWS = frozenset({"row_condition", "condition_parser"})


def columns_of(expectations: Iterable[RequestedExpectation]) -> frozenset[str] | None:
    """The columns that are looked at; None: all may be, or how many there are."""
    names: set[str] = set()
    for each in expectations:
        if each.type.startswith("expect_table_row_count_to_") and not each.type.endswith("_other_table"):
            continue
        if not each.type.startswith(_NAMES_COLUMNS) or not _NEEDS_ALL.isdisjoint(each.kwargs):
            return None
        given = [each.kwargs.get(name) for name in ("column", "column_A", "column_B")]
        for name in (*given, *(each.kwargs.get("column_list") or ())):
            if isinstance(name, str):
                names |= {name, name.partition(".")[0]}
    return frozenset(names)


_NAMES_COLUMNS = ("expect_column_", "expect_compound_columns_", "expect_multicolumn_", "expect_select_column_")
_NEEDS_ALL = frozenset({"row_condition", "column_index"})
"""Arguments that may name other columns, or count them."""
