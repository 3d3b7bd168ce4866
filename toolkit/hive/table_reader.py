"""Contents of a table: its definition, its partitions, and the files of each, read from a metastore and its stores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.catalog.errors import ForeignLocation, UnsupportedTable
from toolkit.catalog.formats import unsupported_reason
from toolkit.el import ElError
from toolkit.storage import FileKind, StorageError
from toolkit.transfer.trees import Tree, read_tree

if TYPE_CHECKING:
    from toolkit.catalog.location_policy import LocationPolicy
    from toolkit.catalog.model import Partition, Table, TableName
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool

DATA_MISSING = "data_missing"
"""The code of a partition whose directory is not there."""
_ADDRESS, _TEXT = "avro.schema.url", "avro.schema.literal"
_WEB = ("http://", "https://")
_MOST = 1 << 20
_SERDE = ".avroserde"


@dataclass(frozen=True, kw_only=True, eq=False)
class TablePart:
    """Data of one partition, or of a table that has none.

    Attributes:
        name: of the partition; empty: it is the data of an unpartitioned table.
        partition: its definition; None: of an unpartitioned table.
        place: its directory.
        tree: what is in it.
        digests: of its files, as far as a manifest tells.
        source: of an export, its fingerprint where it was exported from, as far as a manifest tells.
    """

    name: str
    partition: Partition | None
    place: CanonicalPath
    tree: Tree
    digests: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    @cached_property
    def files(self) -> dict[str, int]:
        """The sizes of its files by their names."""
        return {name: entry.size for name, entry in self.tree.items() if entry.kind is FileKind.FILE}

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(self.files.values())

    @cached_property
    def fingerprint(self) -> str:
        """Digest of names, sizes and times of its files; that of an export is the one of the exported files.

        So a replication, or a comparison with the source, knows what an import has brought.
        """
        if self.source:
            return self.source
        lines = [(name, size, _time(self.tree, name)) for name, size in sorted(self.files.items())]
        return hashlib.sha256(repr(lines).encode(errors="surrogateescape")).hexdigest()[:32]


def _time(tree: Tree, name: str) -> str:
    modified = tree[name].modified
    return "" if modified is None else modified.isoformat()


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Contents of a table, or of some of its partitions.

    Attributes:
        table: its definition.
        parts: the partitions, by their names; none of a view.
        broken: partitions that cannot be read, by their names, and why.
    """

    table: Table
    parts: tuple[TablePart, ...] = ()
    broken: Mapping[str, Problem] = field(default_factory=dict)


def require_plain(table: Table) -> None:
    """Refuse a table whose files must not be copied one by one.

    Raises:
        UnsupportedTable: with what to use instead.
    """
    reason = unsupported_reason(table)
    if reason:
        raise UnsupportedTable(about=str(table.name), detail=reason)


