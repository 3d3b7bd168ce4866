"""Merging of small files, each group to one file; by executors when there is much to merge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied
from toolkit.actions.guard import CalledOff
from toolkit.actions.model import ItemResult
from toolkit.errors import Failed, FeedctlError, Unavailable
from toolkit.ingest_job.targets import code_of

if TYPE_CHECKING:
    from toolkit.compaction.batches import TableWork
    from toolkit.compaction.targets import CompactItem
    from toolkit.ingest.port import DataFile, FileMerge, IngestTable, TableState

SPREAD_BYTES = 2 << 30
"""Executors merge when so many bytes are to be merged: Spark takes some seconds to have them."""
SPREAD_MERGES = 64
"""So many merges executors do for one commit."""


class FilesAreReplaced(Failed):
    """Error for files that another engine has replaced since the plan was made.

    Args:
        table: the table.
        uri: one of them.
    """

    code = "files_are_replaced"

    def __init__(self, *, table: str, uri: str) -> None:
        self.table, self.uri = table, uri
        super().__init__(f"{uri} is not a file of {table} any more: another engine replaced it; nothing was merged")


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """A merge that was tried.

    Attributes:
        number: of the merge in its batch.
        file: the new file; None: it failed.
        error: code and message of the error; None: it did not fail.
    """

    number: int
    file: DataFile | None = None
    error: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class MergeBatch:
    """Merges that are committed together, each of the files of one partition; see `Batch`."""

    run: TableWork
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[CompactItem]:
        """Write the new files, then replace the others by them in one commit."""
        return self.run.applied(self.positions, self._merged, advance)

    def _merged(self, table: IngestTable) -> Applied[CompactItem]:
        items = self.run.items(self.positions)
        name = f"feedctl-merged-{self.run.work.run_name}-{self.positions.start}"
        merges = list(enumerate(table.merges([item.files for item in items], name)))
        executors = self.run.work.executors if len(items) > 1 else None
        if executors is None:  # an error is that of the batch
            found = {number: Merged(number=number, file=merge.written()) for number, merge in merges}
        else:
            found = {each.number: each for each in executors().run(write_merge, merges, check=self.run.check)}
        new = {at: each.file for at, each in found.items() if each.file is not None}
        if new:
            self._commit(table, [each for at in new for each in items[at].files], list(new.values()))
        errors = {at: each.error for at, each in found.items() if each.error is not None}
        results = (
            ItemResult.failed(item, *errors[at]) if at in errors else ItemResult.done(item)
            for at, item in enumerate(items)
        )
        return Applied(results=tuple(results))

    def _commit(self, table: IngestTable, old: Sequence[DataFile], new: Sequence[DataFile]) -> None:
        def replace(base: TableState, properties: Mapping[str, str]) -> None:
            self.run.check()
            there = _uris(table, new)
            if missing := [each.uri for each in old if each.uri not in there]:
                raise FilesAreReplaced(table=table.name, uri=missing[0])
            table.replace(old, new, properties, base)

        try:
            self.run.commits(table).commit(replace, lambda: new[0].uri in _uris(table, new))
        except (CalledOff, Failed):  # it is certain that the new files are not in the table
            with suppress(FeedctlError):
                table.discard(new)
            raise


def write_merge(merge: tuple[int, FileMerge], attempt: int) -> Iterator[Merged]:
    """Do the task of an executor.

    Raises:
        Unavailable: the store does not answer; another attempt may find it up.
    """
    del attempt
    number, files = merge
    try:
        yield Merged(number=number, file=files.written())
    except Unavailable:
        raise
    except FeedctlError as error:
        yield Merged(number=number, error=(code_of(error), str(error)))


def _uris(table: IngestTable, files: Sequence[DataFile]) -> frozenset[str]:
    """Return the files of a table in the partitions of files."""
    return frozenset(each.uri for each in table.files({each.partition for each in files}))
