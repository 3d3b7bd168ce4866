"""The instances of a feed that are partitions of a table: by their names in the metastore, no file is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from toolkit.availability.state import DataState, FoundInstance
from toolkit.catalog.errors import BadMetadata
from toolkit.catalog.feed_keys import require_keys
from toolkit.catalog.model import TableName
from toolkit.catalog.partition_name import values_by_key
from toolkit.catalog.values import BadPartitionValue, KeyType, typed_value
from toolkit.el import format_instant

if TYPE_CHECKING:
    from toolkit.catalog.model import Table
    from toolkit.catalog.port import Metastore
    from toolkit.catalog.values import TypedValue
    from toolkit.el import InstanceSequence, TableUri

_ALONE = 8
"""So many partitions are asked for one by one, as most processes read few; then all names are listed, by one call."""

_Values = tuple[str, ...]
"""Values of the keys that the feed names, in the order of its URI."""


class OtherSpelling(BadMetadata):
    """An instance is there under another spelling of its values, as ``month=3`` for ``month=03``.

    It would be missing for ever, so no process waits for it (DESIGN section 8).

    Args:
        table: the table.
        instance: the instance.
        expected: what the feed calls its partition.
        found: what the table has.
    """

    code: ClassVar[str] = "other_spelling"
    text: ClassVar[str] = "its partition keys are written in another way than the feed says"

    def __init__(self, *, table: TableName, instance: datetime, expected: str, found: str) -> None:
        self.table, self.expected, self.found = table, expected, found
        instead = "make the key a string, or date the feed by a key without leading zeros (ds=${YEAR}${MONTH}${DAY})"
        what = f"the instance {format_instant(instance)} is {expected} by the feed, and the table has {found}"
        super().__init__(about=str(table), detail=f"{what}; {instead}")


@dataclass(frozen=True, kw_only=True)
class TableInstances:
    """The `FeedInstances` of a feed with a table.

    Of a feed that does not name all keys of its table, an instance is there when one partition with its values is.

    Attributes:
        sequence: the instances by the feed's validity on the cluster.
        uri: of the table, with the feed's and the cluster's variables bound.
        address: from the values of an instance to its address.
        metastore: that has the table; read only.
    """

    sequence: InstanceSequence
    uri: TableUri
    address: Callable[[Mapping[str, str]], str]
    metastore: Metastore

    def look(self, instant: datetime) -> FoundInstance:
        """Return the partitions of one instance; the metastore does not tell whether one is still being written."""
        return self._found(instant, self.counted())

    def look_at(self, instants: Iterable[datetime]) -> Iterator[FoundInstance]:
        """Yield the partitions of instances: one call for each instance when there are few, else two calls in all."""
        listed = self.counted()
        return (self._found(each, listed) for each in instants)

    def is_ready(self, instant: datetime) -> bool:
        """Return whether the instance has a partition."""
        return self.counted().has(instant)

    def counted(self) -> ListedPartitions:
        """Return a view of the instances that remembers which partitions exist."""
        return ListedPartitions(sequence=self.sequence, uri=self.uri, metastore=self.metastore)

    def _found(self, instant: datetime, listed: ListedPartitions) -> FoundInstance:
        is_there = listed.has(instant)
        return FoundInstance(
            instant=instant,
            uri=self.address(self.uri.render(instant)),
            state=DataState.AVAILABLE if is_there else DataState.MISSING,
            is_ready=is_there,
        )


@dataclass(kw_only=True)
class ListedPartitions:
    """An `Availability` by the names of partitions; what it has seen it does not ask again.

    Attributes:
        sequence: the feed's instances; nothing else is ever available.
        uri: of the table.
        metastore: that has it.
    """

    sequence: InstanceSequence
    uri: TableUri
    metastore: Metastore
    _answers: dict[datetime, bool] = field(default_factory=dict, init=False)

    def __contains__(self, instant: object) -> bool:
        """Return whether an instance may be read. Raises as `has`."""
        return isinstance(instant, datetime) and instant in self.sequence and self.has(instant)

    def has(self, instant: datetime) -> bool:
        """Return whether the partition of an instance is there, an instance of the feed's validity or not.

        Raises:
            CatalogError: there is no such table, its keys do not fit, or the metastore does not answer.
            ElError: a variable of the URI has no value.
        """
        if instant not in self._answers:
            self._answers[instant] = self._look(instant)
        return self._answers[instant]

    def _look(self, instant: datetime) -> bool:
        wanted = {key.lower(): value for key, value in self.uri.render(instant).items()}
        if self._is_whole and len(self._answers) < _ALONE:
            name = self._table.partition_name(tuple(wanted[key] for key in self._table.key_names))
            return bool(self.metastore.partitions(self._name, [name]))
        values = tuple(wanted.values())
        if values in self._listed:
            return True
        self._refuse_other_spelling(instant, values)
        return False

    def _refuse_other_spelling(self, instant: datetime, values: _Values) -> None:
        if self._integers and (found := self._by_number.get(self._numbers(values))) is not None:
            expected, there = (self._text(each) for each in (values, found))
            raise OtherSpelling(table=self._name, instance=instant, expected=expected, found=there)

    @cached_property
    def _name(self) -> TableName:
        return TableName(self.uri.database, self.uri.table)

    @cached_property
    def _keys(self) -> _Values:
        return tuple(key.lower() for key in self.uri.partition_keys)

    @cached_property
    def _table(self) -> Table:
        table = self.metastore.table(self._name)
        require_keys(table, self.uri)
        return table

    @cached_property
    def _is_whole(self) -> bool:
        """True if the values of an instance are the name of one partition, which has no other spelling."""
        return not self._integers and len(self._table.keys) == len(self._keys)

    @cached_property
    def _integers(self) -> frozenset[str]:
        """The dated keys whose values are numbers: only those have several spellings that engines make."""
        types = {each.name.lower(): each.key_type for each in self._table.keys}
        dated = (key for key, segment in zip(self._keys, self.uri.segments, strict=True) if segment.fields)
        return frozenset(key for key in dated if types[key] is KeyType.INT)

    @cached_property
    def _listed(self) -> frozenset[_Values]:
        names = self.metastore.partition_names(self._table.name)
        return frozenset(tuple(values_by_key(name, self._keys).values()) for name in names)

    @cached_property
    def _by_number(self) -> Mapping[tuple[TypedValue, ...], _Values]:
        return {self._numbers(values): values for values in self._listed}

    def _numbers(self, values: _Values) -> tuple[TypedValue, ...]:
        return tuple(_number(value) if key in self._integers else value for key, value in self._pairs(values))

    def _text(self, values: _Values) -> str:
        return "/".join(f"{key}={value}" for key, value in self._pairs(values))

    def _pairs(self, values: _Values) -> Iterator[tuple[str, str]]:
        return zip(self._keys, values, strict=True)


def _number(text: str) -> TypedValue:
    try:
        return typed_value(text, KeyType.INT)
    except BadPartitionValue:
        return text
