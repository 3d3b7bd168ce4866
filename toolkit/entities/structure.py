"""From a merged, valid document to a model, and back."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, TypeVar, cast

from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from toolkit.el import Frequency, format_instant, parse_instant
from toolkit.entities.calendar import Calendar
from toolkit.entities.cluster import Cluster
from toolkit.entities.datasource import Datasource
from toolkit.entities.documents import Document
from toolkit.entities.feed import Feed
from toolkit.entities.mirror import Mirror
from toolkit.entities.process import Process
from toolkit.entities.repo import RepoSettings
from toolkit.entities.retention import Protection
from toolkit.entities.trigger import Trigger, TriggerCondition, TriggerEntry
from toolkit.entities.vocabulary import Kind, ProtectionName

Entity = Cluster | Feed | Process | Datasource | Mirror
"""One of the kinds; a mirror is never among the entities of a `Repository`, which has what it stands for."""

_MODELS: dict[Kind, type[Entity]] = {
    Kind.CLUSTER: Cluster,
    Kind.FEED: Feed,
    Kind.PROCESS: Process,
    Kind.DATASOURCE: Datasource,
    Kind.MIRROR: Mirror,
}

T = TypeVar("T")

_FEW = 1024


def structure_entity(kind: Kind, document: Document) -> Entity:
    """The model of a merged entity that its schema allows."""
    body = {key: value for key, value in document.items() if key != "kind"}
    return _CONVERTER.structure(body, _MODELS[kind])


def structure(document: Document, model: type[T]) -> T:
    """The model of any other document that its schema allows."""
    return _CONVERTER.structure(document, model)


def to_document(entity: Entity) -> Document:
    """The document that an entity is made from; values that equal the model's defaults are left out."""
    return {"kind": str(entity.KIND), **cast("dict[str, Any]", _CONVERTER.unstructure(entity))}


def settings_document(settings: RepoSettings) -> Document:
    """The document that the settings are made from; values that equal the defaults are left out."""
    return cast("dict[str, Any]", _CONVERTER.unstructure(settings))


def calendar_document(calendar: Calendar) -> Document:
    """Return the document that a calendar is made from, with its name; values that equal the defaults are left out."""
    return cast("dict[str, Any]", _CONVERTER.unstructure(calendar))


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=False)
    frequency, instant = lru_cache(_FEW)(Frequency.parse), lru_cache(_FEW)(parse_instant)  # most entities share theirs
    converter.register_structure_hook(Frequency, lambda text, _: frequency(text))
    converter.register_unstructure_hook(Frequency, str)
    converter.register_structure_hook(datetime, lambda text, _: instant(text))
    converter.register_unstructure_hook(datetime, format_instant)
    converter.register_unstructure_hook(date, date.isoformat)
    converter.register_structure_hook(date, lambda text, _: date.fromisoformat(text))
    converter.register_structure_hook(str | int | float | bool, lambda scalar, _: scalar)
    converter.register_unstructure_hook(StrEnum, str)
    converter.register_structure_hook_factory(is_dataclass, partial(_structure_model, converter))
    converter.register_unstructure_hook_factory(is_dataclass, partial(_unstructure_model, converter))
    _register_protection(converter)
    _register_trigger(converter)
    return converter


def _structure_model(converter: Converter, model: type[Any]) -> Any:  # noqa: ANN401 - cattrs' own type
    return make_dict_structure_fn(
        model, converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=False, **_renamed(model)
    )


def _unstructure_model(converter: Converter, model: type[Any]) -> Any:  # noqa: ANN401 - cattrs' own type
    return make_dict_unstructure_fn(model, converter, _cattrs_omit_if_default=True, **_renamed(model))


def _renamed(model: type[Any]) -> dict[str, Any]:
    """The fields whose YAML key is a word that Python keeps for itself (`import_`, `class_`)."""
    return {each.name: override(rename=each.name[:-1]) for each in fields(model) if each.name.endswith("_")}


def _register_protection(converter: Converter) -> None:
    from_mapping = _structure_model(converter, Protection)
    to_mapping = _unstructure_model(converter, Protection)

    def read(value: str | Mapping[str, Any], model: type[Protection]) -> Protection:
        if isinstance(value, str):
            return Protection(name=ProtectionName(value))
        return cast("Protection", from_mapping(value, model))

    def write(protection: Protection) -> object:
        return str(protection.name) if protection.max_age is None else to_mapping(protection)

    converter.register_structure_hook(Protection, read)
    converter.register_unstructure_hook(Protection, write)


def _register_trigger(converter: Converter) -> None:
    """Register the forms of a trigger: its condition stands among its other keys, an entry may be a plain text."""
    entry_of, entry_to = _structure_model(converter, TriggerEntry), _unstructure_model(converter, TriggerEntry)

    def read_part(value: str | Mapping[str, Any], _: object = None) -> TriggerCondition | TriggerEntry:
        if isinstance(value, str):
            return TriggerEntry(name=value)
        if "all" in value or "any" in value:
            return read_condition(value)
        return cast("TriggerEntry", entry_of(value, TriggerEntry))

    def read_condition(value: Mapping[str, Any], _: object = None) -> TriggerCondition:
        parts = {key: tuple(read_part(each) for each in value.get(key, ())) for key in ("all", "any")}
        return TriggerCondition(**parts)

    def read_trigger(value: Mapping[str, Any], _: object = None) -> Trigger:
        own = {key: each for key, each in value.items() if key not in {"all", "any"}}
        return cast("Trigger", trigger_of({**own, "condition": value}, Trigger))

    def write_part(part: TriggerCondition | TriggerEntry) -> object:
        if isinstance(part, TriggerCondition):
            return write_condition(part)
        return part.name if part.name is not None else entry_to(part)

    def write_condition(condition: TriggerCondition) -> dict[str, object]:
        both = {"all": condition.all, "any": condition.any}
        return {key: [write_part(each) for each in parts] for key, parts in both.items() if parts}

    def write_trigger(trigger: Trigger) -> object:
        document = trigger_to(trigger)
        return {**document.pop("condition"), **document}

    converter.register_structure_hook(TriggerCondition, read_condition)
    converter.register_unstructure_hook(TriggerCondition, write_condition)
    trigger_of, trigger_to = _structure_model(converter, Trigger), _unstructure_model(converter, Trigger)
    converter.register_structure_hook(Trigger, read_trigger)
    converter.register_unstructure_hook(Trigger, write_trigger)


_CONVERTER = _converter()
