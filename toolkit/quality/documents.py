"""Request and answer of the validation process: two files of JSON, private to the user."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from toolkit.errors import Failed
from toolkit.foreign_json import MOST_BYTES, BadJson, parse_json
from toolkit.plain_files import replace_file

_Kind = TypeVar("_Kind")
_OWNER_ONLY = 0o600

FORMAT = 1
"""Format of both files; a process that finds another number refuses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedPart:
    """Directory of data to validate, as the validation process gets it.

    Attributes:
        uri: of the directory, as Spark takes it.
        keys: of a partition, its keys with their texts.
    """

    uri: str
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedExpectation:
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
    """Request of a validation: the data and the expectations.

    Attributes:
        parts: of the data; they have one format.
        format: of Spark's reader.
        options: of Spark's reader.
        columns: of a table, see `toolkit.actions.validation.TableReading`; empty: the files tell.
        keys: the same of its keys.
        sample: the part of the rows that is read, above 0, to 1.
        shows_values: values of rows may be in the answer; never those of feeds tagged pii.
        allows_sql: the operator allows SQL in suites; each text is checked before it runs.
        expectations: of all suites, each with its place in its suite.
    """

    parts: tuple[RequestedPart, ...]
    format: str
    expectations: tuple[RequestedExpectation, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    sample: float = 1.0
    shows_values: bool = False
    allows_sql: bool = False
    version: int = FORMAT


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectationResult:
    """Result of one expectation.

    Attributes:
        suite, position, type, kwargs, severity: of the `RequestedExpectation`.
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
    """Answer of the validation process.

    Attributes:
        findings: one for each expectation asked, in their order; an answer with fewer is none.
        rows: of the data, all of it.
        seconds: it took, without the start of Spark.
        engine: name and version of what validated.
        refused: why nothing could be validated: unreadable data, a library that is missing; empty: it was validated.
    """

    findings: tuple[ExpectationResult, ...] = ()
    rows: int | None = None
    seconds: float = 0.0
    engine: str = ""
    refused: str = ""
    version: int = FORMAT


class NotUnderstood(Failed):
    """A file is no question or no answer of this version.

    Args:
        path: of the file.
        why: what about it is wrong, without values.
    """

    def __init__(self, *, path: Path, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"{path} is not understood: {why}")


def write_question(path: Path, question: Question) -> None:
    """Write the question to a file that only its owner may read, in one step."""
    write_private(path, json.dumps(asdict(question)))


def write_answer(path: Path, answer: Answer) -> None:
    """Write the file, for its owner alone, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    write_private(path, json.dumps(asdict(answer)))


def read_question(path: Path) -> Question:
    """Return the request that `write_question` has written.

    Raises:
        NotUnderstood: it lacks something, has something more, or is of another version.
        OSError: it cannot be read; it may not be there.
    """
    return _read(path, Question)


def read_answer(path: Path) -> Answer:
    """Return the answer that `write_answer` has written; see `read_question` for what is raised."""
    return _read(path, Answer)


def write_private(path: Path, text: str) -> None:
    """Write a file for its owner alone; raises as `replace_file`."""
    replace_file(path, text.encode(), _OWNER_ONLY)


def _read(path: Path, kind: type[_Kind]) -> _Kind:
    try:
        with path.open("rb") as file:
            facts = parse_json(file.read(MOST_BYTES + 1))
    except BadJson as error:
        raise NotUnderstood(path=path, why=str(error)) from error
    if not isinstance(facts, dict) or facts.get("version") != FORMAT:
        raise NotUnderstood(path=path, why=f"it is not of version {FORMAT}")
    try:
        return _made(kind, facts, kind.__name__)
    except _Wrong as error:
        raise NotUnderstood(path=path, why=str(error)) from error


class _Wrong(Exception):  # noqa: N818 - said at once as `NotUnderstood`
    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where} {what}")


def _made(kind: type[_Kind], facts: object, where: str) -> _Kind:
    """Every field is there, those with a default too: what is missing was cut off, or is of another version."""
    names = {each.name for each in fields(cast("Any", kind))}  # only dataclasses come here
    if not isinstance(facts, dict) or set(facts) != names:
        raise _Wrong(where, f"has not exactly the fields {', '.join(sorted(names))}")
    hints = get_type_hints(kind)
    return kind(**{name: _typed(hints[name], facts[name], f"{where}.{name}") for name in names})


def _typed(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - JSON
    if hint is Any:
        return value
    if get_origin(hint) in {Union, types.UnionType}:
        (inner,) = (each for each in get_args(hint) if each is not type(None))
        return None if value is None else _typed(inner, value, where)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_typed(get_args(hint)[0], each, where) for each in value)
    if get_origin(hint) is Mapping and isinstance(value, dict):
        return {name: _typed(get_args(hint)[1], each, where) for name, each in value.items()}
    if isinstance(hint, type) and is_dataclass(hint):
        return _made(hint, value, where)
    if type(value) is not hint and (hint, type(value)) != (float, int):
        raise _Wrong(where, "is not of its type")
    return value
