"""What the process that judges is told, and what it answers: two files of JSON, private to the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FORMAT = 1
"""Of both files; a process that finds another number refuses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedPart:
    """See `toolkit.actions.gate.Part`.

    Attributes:
        uri: of the directory, as Spark takes it.
        keys: columns that the files do not have, with their texts.
    """

    uri: str
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedExpectation:
    """An expectation with nothing left to fill in.

    Attributes:
        suite: name.
        position: in the suite, from 0.
    """

    suite: str
    position: int
    type: str
    kwargs: Mapping[str, Any]
    severity: str
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is judged, by what.

    Attributes:
        parts: of the data; they have one format.
        format: of Spark's reader.
        options: of Spark's reader.
        schema: Spark's DDL; empty: the files tell.
        sample: the part of the rows that is read, above 0, to 1.
        shows_values: values of rows may be in the answer; never those of feeds tagged pii.
        expectations: of all suites, each with its place in its suite.
    """

    parts: tuple[AskedPart, ...]
    format: str
    expectations: tuple[AskedExpectation, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    schema: str = ""
    sample: float = 1.0
    shows_values: bool = False
    version: int = FORMAT


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What became of one expectation.

    Attributes:
        suite, position, type, kwargs, severity: of the `AskedExpectation`.
        column: that it is about; empty: the table, or several.
        success: it holds. False too when it could not be computed.
        observed: what was found, as short JSON, for example a count or a mean; "" when there is none or it is a value.
        rows: that were looked at; None: the expectation counts none.
        unexpected: of them, so many are not as expected.
        values: a few that are not, at most 20; empty unless `Question.shows_values`.
        error: why it could not be computed, in one line without values; empty: it could.
    """

    suite: str
    position: int
    type: str
    severity: str
    success: bool
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    column: str = ""
    observed: str = ""
    rows: int | None = None
    unexpected: int | None = None
    values: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the process that judges has found.

    Attributes:
        findings: one for each expectation asked, in their order; an answer with fewer is none.
        rows: of the data, all of it.
        seconds: it took, without the start of Spark.
        engine: name and version of what judged.
        refused: why nothing could be judged: unreadable data, a library that is missing; empty: it was judged.
    """

    findings: tuple[Finding, ...] = ()
    rows: int | None = None
    seconds: float = 0.0
    engine: str = ""
    refused: str = ""
    version: int = FORMAT
