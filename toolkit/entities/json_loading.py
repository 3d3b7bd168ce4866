"""From a JSON file to plain data, for the suites that Great Expectations writes; as strict as `load_yaml`."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from toolkit.entities.documents import Document, Value
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.yaml_loading import MOST_CHARACTERS, LoadedYaml

_MOST_BYTES = 1 << 20
_MAX_DEPTH = 100


def load_json(data: bytes, file: str) -> LoadedYaml:
    """Reads one file; never raises for its content.

    Args:
        data: the file's bytes.
        file: its path, for the problems.
    """
    try:
        document = _document(data)
    except json.JSONDecodeError as error:
        problem = ConfigProblem(file=file, line=error.lineno, column=error.colno, rule="json-syntax", message=error.msg)
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{data[error.start]:02x}, expected UTF-8"
        problem = ConfigProblem(
            file=file, line=1, column=1, rule="encoding", message=found, hint="save the file as UTF-8"
        )
    except _Unreadable as error:
        problem = ConfigProblem(file=file, line=1, column=1, rule=error.rule, message=str(error))
    except (RecursionError, ValueError) as error:  # nested too deep, or a number of thousands of digits
        problem = ConfigProblem(file=file, line=1, column=1, rule="json-syntax", message=f"cannot be read: {error}")
    else:
        return LoadedYaml(data=document, has_null=True, problems=())
    return LoadedYaml(data=None, has_null=False, problems=(problem,))


class _Unreadable(Exception):  # noqa: N818 - it says what the file is
    def __init__(self, *, rule: str, message: str) -> None:
        self.rule = rule
        super().__init__(message)


def _document(data: bytes) -> Document:
    if len(data) > _MOST_BYTES:
        raise _Unreadable(
            rule="too-large", message=f"the file has {len(data)} bytes, expected at most {_MOST_BYTES} (1 MiB)"
        )
    found: object = json.loads(data.decode(), object_pairs_hook=_mapping, parse_float=_float, parse_constant=_constant)
    if not isinstance(found, dict):
        raise _Unreadable(rule="wrong-type", message="found no mapping, expected one")
    _check(found, 1)
    return found


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise _Unreadable(rule="duplicate-key", message=f"the key {key!r} is there twice")
        made[key] = value
    return made


def _float(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _constant(text)


def _constant(text: str) -> NoReturn:
    raise _Unreadable(rule="json-syntax", message=f"found {text}, expected a number that JSON has")


def _check(value: Value, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise _Unreadable(rule="too-deep", message=f"values are nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, dict):
        for key, each in value.items():
            _check(key, depth)
            _check(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            _check(each, depth + 1)
    elif isinstance(value, str):
        if len(value) > MOST_CHARACTERS:
            message = f"found a text of {len(value)} characters, expected at most {MOST_CHARACTERS}"
            raise _Unreadable(rule="too-large", message=message)
        value.encode()  # half of a surrogate pair is no text: ValueError
