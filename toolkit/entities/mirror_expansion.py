"""Expands mirrors into the feeds and processes that they stand for (ADR 0104): values go in whole, text never."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from typing_extensions import override

from toolkit.entities.documents import Document, Value
from toolkit.entities.entity_loading import EntityEntry, load_entry
from toolkit.entities.layers import Layer, ValueOrigin, origin
from toolkit.entities.mirror import Mirror
from toolkit.entities.mirror_types import OWN_NAME, WHOLE, MirrorType, built_in_types, is_small
from toolkit.entities.nearest import suggestion
from toolkit.entities.pointers import value_at
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.validation import placed
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer


def expand(
    mirror: EntityEntry, types: Mapping[str, MirrorType], files: frozenset[str]
) -> tuple[list[EntityEntry], list[ConfigProblem]]:
    """Return the entities that a mirror stands for, and what is wrong with them, in the files that say it.

    Args:
        mirror: an entry of this kind; one with problems stands for nothing.
        types: the usable ones.
        files: of all types, also of those with problems, which are reported there.
    """
    written = mirror.entity
    if not isinstance(written, Mirror) or (written.type not in types and written.type in files):
        return [], []
    found = list(_value_findings(mirror, written, types))
    if found:
        return [], [placed(each, mirror.layers, mirror.document) for each in found]
    entries: list[EntityEntry] = []
    problems: list[ConfigProblem] = []
    own_type = types[written.type]
    values = _values(mirror, own_type)
    for index, raw in enumerate(own_type.entities):
        document = {**cast("Document", _filled(raw, values)), "name": values[f"entity.{raw['name']}"]}
        if not is_small(document):
            finding = Violation(pointer=("type",), rule="too-large", message="it stands for too many values")
            return [], [placed(finding, mirror.layers, mirror.document)]
        layer = _ExpandedLayer(
            file=mirror.file, data=b"", document=document, has_null=False, raw=raw, index=index, mirror=mirror,
            template=own_type.layer,
        )  # fmt: skip
        kind, name = Kind(str(raw["kind"])), str(document["name"])
        entry, own = load_entry(mirror.file, name, kind, partial(_alone, layer), document)
        entries.append(entry)
        problems.extend(own)
    return entries, problems


def _alone(layer: Layer) -> tuple[Layer, ...]:
    return (layer,)


def _value_findings(mirror: EntityEntry, written: Mirror, types: Mapping[str, MirrorType]) -> Iterator[Violation]:
    own_type = types.get(written.type)
    if own_type is None:
        message = f"found the type {written.type!r}, expected {', '.join(built_in_types())} or a file in templates/"
        yield Violation(pointer=("type",), rule="unknown-type", message=message, hint=suggestion(written.type, types))
    elif own_type.layer is not None:
        from toolkit.entities.violations import violations_of  # noqa: PLC0415 - most repos have no type of their own

        values: Document = {"values": mirror.document.get("values", {})}
        yield from violations_of({"type": "object", "properties": {"values": own_type.values}}, values)


def _values(mirror: EntityEntry, own_type: MirrorType) -> Mapping[str, Value]:
    given = cast("Document", mirror.document.get("values", {}))
    defaults = {key: each["default"] for key, each in own_type.values["properties"].items() if "default" in each}
    own = {} if own_type.layer is None else {**defaults, **given}
    names = (str(each["name"]) for each in own_type.entities)
    full = {f"entity.{each}": mirror.name if each == OWN_NAME else f"{mirror.name}_{each}" for each in names}
    return {**mirror.document, "values": given, **own, **full}


def _filled(raw: Value, values: Mapping[str, Value]) -> Value:
    """Return a part of a template with its values; a key whose value is not given is left out."""
    if isinstance(raw, Mapping):
        filled = ((key, _filled(each, values)) for key, each in raw.items())
        return {key: each for key, each in filled if each is not None}
    if isinstance(raw, list):
        return [_filled(each, values) for each in raw]
    reference = WHOLE.fullmatch(raw) if isinstance(raw, str) else None
    return raw if reference is None else values.get(reference["name"])


@dataclass(frozen=True, kw_only=True, slots=True)
class _ExpandedLayer(Layer):
    """An expanded entity, whose values are found where they were written.

    Attributes:
        raw: the entity in its type.
        index: its position there.
        template: the file of the type; None: a type of feedctl, which the mirror's `type` stands for.
    """

    raw: Document
    index: int
    mirror: EntityEntry
    template: Layer | None

    @override
    def place(self, pointer: Pointer) -> ValueOrigin | None:
        """Return the place in the mirror, its defaults or overlay, else that in the template."""
        for length in range(len(pointer) + 1):
            part = value_at(self.raw, pointer[:length])
            reference = WHOLE.fullmatch(part) if isinstance(part, str) else None
            if reference is not None:
                return self._value(reference["name"], pointer[length:])
        if self.template is None:
            return self._in_mirror(("type",))
        return self.template.place(("entities", self.index, *pointer))

    def _value(self, name: str, rest: Pointer) -> ValueOrigin | None:
        own: Value = self.template.document["values"] if self.template is not None else {}
        if not isinstance(own, Mapping) or name not in own:
            return self._in_mirror(("name",) if name.startswith("entity.") else (name, *rest))
        if self.template is not None and value_at(self.mirror.document, ("values", name)) is None:
            return self.template.place(("values", name))
        return self._in_mirror(("values", name, *rest))

    def _in_mirror(self, pointer: Pointer) -> ValueOrigin | None:
        return origin(self.mirror.layers, self.mirror.document, pointer)
