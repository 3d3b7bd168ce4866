"""From a merged, valid document to a model, and back."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from toolkit.el import Frequency, format_instant, parse_instant
from toolkit.entities.cluster import Cluster
from toolkit.entities.datasource import Datasource
from toolkit.entities.documents import Document
from toolkit.entities.feed import Feed
from toolkit.entities.process import Process
from toolkit.entities.repo import RepoSettings
from toolkit.entities.retention import Protection
from toolkit.entities.trigger import Trigger, TriggerCondition, TriggerEntry
from toolkit.entities.vocabulary import Kind, ProtectionName

Entity = Cluster | Feed | Process | Datasource
"""One of the four kinds."""

_MODELS: dict[Kind, type[Entity]] = {
    Kind.CLUSTER: Cluster,
    Kind.FEED: Feed,
    Kind.PROCESS: Process,
    Kind.DATASOURCE: Datasource,
}

T = TypeVar("T")

Reader = Callable[[Any], Any]
"""Makes a value of a model of one of a document."""

_FEW = 1024


def structure_entity(kind: Kind, document: Document) -> Entity:
    """The model of a merged entity that its schema allows."""
    body = {key: value for key, value in document.items() if key != "kind"}
    return cast("Entity", _reader(cast("Hashable", _MODELS[kind]))(body))


def structure(document: Document, model: type[T]) -> T:
    """The model of any other document that its schema allows."""
    return cast("T", _reader(cast("Hashable", model))(document))


def to_document(entity: Entity) -> Document:
    """The document that an entity is made from; values that equal the model's defaults are left out."""
    return {"kind": str(entity.KIND), **_written(entity)}


def settings_document(settings: RepoSettings) -> Document:
    """The document that the settings are made from; values that equal the defaults are left out."""
    return cast("dict[str, Any]", _written(settings))


@cache
def _reader(kind: Hashable) -> Reader:
    """Return what reads values of a type; enums and scalars do so themselves."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _READERS:
        return _READERS[kind]
    if origin in {Union, UnionType}:
        return _choice(arguments)
    if origin is tuple:
        return _items(_reader(arguments[0]))
    if origin is Mapping:
        return _values(_reader(arguments[1]))
    return _model(kind) if is_dataclass(kind) else cast("Reader", kind)


def _choice(kinds: tuple[Any, ...]) -> Reader:
    """Read nothing, or the only type, or the one model that has all keys of the document."""
    given = [each for each in kinds if each is not NoneType]
    if len(given) == 1:
        only = _reader(given[0])
        return lambda value: None if value is None else only(value)
    keys = {each: {_key(one) for one in _given(each)} for each in given}

    def read(value: Mapping[str, Any] | None) -> object:
        if value is None:
            return None
        return _reader(next(each for each in given if value.keys() <= keys[each]))(value)

    return read


def _items(read: Reader) -> Reader:
    return lambda values: tuple(map(read, values))


def _values(read: Reader) -> Reader:
    return lambda values: {key: read(value) for key, value in values.items()}


def _model(model: Any) -> Reader:  # noqa: ANN401 - a dataclass
    hints = get_type_hints(model)
    readers = {_key(each): (each.name, _reader(hints[each.name])) for each in _given(model)}

    def read(document: Mapping[str, Any]) -> object:
        found = ((readers[key], value) for key, value in document.items())
        return model(**{name: reader(value) for (name, reader), value in found})

    return read


def _given(model: Any) -> list[Field[Any]]:  # noqa: ANN401 - a dataclass or an instance
    """Return the fields that a document has; others are computed."""
    return [each for each in fields(model) if each.init]


def _key(field: Field[Any]) -> str:
    """Return the YAML key of a field, which may be a word that Python keeps for itself (`import_`, `class_`)."""
    return field.name.removesuffix("_")


def _written(value: Any) -> Any:  # noqa: ANN401 - any part of a model
    """Return the part of a document that a part of a model is made from."""
    if type(value) in _WRITERS:
        return _WRITERS[type(value)](value)
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, Mapping):
        return {key: _written(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return list(map(_written, value))
    return str(value) if isinstance(value, StrEnum) else value


def _fields(model: Any) -> dict[str, Any]:  # noqa: ANN401 - an instance of a dataclass
    """Return the fields of a model that differ from their defaults; those that have none come first."""
    in_order = sorted(_given(model), key=lambda each: _default(each) is not MISSING)
    given = ((each, getattr(model, each.name)) for each in in_order)
    return {_key(each): _written(one) for each, one in given if one != _default(each)}


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _read_protection(value: str | Mapping[str, Any]) -> Protection:
    if isinstance(value, str):
        return Protection(name=ProtectionName(value))
    return cast("Protection", _model(Protection)(value))


def _write_protection(protection: Protection) -> object:
    if protection.max_age is None:
        return str(protection.name)
    return {"name": str(protection.name), "max_age": str(protection.max_age)}


def _read_part(value: str | Mapping[str, Any]) -> TriggerCondition | TriggerEntry:
    """Read a part of a condition, which may be a plain text."""
    if isinstance(value, str):
        return TriggerEntry(name=value)
    if "all" in value or "any" in value:
        return _read_condition(value)
    return cast("TriggerEntry", _model(TriggerEntry)(value))


def _read_condition(value: Mapping[str, Any]) -> TriggerCondition:
    parts = {key: tuple(_read_part(each) for each in value.get(key, ())) for key in ("all", "any")}
    return TriggerCondition(**parts)


def _read_trigger(value: Mapping[str, Any]) -> Trigger:
    """Read a trigger, whose condition stands among its other keys."""
    own = {key: each for key, each in value.items() if key not in {"all", "any"}}
    return cast("Trigger", _model(Trigger)({**own, "condition": value}))


def _write_condition(condition: TriggerCondition) -> dict[str, object]:
    both = {"all": condition.all, "any": condition.any}
    return {key: [_write_part(each) for each in parts] for key, parts in both.items() if parts}


def _write_part(part: TriggerCondition | TriggerEntry) -> object:
    if isinstance(part, TriggerCondition):
        return _write_condition(part)
    return part.name if part.name is not None else _fields(part)


def _write_trigger(trigger: Trigger) -> object:
    document = _fields(trigger)
    return {**document.pop("condition"), **document}


_frequency, _instant = lru_cache(_FEW)(Frequency.parse), lru_cache(_FEW)(parse_instant)  # most entities share theirs
_READERS: dict[Any, Reader] = {
    Frequency: _frequency,
    datetime: _instant,
    str | int | float | bool: lambda scalar: scalar,
    Protection: _read_protection,
    TriggerCondition: _read_condition,
    TriggerCondition | TriggerEntry: _read_part,
    Trigger: _read_trigger,
}
_WRITERS: dict[type, Reader] = {
    Frequency: str,
    datetime: format_instant,
    Protection: _write_protection,
    TriggerCondition: _write_condition,
    Trigger: _write_trigger,
}
