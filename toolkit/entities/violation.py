"""Findings about a document, from its schema or from a check between values."""

from dataclasses import dataclass

from toolkit.entities.yaml_location import Pointer


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """Something wrong with a document, before its place in a file is known.

    Attributes:
        pointer: the value, or the mapping that lacks something.
        rule: a stable identifier.
        on_key: the key is wrong rather than the value.
        offset: characters into the value, when that is known.
    """

    pointer: Pointer
    rule: str
    message: str
    hint: str = ""
    on_key: bool = False
    offset: int | None = None
