"""Documents and paths of the config repo as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

import yaml

from toolkit.el import format_instant
from toolkit.entities.documents import Document, Value
from toolkit.entities.layers import leaves
from toolkit.entities.lookup import PathOwner
from toolkit.entities.pointers import path_text
from toolkit.entities.yaml_location import Pointer


def yaml_text(document: Document) -> str:
    """A document as YAML, in its own order."""
    return yaml.safe_dump(
        json.loads(json.dumps(document)), sort_keys=False, allow_unicode=True, default_flow_style=None, width=120
    )


def leaf_rows(document: Document, origins: Mapping[Pointer, str]) -> Iterator[tuple[str, str, str]]:
    """Key, value and origin of every leaf of a document, for example ``clusters[primary].type``, ``source``."""
    for pointer in leaves(document):
        value = json.dumps(_at(document, pointer), ensure_ascii=False)
        yield path_text(document, pointer), value, origins.get(pointer, "")


def owner_rows(owners: Iterable[PathOwner]) -> list[dict[str, str | None]]:
    """The feeds that a path belongs to, as texts."""
    return [
        {
            "feed": each.feed,
            "cluster": each.cluster,
            "location": each.location,
            "first": format_instant(each.period.first) if each.period else None,
            "end": format_instant(each.period.end) if each.period else None,
            "template": each.template,
        }
        for each in owners
    ]


def _at(document: Value, pointer: Pointer) -> Value:
    for step in pointer:
        if isinstance(document, Mapping) and isinstance(step, str):
            document = document[step]
        if isinstance(document, list) and isinstance(step, int):
            document = document[step]
    return document
