"""Tables and partitions as Thrift's JSON protocol writes Hive's structs: fields by number, each with its type.

One text for hundreds of partitions crosses to Java and back, rather than a call for every field. The numbers are those
of `hive_metastore.thrift`, which no version of Hive has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from toolkit.catalog.model import (
    Column,
    MetastoreEvent,
    Partition,
    Serde,
    Skew,
    SortColumn,
    StorageDescriptor,
    Table,
    TableKind,
    TableName,
    table_location,
)

Struct: TypeAlias = dict[str, Any]
"""Number of a field to its type and value: ``{"1": {"str": "clicks"}}``."""
_COLUMNS, _LOCATION = "1", "2"
"""Fields of a ``StorageDescriptor``."""


def table_of(struct: Struct) -> Table:
    """The table that a ``Table`` describes.

    Raises:
        ValueError: it is of a kind that no Hive has.
    """
    return Table(
        name=TableName(_text(struct, 2) or "", _text(struct, 1) or ""),
        kind=TableKind(_text(struct, 12) or TableKind.MANAGED),
        storage=_storage_of(_struct(struct, 7)),
        keys=_columns_of(struct, 8),
        parameters=_map(struct, 9),
        owner=_text(struct, 3),
        view_original=_text(struct, 10),
        view_expanded=_text(struct, 11),
    )


def directories_in(result: Struct) -> dict[str, str]:
    """The locations of the ``Table`` structs of a result whose first field is their list, by name; without views.

    Of whatever kind a table is: one that no Hive has has a place all the same.
    """
    described = {
        _text(each, 1) or "": table_location(_storage_of(_struct(each, 7)), _map(each, 9))
        for each in _structs(result, 1)
    }
    return {name: location for name, location in described.items() if location}


def partitions_of(structs: Iterable[Struct]) -> list[Partition]:
    """The partitions that ``Partition`` structs describe.

    Those of one table mostly differ in their location alone, so what equals the one before is not decoded again.
    """
    found: list[Partition] = []
    raw: Struct | None = None
    storage = StorageDescriptor()
    for each in structs:
        own = _struct(each, 6)
        rest = {number: field for number, field in own.items() if number != _LOCATION}
        if rest != raw:
            raw, storage = rest, _storage_of(rest)
        placed = replace(storage, location=_text(own, int(_LOCATION)))
        found.append(Partition(values=_texts(each, 1), storage=placed, parameters=_map(each, 7)))
    return found


def partitions_in(result: Struct) -> list[Struct]:
    """The ``Partition`` structs of a result whose first field is their list."""
    return _structs(result, 1)


def values_in(partition: Struct) -> tuple[str, ...]:
    """The values of a ``Partition``."""
    return _texts(partition, 1)


def table_struct(table: Table) -> Struct:
    """The ``Table`` that describes a table."""
    return _without_none(
        {
            "1": {"str": table.name.table},
            "2": {"str": table.name.database},
            "3": {"str": table.owner},
            "7": {"rec": _storage_struct(table.storage)},
            "8": _column_structs(table.keys),
            "9": texts_map(table.parameters),
            "10": {"str": table.view_original},
            "11": {"str": table.view_expanded},
            "12": {"str": table.kind.value},
        }
    )


def partition_structs(name: TableName, partitions: Iterable[Partition]) -> Iterator[Struct]:
    """Yield the ``Partition`` that describes each partition of a table; what equals the one before is made once."""
    made: StorageDescriptor | None = None
    struct: Struct = {}
    for each in partitions:
        plain = replace(each.storage, location=None)
        if plain != made:
            made, struct = plain, _storage_struct(plain)
        location = {} if each.storage.location is None else {_LOCATION: {"str": each.storage.location}}
        yield {
            "1": _list("str", each.values),
            "2": {"str": name.database},
            "3": {"str": name.table},
            "6": {"rec": {_COLUMNS: struct[_COLUMNS], **location, **struct}},  # by number, as Hive writes them
            "7": texts_map(each.parameters),
        }


def with_parameters(table: Struct, put: Mapping[str, str], remove: Iterable[str]) -> Struct:
    """The ``Table`` with other parameters; all else stays, also what the model does not have."""
    gone = frozenset(remove)
    kept = {key: value for key, value in _map(table, 9).items() if key not in gone}
    return table | {"9": texts_map({**kept, **put})}


def add_request(name: TableName, partitions: Iterable[Struct]) -> Struct:
    """The ``AddPartitionsRequest`` of these: all or none, and the metastore need not send them back."""
    parts = _list("rec", partitions)
    return {"1": {"str": name.database}, "2": {"str": name.table}, "3": parts, "4": {"tf": 0}, "5": {"tf": 0}}


def events_request(after: int, most: int) -> Struct:
    """The ``NotificationEventRequest`` for events behind a number."""
    return {"1": {"i64": after}, "2": {"i32": most}}


def events_in(response: Struct) -> list[MetastoreEvent]:
    """The notification events of a response, without their texts."""
    return [
        MetastoreEvent(number=_number(each, 1), time=_number(each, 2), table=_event_table(each))
        for each in _structs(response, 1)
    ]


def _event_table(event: Struct) -> TableName | None:
    database, table = _text(event, 4), _text(event, 5)
    return TableName(database, table) if database and table else None


def names_struct(names: Iterable[str]) -> Struct:
    """The ``RequestPartsSpec`` of these names."""
    return {"1": _list("str", names)}


def drop_request(name: TableName, names: Iterable[str]) -> Struct:
    """The ``DropPartitionsRequest`` of these names: no data, those that are gone are no error, tell which went."""
    parts = {"rec": names_struct(names)}
    no, yes = {"tf": 0}, {"tf": 1}
    return {"1": {"str": name.database}, "2": {"str": name.table}, "3": parts, "4": no, "5": yes, "6": yes, "8": yes}


def texts_map(texts: Mapping[str, str]) -> Struct:
    """A map of texts, as the value of a field."""
    return {"map": ["str", "str", len(texts), dict(texts)]}


def _storage_of(struct: Struct) -> StorageDescriptor:
    serde, skew = _struct(struct, 7), _struct(struct, 11)
    return StorageDescriptor(
        columns=_columns_of(struct, 1),
        location=_text(struct, 2),
        input_format=_text(struct, 3),
        output_format=_text(struct, 4),
        compressed=bool(_number(struct, 5)),
        buckets=_number(struct, 6),
        serde=Serde(name=_text(serde, 1), library=_text(serde, 2), parameters=_map(serde, 3)),
        bucket_columns=_texts(struct, 8),
        sort_columns=tuple(
            SortColumn(name=_text(each, 1) or "", ascending=bool(_number(each, 2))) for each in _structs(struct, 9)
        ),
        parameters=_map(struct, 10),
        skew=Skew(columns=_texts(skew, 1), values=_lists(skew, 2)),
        as_directories=bool(_number(struct, 12)),
    )


def _storage_struct(storage: StorageDescriptor) -> Struct:
    serde = {"1": {"str": storage.serde.name}, "2": {"str": storage.serde.library}}
    sort = [{"1": {"str": each.name}, "2": {"i32": int(each.ascending)}} for each in storage.sort_columns]
    skew = {
        "1": _list("str", storage.skew.columns),
        "2": _list("lst", (_list("str", each)["lst"] for each in storage.skew.values)),
        "3": {"map": ["lst", "str", 0, {}]},
    }
    return _without_none(
        {
            "1": _column_structs(storage.columns),
            "2": {"str": storage.location},
            "3": {"str": storage.input_format},
            "4": {"str": storage.output_format},
            "5": {"tf": int(storage.compressed)},
            "6": {"i32": storage.buckets},
            "7": {"rec": _without_none(serde | {"3": texts_map(storage.serde.parameters)})},
            "8": _list("str", storage.bucket_columns),
            "9": _list("rec", sort),
            "10": texts_map(storage.parameters),
            "11": {"rec": skew},
            "12": {"tf": int(storage.as_directories)},
        }
    )


def _columns_of(struct: Struct, number: int) -> tuple[Column, ...]:
    return tuple(
        Column(name=_text(each, 1) or "", type=_text(each, 2) or "", comment=_text(each, 3))
        for each in _structs(struct, number)
    )


def _column_structs(columns: Iterable[Column]) -> Struct:
    return _list(
        "rec",
        (
            _without_none({"1": {"str": each.name}, "2": {"str": each.type}, "3": {"str": each.comment}})
            for each in columns
        ),
    )


def _list(kind: str, items: Iterable[Any]) -> Struct:
    all_of_them = list(items)
    return {"lst": [kind, len(all_of_them), *all_of_them]}


def _without_none(struct: Struct) -> Struct:
    return {number: value for number, value in struct.items() if None not in value.values()}


def _text(struct: Struct, number: int) -> str | None:
    field = struct.get(str(number))
    return None if field is None else str(field["str"])


def _number(struct: Struct, number: int) -> int:
    """An integer, or a truth value as 0 or 1; 0 when the field is not set."""
    return next((int(value) for value in struct.get(str(number), {}).values()), 0)


def _struct(struct: Struct, number: int) -> Struct:
    found: Struct = struct.get(str(number), {}).get("rec", {})
    return found


def _items(struct: Struct, number: int) -> list[Any]:
    """Return the items of a list, which come behind their type and count."""
    found: list[Any] = struct.get(str(number), {}).get("lst", ["", 0])
    return found[2:]


def _structs(struct: Struct, number: int) -> list[Struct]:
    return _items(struct, number)


def _texts(struct: Struct, number: int) -> tuple[str, ...]:
    return tuple(_items(struct, number))


def _lists(struct: Struct, number: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(each[2:]) for each in _items(struct, number))


def _map(struct: Struct, number: int) -> dict[str, str]:
    found: dict[str, str] = struct.get(str(number), {}).get("map", ["", "", 0, {}])[3]
    return found
