"""The files that an entity is merged from, and which of them each value came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from toolkit.entities.documents import Document, Value
from toolkit.entities.merge import is_named_list, merge
from toolkit.entities.yaml_location import Located, Pointer, TextSpan, locate


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A document, or the part of one that concerns an entity.

    Attributes:
        file: path in the config repo.
        data: the file's bytes, for finding places again.
        document: what is merged.
        prefix: where in the file it stands.
        has_null: it may remove something.
    """

    file: str
    data: bytes = field(repr=False)
    document: Document
    prefix: Pointer = ()
    has_null: bool = True

    def place(self, pointer: Pointer) -> "ValueOrigin | None":
        """Return the place of a value of the layer's document, None: it is not in the file."""
        located = locate(self.data, self.prefix + pointer)
        return None if located is None else ValueOrigin(file=self.file, located=located)


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueOrigin:
    """The place that a value of a merged document came from."""

    file: str
    located: Located

    @property
    def value(self) -> TextSpan:
        """The place of the value."""
        return self.located.value

    def __str__(self) -> str:
        return f"{self.file}:{self.value.line}:{self.value.column}"


def merge_layers(layers: Sequence[Layer]) -> Document:
    """The merged document, the nearest layer last; a lone document without null is taken as it is."""
    if len(layers) == 1 and not layers[0].has_null:
        return layers[0].document
    return merge([layer.document for layer in layers])


def origin(layers: Sequence[Layer], merged: Document, pointer: Pointer) -> ValueOrigin | None:
    """Return the nearest layer that has the value or the nearest value around it; it wins, as in merging."""
    for length in range(len(pointer), -1, -1):
        for layer in reversed(layers):
            inner = _translate(layer.document, merged, pointer[:length])
            found = None if inner is None else layer.place(inner)
            if found is not None:
                return found
    return None


def origins(layers: Sequence[Layer], merged: Document) -> Mapping[Pointer, ValueOrigin]:
    """The origin of every leaf of a merged document, in the document's order."""
    found = ((pointer, origin(layers, merged, pointer)) for pointer in leaves(merged))
    return {pointer: each for pointer, each in found if each is not None}


def leaves(value: Value, prefix: Pointer = ()) -> list[Pointer]:
    """The pointers to everything in a document that has no parts of its own."""
    if isinstance(value, Mapping) and value:
        return [pointer for key, each in value.items() for pointer in leaves(each, (*prefix, key))]
    if isinstance(value, list) and value:
        return [pointer for index, each in enumerate(value) for pointer in leaves(each, (*prefix, index))]
    return [prefix]


def _translate(document: Value, merged: Value, pointer: Pointer) -> Pointer | None:
    """The pointer to the same value in a layer's own document: items of named lists have other positions there."""
    if document is merged:  # a lone layer
        return pointer
    inner: list[str | int] = []
    for step in pointer:
        own = _own_step(document, merged, step)
        if own is None:
            return None
        inner.append(own)
        document, merged = _part(document, own), _part(merged, step)
    return None if document is None and pointer else tuple(inner)


def _own_step(document: Value, merged: Value, step: str | int) -> str | int | None:
    if isinstance(document, Mapping):
        return step if step in document else None
    if not isinstance(document, list) or not isinstance(step, int):
        return None
    own = _places(_Same(document))
    if own is None or not isinstance(merged, list) or not merged or _places(_Same(merged)) is None:
        return step if step < len(document) else None
    places = own.get(_key(_part(_part(merged, step), "name")), [])
    if len(places) > 1 and len(document) == len(merged):
        return step
    return places[0] if places else None


class _Same:
    """A list as a key: equal to itself alone, and kept, so that no other can take its identity."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


@lru_cache(maxsize=64)
def _places(same: _Same) -> Mapping[object, list[int]] | None:
    """The positions of each name in a named list, found once for all findings about it; None: it is no named list."""
    if not is_named_list(same.value):
        return None
    places: dict[object, list[int]] = {}
    for position, item in enumerate(same.value):
        places.setdefault(_key(item["name"]), []).append(position)
    return places


def _key(name: Value) -> object:
    return name if isinstance(name, str) else ("no text", repr(name))


def _part(value: Value, step: str | int) -> Value:
    if isinstance(value, Mapping) and isinstance(step, str):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int):
        part: Value = value[step]
        return part
    return None
