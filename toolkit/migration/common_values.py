"""Values that all entities of a kind share, moved to `defaults.yaml` when that saves lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from toolkit.entities import Document, Kind, Value
from toolkit.migration.yaml_writing import yaml_text

_LIFTED = (
    "owner",
    "timezone",
    "path_timezone",
    "availability_flag",
    "late_arrival",
    "acl",
    "schema",
    "parallel",
    "order",
    "timeout",
    "retry",
    "notification",
)
"""Values that a team shares; values that define an entity, as its frequency and clusters, stay in its own file."""


def common_values(documents: Sequence[Document]) -> dict[str, Value]:
    """The values that belong into the defaults of a kind.

    A key that one entity lacks stays where it is, since that one would get it; and so does a mapping that is not alike
    everywhere, since mappings are merged key by key.
    """
    found: dict[str, Value] = {}
    for key in _LIFTED:
        if len(documents) > 1 and all(key in each for each in documents):
            value = _commonest(key, documents)
            if value is not None:
                found[key] = value
    return found


def _commonest(key: str, documents: Sequence[Document]) -> Value:
    texts = Counter(json.dumps(each[key]) for each in documents)
    text, count = texts.most_common(1)[0]
    value: Value = json.loads(text)
    lines = yaml_text({key: value}).count("\n")
    if isinstance(value, Mapping | list) and count < len(documents):
        return None
    return value if count * lines > lines + 1 else None


def without(document: Document, common: Mapping[str, Value]) -> Document:
    """A document without what the defaults say."""
    return {key: value for key, value in document.items() if key not in common or common[key] != value}


def defaults(by_kind: Mapping[Kind, Mapping[str, Value]]) -> Document:
    """The content of `defaults.yaml`; empty: it is not needed."""
    return {str(kind): dict(values) for kind, values in by_kind.items() if values}
