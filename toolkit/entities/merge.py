"""Merge of documents (DESIGN section 4): nearer values win.

Mappings merge by key, lists of named items by name, everything else replaces, null removes.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeGuard

from toolkit.entities.documents import Document, Value


def merge(documents: Sequence[Document]) -> Document:
    """Merge documents, the nearest last; the result has no null and shares no mutable part with the inputs."""
    return reduce(_over, documents, {})


def _over(base: Document, overlay: Document) -> dict[str, Value]:
    merged = dict(base)
    for key, value in overlay.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _value(merged.get(key), value)
    return merged


def _value(base: Value, overlay: Value) -> Value:
    if isinstance(overlay, Mapping):
        return _over(base if isinstance(base, Mapping) else {}, overlay)
    if isinstance(overlay, list):
        return _list(base if is_named_list(base) else [], overlay)
    return overlay


def is_named_list(value: Value) -> TypeGuard[Sequence[Mapping[str, Value]]]:
    """Return whether a value is a list whose items are all mappings with a `name`."""
    return isinstance(value, list) and all(_is_mapping(item) and "name" in item for item in value)


def _is_mapping(value: Value) -> TypeGuard[Mapping[str, Value]]:
    """The class is looked at first: asking an abstract class is slow, and places of findings ask often."""
    return value.__class__ is dict or isinstance(value, Mapping)


def _list(base: Sequence[Mapping[str, Value]], overlay: Sequence[Value]) -> list[Value]:
    if not overlay or not is_named_list(overlay):
        return [_value(None, item) for item in overlay]
    by_name: dict[str, Mapping[str, Value]] = {str(item["name"]): item for item in overlay}
    if len(by_name) < len(overlay):  # a duplicate name is reported later, so nothing may be lost here
        return [*base, *(_value(None, item) for item in overlay)]
    merged: list[Value] = [_value(item, by_name.pop(str(item["name"]), {})) for item in base]
    return [*merged, *(_value(None, item) for item in by_name.values())]
