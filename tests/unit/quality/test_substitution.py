from __future__ import annotations

from typing import Any

import pytest

from tests.unit.entities.config_repo import FEED, repository
from toolkit.el import parse_instant
from toolkit.entities.quality import Expectation, Suite
from toolkit.entities.vocabulary import ExpectationSeverity
from toolkit.quality.documents import RequestedExpectation
from toolkit.quality.substitution import Filled, UnknownSuiteVariable, fill

LATE = "2026-03-01T23:40Z"


def filled(*kwargs: dict[str, Any], zone: str = "UTC", rows: int | None = None) -> Filled:
    repo = repository({"feeds/clicks.yaml": FEED + f"path_timezone: {zone}\n"})
    suite = Suite(
        name="clicks",
        path="expectations/clicks.yaml",
        expectations=tuple(
            Expectation(type="expect_x", kwargs=each, severity=ExpectationSeverity.WARNING) for each in kwargs
        ),
    )
    return fill([suite], repo.feed("clicks"), repo.cluster("primary"), parse_instant(LATE), {"row_count": rows})


def one(value: object, *, zone: str = "UTC", rows: int | None = None) -> object:
    return filled({"value": value}, zone=zone, rows=rows).expectations[0].kwargs["value"]


def test_a_text_that_is_one_variable_becomes_its_number_or_text() -> None:
    assert one("${YEAR}") == 2026
    assert one("${MONTH}") == 3
    assert one("${instance.key}") == LATE
    assert one("${cluster.name}") == "primary"
    assert one("${previous.row_count}", rows=0) == 0


def test_in_a_longer_text_variables_stand_as_in_paths() -> None:
    assert one("${YEAR}-${MONTH}-${DAY} ${HOUR}:${MINUTE}") == "2026-03-01 23:40"
    assert one("${YEAR}-${MONTH}-${DAY}", zone="Europe/Berlin") == "2026-03-02"
    assert one("^[a-z]{2}$") == "^[a-z]{2}$"


def test_variables_are_filled_in_lists_and_mappings_and_other_values_stay() -> None:
    assert one([["${YEAR}", 1.5], {"a": "x${DAY}", "b": None}]) == [[2026, 1.5], {"a": "x01", "b": None}]


def test_what_needs_an_earlier_instance_is_left_out_of_the_first_one_and_noted() -> None:
    found = filled({"min_value": "${previous.row_count}"}, {"value": 1})
    assert found.expectations == (
        RequestedExpectation(suite="clicks", position=1, type="expect_x", kwargs={"value": 1}, severity="warning"),
    )
    where = "expectations/clicks.yaml: expectations[0] (expect_x)"
    assert found.notes == (f"{where} is left out: no earlier instance gives previous.row_count",)


def test_a_variable_that_nothing_fills_in_is_refused() -> None:
    with pytest.raises(UnknownSuiteVariable, match=r"\$\{YAER\}.*did you mean YEAR"):
        filled({"value": ["${YAER}"]})
    with pytest.raises(UnknownSuiteVariable):
        filled({"value": "${}"})
