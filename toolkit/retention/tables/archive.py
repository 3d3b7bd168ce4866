"""Archives of partitions: their data, then Hive's ``_metadata`` beside them; only then does the metastore forget them.

Each instance has an export in Hive's layout. Data are copied and compared by the archiver of path feeds (ADR 0035), so
that a rerun finds by the archive itself what is left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.model import ItemResult
from toolkit.actions.publication import remove_wholly, staging_of
from toolkit.availability import is_there
from toolkit.catalog.bound import read_only
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.export_metadata import METADATA, BadMetadataText, metadata_text, read_metadata
from toolkit.errors import Failed
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.retention.archive import MOST_VERSIONS, Archiver, version_of
from toolkit.retention.targets import ArchiveTarget
from toolkit.storage import NotFound, StorageError
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import Partition, Table
    from toolkit.el import CanonicalPath
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.archive import Archived
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.targets import FeedTable, FeedTarget

_R = TypeVar("_R")
_MOST = 256 << 20
"""Bytes of a ``_metadata``: some 100,000 partitions."""


class ForeignExport(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """The ``_metadata`` of an archive describes something else than the table."""

    code = "archive_of_another_table"
    text = "the archive has another export there, so nothing was dropped; move it away, or archive elsewhere"


@dataclass(kw_only=True)
class ArchivedPartitions:
    """Outcome of archiving some partitions.

    Attributes:
        stay: results of those that are not in the archive, by position: the metastore keeps them.
        audit: what was copied, or found there and compared.
        archived: what the archive has of those that were copied, by position; None: there was no data.
    """

    stay: dict[int, ItemResult[PlanItem]] = field(default_factory=dict)
    audit: list[tuple[NewItem, SettledItem]] = field(default_factory=list)
    archived: dict[int, Archived | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PartitionArchive:
    """Archive of the partitions of one feed.

    Attributes:
        target: the feed.
        table: its table.
        archive: where to.
    """

    target: FeedTarget
    table: FeedTable
    archive: ArchiveTarget
    work: RunContext

    def of(self, partitions: Mapping[int, PlanItem]) -> ArchivedPartitions:
        """Archive partitions, each with its definition; one that fails stays, and does not stop the others."""
        outcome = ArchivedPartitions()
        try:
            metastore = read_only(self.table.metastore())
            table = metastore.table(self.table.name)
            found = metastore.partitions(self.table.name, [_name(each) for each in partitions.values()])
        except CatalogError as error:
            outcome.stay = {at: ItemResult.failed(each, error.code, str(error)) for at, each in partitions.items()}
            return outcome
        there = {table.partition_name(each): each for each in found}
        present = {at: item for at, item in partitions.items() if _name(item) in there}  # the drop tells of the others
        self._copy(present, outcome)
        for export, positions in self._by_export(present, outcome).items():
            definitions = {_name(present[at]): there[_name(present[at])] for at in positions}
            done = self._attempted(partial(self._describe, export, table, definitions))
            if isinstance(done, FailedAttempt):
                outcome.stay.update({at: _not_archived(present[at], done) for at in positions})
        self._compare_again(present, outcome)
        return outcome

    def _copy(self, partitions: Mapping[int, PlanItem], outcome: ArchivedPartitions) -> None:
        """Copy the data of partitions, and read them back."""

        def copy(at: int) -> None:
            item = partitions[at]
            if item.archive is None:
                return
            done = self._attempted(partial(self._archiver.archive_version, item.path, item.archive))
            if isinstance(done, FailedAttempt):
                outcome.stay[at] = _not_archived(item, done)
                return
            archived, place = done
            outcome.archived[at] = archived
            kind = f"archive:{item.location}"
            begun = NewItem(position=at, kind=kind, path=str(place), instance_key=item.instance_key)
            how_much = "it has no data" if archived is None else str(archived)
            outcome.audit.append((begun, SettledItem(position=at, state=ItemState.DONE, message=how_much)))

        if partitions:
            self.work.pool(next(iter(partitions.values())).base).run_all(copy, list(partitions))

    def _compare_again(self, partitions: Mapping[int, PlanItem], outcome: ArchivedPartitions) -> None:
        """Keep partitions that were written to while others were copied, which may take hours."""

        def compare(at: int) -> None:
            item, archived = partitions[at], outcome.archived[at]
            require = partial(self._require_absent, item.path) if archived is None else archived.require_unchanged
            done = self._attempted(require)
            if isinstance(done, FailedAttempt):
                outcome.stay[at] = _not_archived(item, done)

        copied = [at for at in outcome.archived if at not in outcome.stay]
        if copied:
            self.work.pool(partitions[copied[0]].base).run_all(compare, copied)

    def _require_absent(self, path: CanonicalPath) -> None:
        if is_there(self.work.stores(path), path):
            raise SourceChanged(path=path, detail="it had no data when it was archived, and has some now")

    def _attempted(self, effect: Callable[[], _R]) -> _R | FailedAttempt:
        return attempted(self.work, effect, failures=(StorageError,))

    @cached_property
    def _archiver(self) -> Archiver:
        return Archiver(work=self.work, base_of=self.archive.base_of, flag=self.target.availability_flag)

    def _by_export(
        self, partitions: Mapping[int, PlanItem], outcome: ArchivedPartitions
    ) -> Mapping[CanonicalPath, Sequence[int]]:
        """Return the positions of what is copied, by the directory of its export."""
        found: dict[CanonicalPath, list[int]] = {}
        for at, item in partitions.items():
            export = self.target.export_of(_name(item))
            if at not in outcome.stay and export is not None:
                found.setdefault(export, []).append(at)
        return found

    def _describe(self, export: CanonicalPath, table: Table, definitions: Mapping[str, Partition]) -> None:
        """Write the ``_metadata`` of an export with these partitions, and with those that it has already.

        Raises:
            ForeignExport: there is one of something else.
            StorageError: it cannot be written, or does not read as it was written.
        """
        system, path = self.work.stores(export), export.child(METADATA)
        text = _read(self.work, path)
        known = {} if text is None else _definitions(path, text, table)
        # A second version of a partition has a hidden name, so that the definition stays that of the first.
        wanted = metadata_text(table, [each for _, each in sorted({**definitions, **known}.items())])
        if text == wanted:
            return
        system.mkdirs(export)
        self.work.guard.check()
        system.write(path, [wanted])
        if _read(self.work, path) != wanted:
            raise ForeignExport(path=path, detail="it does not read as it was written")

    def remove_copies(self, left: Iterable[Item], planned: Iterable[PlanItem]) -> None:
        """Remove unfinished copies of runs that are dead, whose partition, or its archive, is there.

        Of a partition that somebody else has dropped meanwhile the copy may be all that is left: it stays.

        Args:
            left: the items that those runs began.
            planned: the items of this run, made just before.

        Raises:
            StorageError: the archive cannot be used.
        """
        places = {item.uri: item.archive for item in planned if item.archive is not None}
        for item in left:
            name = item.path.partition("#")[2]
            is_own = item.path == f"catalog:{self.table.name.database}:{self.table.name.table}#{name}"
            place = places.get(item.path) or (self._place(name) if is_own else None)
            if place is None:
                continue
            system = self.work.stores(place)
            if not system.capabilities.atomic_rename or (item.path not in places and not is_there(system, place)):
                continue
            for number in range(1, MOST_VERSIONS + 1):
                staging = staging_of(version_of(place, number), str(item.run_id))
                remove_wholly(system, staging, self.archive.base_of(place))

    def _place(self, name: str) -> CanonicalPath | None:
        """Return the archive path of a partition by a name from the ledger; None: it is no partition of the feed."""
        with suppress(ValueError):
            export = self.target.export_of(name)
            return None if export is None else below(export, name)
        return None


def _read(work: RunContext, path: CanonicalPath) -> bytes | None:
    with suppress(NotFound), work.stores(path).read(path, length=_MOST + 1) as stream:
        return stream.read()
    return None


def _definitions(path: CanonicalPath, text: bytes, table: Table) -> Mapping[str, Partition]:
    """Return the partitions that an export has already."""
    try:
        other, partitions = read_metadata(text)
    except BadMetadataText as error:
        raise ForeignExport(path=path, detail=str(error)) from error
    if len(text) > _MOST or (other.name, other.key_names) != (table.name, table.key_names):
        raise ForeignExport(path=path, detail=f"it is of {other.name} by {', '.join(other.key_names)}")
    return {table.partition_name(each): each for each in partitions}


def _name(item: PlanItem) -> str:
    return "" if item.partition is None else item.partition.name


def _not_archived(item: PlanItem, failure: FailedAttempt) -> ItemResult[PlanItem]:
    if failure.refusal is not None:
        return failure.of(item)
    return ItemResult.failed(item, failure.code, f"not archived, so it stays: {failure.message}")
