"""Expectations about the data of a feed: suites, and the settings that name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolkit.el import Frequency
from toolkit.entities.vocabulary import DataFormat, ExpectationSeverity, OnFailure


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """A thing that is expected of the data.

    Attributes:
        type: as Great Expectations names it, for example ``expect_column_values_to_not_be_null``.
        kwargs: its arguments; texts may have ``${YEAR}``, ``${previous.row_count}`` and the like in them.
        severity: only `ExpectationSeverity.CRITICAL` blocks.
        meta: for people.
    """

    type: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    severity: ExpectationSeverity = ExpectationSeverity.CRITICAL
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """A file in ``expectations/``; its name is the file's.

    Attributes:
        path: of the file in the config repo.
    """

    name: str
    path: str
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Quality:
    """Validation of the instances of a feed.

    Attributes:
        suites: names; all are validated in one reading of the data. Empty: not validated, see `Feed.quality_on`.
        on_failure: what becomes of data that fails.
        format: of the files of a path feed; a partition's is its table's.
        options: of Spark's reader, for example ``header``; path feeds only.
        sample: the part of the rows that is validated, above 0, to 1.
        budget: how long validation may take; validation that takes longer fails.
    """

    suites: tuple[str, ...]
    on_failure: OnFailure = OnFailure.BLOCK
    format: DataFormat = DataFormat.PARQUET
    options: Mapping[str, str] = field(default_factory=dict)
    sample: float = 1.0
    budget: Frequency = field(default_factory=lambda: Frequency.parse("minutes(30)"))


def is_pii(tags: Mapping[str, str]) -> bool:
    """Return whether tags mark personal data: the word pii is in the key or the value of one."""
    return any("pii" in re.split(r"[^a-z0-9]+", text.lower()) for pair in tags.items() for text in pair)
