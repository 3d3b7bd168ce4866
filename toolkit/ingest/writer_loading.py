"""Record writers by name.

A config repo names built-in formats only: a pull request must never choose code that is imported. Own writers are
for callers of the API, by an entry point of the group or as ``module:Class``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, cast

from toolkit.errors import InvalidInput
from toolkit.ingest.delimited import Delimited, WrongWriterSettings
from toolkit.ingest.record_writer import RecordWriter
from toolkit.ingest.strict_json import StrictJson
from toolkit.ingest.strict_regex import StrictRegex

ENTRY_POINTS = "feedctl.record_writers"
BUILT_IN = {"delimited": Delimited, "json": StrictJson, "regex": StrictRegex}
"""The writers that a config repo may name."""


class UnknownRecordWriter(InvalidInput):
    """No record writer has the name, or it cannot be loaded.

    Args:
        name: what was asked for.
        cause: why it is none.
    """

    code = "unknown_record_writer"

    def __init__(self, *, name: str, cause: str) -> None:
        self.name, self.cause = name, cause
        super().__init__(f"there is no record writer {name!r}: {cause}; built in are {', '.join(BUILT_IN)}")


def built_in_writer(name: str, settings: Mapping[str, Any]) -> RecordWriter:
    """Return a built-in writer; it imports nothing that `name` says.

    Raises:
        UnknownRecordWriter: none has this name.
        WrongWriterSettings: the settings are not its own.
    """
    if name not in BUILT_IN:
        raise UnknownRecordWriter(name=name, cause="a config repo can only name built-in ones")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
    return _built(name, BUILT_IN[name], values)


def load_writer(name: str, settings: Mapping[str, Any] | None = None) -> RecordWriter:
    """Return a built-in writer, one of an entry point, or one named ``module:Class``; for callers of the API only.

    Raises:
        UnknownRecordWriter: there is none.
        WrongWriterSettings: it does not take the settings.
    """
    if name in BUILT_IN:
        return built_in_writer(name, settings or {})
    return _built(name, _found(name), settings or {})


def _found(name: str) -> Callable[..., object]:
    try:
        for point in entry_points(group=ENTRY_POINTS, name=name):
            return cast("Callable[..., object]", point.load())
        module, colon, attribute = name.partition(":")
        if not (module and colon and attribute):
            raise UnknownRecordWriter(name=name, cause=f"no entry point of {ENTRY_POINTS} has this name")
        return cast("Callable[..., object]", getattr(import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise UnknownRecordWriter(name=name, cause=str(error)) from error


def _built(name: str, made: Callable[..., object], settings: Mapping[str, Any]) -> RecordWriter:
    try:
        writer = made(**settings)
    except TypeError as error:
        raise WrongWriterSettings(setting=name, found=dict(settings), expected=str(error)) from error
    if not callable(getattr(writer, "convert", None)):
        raise UnknownRecordWriter(name=name, cause="it has no method `convert`")
    return cast("RecordWriter", writer)
