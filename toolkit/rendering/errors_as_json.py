"""An error of ours as a JSON document: its code, its message, and the facts that it has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime

from toolkit.errors import FeedctlError
from toolkit.ledger.errors import moment
from toolkit.ledger.runs.rows import Run
from toolkit.rendering.run_metadata import job_document

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def error_document(error: FeedctlError) -> dict[str, object]:
    """The error: `code` is stable, `message` is for people, the rest are the facts."""
    facts = {name: _value(value) for name, value in vars(error).items() if not name.startswith("_")}
    return {
        **facts,
        "code": getattr(error, "code", None) or _named(type(error)),
        "message": str(error),
        "retriable": error.retriable,
    }


def _named(kind: type[FeedctlError]) -> str:
    """The code of an error that has none of its own: the name of its class, in words."""
    return _WORD.sub("_", kind.__name__).lower()


def _value(value: object) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Run):
        return job_document(value)
    if isinstance(value, datetime):
        return moment(value)
    return _compound(value)


def _compound(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [_value(each) for each in value]
    if is_dataclass(value):
        return {each.name: _value(getattr(value, each.name)) for each in fields(value)}
    return str(value)
