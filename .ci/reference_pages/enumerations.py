"""What the words mean that some properties can have."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import StrEnum

from reference_pages.markdown import code, meanings, prose, table
from reference_pages.properties import properties
from toolkit.entities import vocabulary
from toolkit.entities.schema_store import SchemaName, inlined, schema

_FOR_DEVELOPERS = re.compile(r" \(DESIGN [^)]*\)")


def enumeration_blocks() -> Iterator[str]:
    """A table for each enumeration of the vocabulary that a schema lists as a property's values."""
    for members in _enumerations():
        places = list(_places(members))
        if places:
            words = meanings(members)
            yield f"{', '.join(places)}: {prose(_FOR_DEVELOPERS.sub('', inspect.getdoc(members) or ''))}"
            yield table(("value", "meaning"), ([code(each.value), words[each.name]] for each in members))


def _enumerations() -> Iterator[type[StrEnum]]:
    for each in vars(vocabulary).values():
        if isinstance(each, type) and issubclass(each, StrEnum) and each is not StrEnum:
            yield each


def _places(members: type[StrEnum]) -> Iterator[str]:
    """The properties whose values these are."""
    for name in SchemaName:
        for each in properties(inlined(schema(name), nesting=1)):
            if set(each.node.get("enum", ())) == set(members):
                yield f"**{name}** {code(each.path)}"
