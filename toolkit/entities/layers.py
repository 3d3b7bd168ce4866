"""The files that an entity is merged from, and which of them each value came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolkit.entities.documents import Document, Value
from toolkit.entities.merge import is_named_list, merge
from toolkit.entities.yaml_location import Located, Pointer, Span, locate


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The place that a value of a merged document came from."""

    file: str
    located: Located

    @property
    def value(self) -> Span:
        """The place of the value."""
        return self.located.value

    def __str__(self) -> str:
        return f"{self.file}:{self.value.line}:{self.value.column}"


def merge_layers(layers: Sequence[Layer]) -> Document:
    """The merged document, the nearest layer last; a lone document without null is taken as it is."""
    if len(layers) == 1 and not layers[0].has_null:
        return layers[0].document
    return merge([layer.document for layer in layers])


def origin(layers: Sequence[Layer], merged: Document, pointer: Pointer) -> Origin | None:
    """Where the value (or the nearest value around it) came from: the nearest layer that has it wins, as in merging."""
    for length in range(len(pointer), -1, -1):
        for layer in reversed(layers):
            inner = _translate(layer.document, merged, pointer[:length])
            located = None if inner is None else locate(layer.data, layer.prefix + inner)
            if located is not None:
                return Origin(file=layer.file, located=located)
    return None


def origins(layers: Sequence[Layer], merged: Document) -> Mapping[Pointer, Origin]:
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
    if not is_named_list(document) or not is_named_list(merged) or len(merged) == 0:
        return step if step < len(document) else None
    names = [item["name"] for item in document]
    wanted = merged[step]["name"]
    if names.count(wanted) > 1 and len(document) == len(merged):
        return step
    return names.index(wanted) if wanted in names else None


def _part(value: Value, step: str | int) -> Value:
    if isinstance(value, Mapping) and isinstance(step, str):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int):
        part: Value = value[step]
        return part
    return None