@dataclass(frozen=True, kw_only=True)
class TableReader:
    """Reads tables of one metastore.

    Attributes:
        metastore: has the definitions of tables.
        policy: which texts of the metastore are used as paths.
        place: of a location as the metastore has it.
        storage: the store that a path is on.
        pool: threads for the store that a path is on.
        check: asked while stores are listed; what it raises ends the reading.
    """

    metastore: Metastore
    policy: LocationPolicy
    place: Callable[[str], CanonicalPath]
    storage: Callable[[CanonicalPath], FileSystem]
    pool: Callable[[CanonicalPath], WorkerPool]
    check: Callable[[], None]

    def table(self, name: TableName) -> Table:
        """Return the definition of a table whose files may be copied.

        Raises:
            CatalogError: it is not there, one of a kind that is left alone, or refused by the policy.
        """
        table = self.metastore.table(name)
        require_plain(table)
        self.policy.require_copyable(table)
        return table

    def contents(self, table: Table, names: Sequence[str]) -> Contents:
        """Return the data of a table.

        Args:
            table: that was read before.
            names: of partitions; those that are gone are left out. Of a table without partitions nothing counts.

        Raises:
            CatalogError: the metastore cannot tell.
            StorageError: a store does not answer.
        """
        table = self.with_schema_inside(table)
        if table.kind.is_view:
            return Contents(table=table)
        found: list[tuple[str, Partition | None, str]] = [("", None, table.storage.location or "")]
        if table.keys:
            partitions = self.metastore.partitions(table.name, names)
            found = sorted((table.partition_name(each), each, each.location) for each in partitions)
        parts: dict[str, TablePart] = {}
        refused = ((name, each and self._why_refused(each)) for name, each, _ in found)
        broken = {name: Problem(code=ForeignLocation.code, message=f"{name}: {why}") for name, why in refused if why}

        def look(one: tuple[str, Partition | None, str]) -> None:
            name, partition, location = one
            part = self._part(name, partition, location)
            if isinstance(part, Problem):
                broken[name] = part
            else:
                parts[name] = part

        readable = [each for each in found if each[0] not in broken]
        if readable:
            self.pool(self.place(table.storage.location or readable[0][2])).run_all(look, readable)
        return Contents(table=table, parts=tuple(parts[name] for name in sorted(parts)), broken=broken)

    def _why_refused(self, partition: Partition) -> str:
        return partition.refusal or self.policy.why_not_copyable(partition.storage)

    def _part(self, name: str, partition: Partition | None, location: str) -> TablePart | Problem:
        place = self.place(location)
        try:
            tree = read_tree(self.storage(place), place, self.check, directories=False)
        except StorageError as error:
            return Problem(code=error.code, message=str(error))
        if tree is None:
            message = f"{name or 'the table'} has no directory {place}; make it, or drop the partition, then run again"
            return Problem(code=DATA_MISSING, message=message)
        return TablePart(name=name, partition=partition, place=place, tree=tree)

    def with_schema_inside(self, table: Table) -> Table:
        """Return the table with the text of its Avro schema in place of the address; one on the web stays where it is.

        The address is in the source's file system, which readers of the copy may not reach, or which may go. A table's
        owner writes it, and all readers of the copy see it: so only the schema of a table of Avro is
        read, from a file system of the cluster (`LocationPolicy.require_copyable`), and only if it is a schema.

        Raises:
            UnsupportedTable: the schema cannot be read, or is none of Avro.
            StorageError: it cannot be read.
        """
        if not (table.storage.serde.library or "").lower().endswith(_SERDE):
            return table

        def inside(parameters: Mapping[str, str]) -> dict[str, str]:
            address = parameters.get(_ADDRESS, "")
            if not address or address.lower().startswith(_WEB):
                return dict(parameters)
            rest = {key: value for key, value in parameters.items() if key != _ADDRESS}
            return {**rest, _TEXT: self._schema(table, address)}

        serde = replace(table.storage.serde, parameters=inside(table.storage.serde.parameters))
        return replace(table, parameters=inside(table.parameters), storage=replace(table.storage, serde=serde))

    def _schema(self, table: Table, address: str) -> str:
        try:
            path = self.place(address)
            with self.storage(path).read(path, length=_MOST + 1) as stream:
                text = stream.read()
            if len(text) > _MOST:
                why = f"it has more than {_MOST} bytes"
            elif _is_schema(text):
                return text.decode()
            else:
                why = "it is no schema of Avro, expected a record in JSON"
        except (ElError, UnicodeDecodeError) as error:
            why = str(error)
        raise UnsupportedTable(about=str(table.name), detail=f"its {_ADDRESS} {address} cannot be read: {why}")


def _is_schema(text: bytes) -> bool:
    """Return whether a text is a record of Avro, which is all that a table's rows can be."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not (isinstance(found, dict) and found.get("type") == "record" and isinstance(found.get("name"), str)):
        return False
    fields = found.get("fields")
    return isinstance(fields, list) and all(
        isinstance(each, dict) and isinstance(each.get("name"), str) and "type" in each for each in fields
    )
