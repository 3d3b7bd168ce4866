"""The instances of an ingested feed: what its table says is closed, and has rows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.availability.state import DataState, FoundInstance
from toolkit.catalog.errors import MetastoreFailure, MetastoreUnreachable
from toolkit.errors import FeedctlError, Unavailable
from toolkit.ingest.errors import NoSuchIngestTable
from toolkit.ingest_job.instances import IngestInstances, closed_before

if TYPE_CHECKING:
    from toolkit.el import InstanceSequence
    from toolkit.ingest.port import DataFile, IngestTable

_TOGETHER = 500
"""So many instances are looked at by one look at the table."""


@dataclass(frozen=True, kw_only=True)
class IngestedInstances:
    """The `FeedInstances` of an ingested feed.

    An instance is available when it is closed and has rows. Rows of one that is not closed are partial: more may come.

    Attributes:
        instances: of the feed.
        name: of the table.
        open_table: opens it; raises `NoSuchIngestTable`.
    """

    instances: IngestInstances
    name: str
    open_table: Callable[[], AbstractContextManager[IngestTable]]

    @property
    def sequence(self) -> InstanceSequence:
        """Return the instances by the feed's validity."""
        return self.instances.sequence

    def look(self, instant: datetime) -> FoundInstance:
        """Return the rows of one instance.

        Raises:
            CatalogError: the catalog refuses, or does not answer.
        """
        return next(iter(self._looked([instant])))

    def look_at(self, instants: Iterable[datetime]) -> Iterator[FoundInstance]:
        """Yield the rows of instances, 500 of them by one look. Raises as `look`, while it is iterated."""
        group: list[datetime] = []
        for each in instants:
            group.append(each)
            if len(group) == _TOGETHER:
                yield from self._looked(group)
                group = []
        yield from self._looked(group) if group else ()

    def is_ready(self, instant: datetime) -> bool:
        """Return whether the instance may be read. Raises as `look`."""
        return self.look(instant).is_ready

    def counted(self) -> Container[datetime]:
        """Return an `Availability` that remembers what it saw."""
        return _Counted(of=self)

    def _looked(self, instants: Sequence[datetime]) -> Sequence[FoundInstance]:
        partitions = {each: self.instances.partition(each) for each in instants}
        with _catalog_errors(self.name):
            try:
                with self.open_table() as table:
                    closed, files = closed_before(table.state()), table.files(set(partitions.values()))
            except NoSuchIngestTable:
                closed, files = None, ()
        return [
            self._found(each, closed, [file for file in files if file.partition == partitions[each]])
            for each in instants
        ]

    def _found(self, instant: datetime, closed: datetime | None, files: Sequence[DataFile]) -> FoundInstance:
        is_ready = bool(files) and closed is not None and instant < closed
        there = DataState.AVAILABLE if is_ready else DataState.PARTIAL
        return FoundInstance(
            instant=instant,
            uri=self.instances.partition_uri(self.name, instant),
            state=there if files else DataState.MISSING,
            is_ready=is_ready,
            files=len(files),
            bytes=sum(each.bytes for each in files),
            rows=sum(each.rows for each in files),
        )


@dataclass(kw_only=True)
class _Counted:
    """Readiness of instances; each is looked at once."""

    of: IngestedInstances
    _answers: dict[datetime, bool] = field(default_factory=dict, init=False)

    def __contains__(self, instant: object) -> bool:
        if not isinstance(instant, datetime) or instant not in self.of.sequence:
            return False
        if instant not in self._answers:
            self._answers[instant] = self.of.is_ready(instant)
        return self._answers[instant]


@contextmanager
def _catalog_errors(name: str) -> Iterator[None]:
    """Raise errors of the table as those of a metastore, which all that reads instances understands."""
    try:
        yield
    except Unavailable as error:
        raise MetastoreUnreachable(about=name, detail=str(error)) from error
    except FeedctlError as error:
        raise MetastoreFailure(about=name, detail=str(error)) from error
