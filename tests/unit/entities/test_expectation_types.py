"""Tests of what is known of Great Expectations without importing it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolkit.entities.documents import Value
from toolkit.entities.expectation_types import expectation_types

ROOT = Path(__file__).parents[3]
FILE = ROOT / "toolkit" / "entities" / "schemas" / "expectations.json"


@pytest.mark.slow
@pytest.mark.extended
def test_the_file_is_what_the_installed_library_gives(tmp_path: Path) -> None:
    written = tmp_path / "expectations.json"
    script = [sys.executable, str(ROOT / ".ci" / "expectations.py"), str(written)]
    subprocess.run(script, check=True, capture_output=True, timeout=240)
    assert written.read_text() == FILE.read_text(), "run .ci/expectations.py"


def test_housekeeping_of_the_library_is_no_argument() -> None:
    for each in expectation_types().values():
        assert not {"id", "meta", "notes", "batch_id", "result_format", "windows", "severity"} & each.arguments.keys()


def test_spark_cannot_do_what_only_databases_can() -> None:
    types = expectation_types()
    assert types["expect_table_row_count_to_be_between"].on_spark
    assert types["expect_column_values_to_be_increasing"].on_spark
    assert not types["expect_column_values_to_match_like_pattern"].on_spark
    assert not types["expect_table_row_count_to_equal_other_table"].on_spark


@pytest.mark.parametrize(
    ("type_name", "argument", "value", "allowed"),
    [
        ("expect_column_values_to_be_between", "min_value", 1.5, True),
        ("expect_column_values_to_be_between", "min_value", None, True),
        ("expect_column_values_to_be_between", "min_value", "2026-03-01", True),
        ("expect_column_values_to_be_between", "min_value", "2026-03-01 10:00:00", True),
        ("expect_column_values_to_be_between", "min_value", "many", False),
        ("expect_column_values_to_be_between", "min_value", True, False),
        ("expect_column_values_to_be_between", "mostly", 0.995, True),
        ("expect_column_values_to_be_between", "mostly", 1.1, False),
        ("expect_column_values_to_be_between", "mostly", None, False),
        ("expect_table_row_count_to_equal", "value", 4, True),
        ("expect_table_row_count_to_equal", "value", 4.5, False),
        ("expect_column_values_to_be_in_set", "value_set", ["a", 1, True], True),
        ("expect_column_values_to_be_in_set", "value_set", [], False),
        ("expect_column_values_to_not_be_null", "condition_parser", "pandas", False),
        ("expect_column_values_to_not_be_null", "condition_parser", "spark", True),
    ],
)
def test_an_argument_has_its_values(type_name: str, argument: str, value: Value, *, allowed: bool) -> None:
    assert expectation_types()[type_name].allows(argument, value) is allowed
