"""Pointers to values as people read them: ``clusters[primary].retention.limit``."""

from collections.abc import Mapping
from functools import reduce

from toolkit.entities.documents import Value
from toolkit.entities.yaml_location import Pointer


def path_text(document: Value, pointer: Pointer) -> str:
    """The pointer in words; items of a list are called by their name when they have one."""
    text = ""
    for step in pointer:
        document = _part(document, step)
        if isinstance(step, str):
            text += f".{step}" if text else step
        else:
            text += f"[{_label(document, step)}]"
    return text


def value_at(document: Value, pointer: Pointer) -> Value:
    """The value that a pointer leads to; None: there is none."""
    return reduce(_part, pointer, document)


def _part(value: Value, step: str | int) -> Value:
    if isinstance(value, Mapping) and isinstance(step, str):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        part: Value = value[step]
        return part
    return None


def _label(item: Value, index: int) -> str:
    name = item.get("name") if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else str(index)
