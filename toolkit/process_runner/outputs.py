"""Completeness of the outputs of an instance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.availability import DataState
from toolkit.catalog.errors import NoSuchDatabase, NoSuchTable
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.fingerprints import Fingerprint
from toolkit.planning.partition_address import SCHEME
from toolkit.process_runner.late_fingerprint import fingerprint_at
from toolkit.process_runner.staging_places import as_written
from toolkit.runs.recorder import path_text
from toolkit.storage import NotFound

if TYPE_CHECKING:
    from toolkit.availability import DataAccess, FoundInstance
    from toolkit.el import CanonicalPath
    from toolkit.planning.instance_storage import FeedStorage, InstanceStorage
    from toolkit.planning.process_io import PlannedOutput, ProcessSite


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """State of an instance's outputs.

    Attributes:
        instances: that readers may have, once what is staged is published.
        lacking: what is not there and should be, in words; empty: nothing.
        is_old: what lacks was not made by the steps of this run, so that all of them run again.
        missing: the names of the outputs that were not made, and need not be.
        unflagged: the availability flags that are not there yet, by the name of the output.
        staged: the names of the outputs that are validated and published next.
    """

    instances: tuple[FeedInstance, ...] = ()
    lacking: str = ""
    is_old: bool = False
    missing: frozenset[str] = frozenset()
    unflagged: Mapping[str, CanonicalPath] = field(default_factory=dict)
    staged: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes for the user."""
        return tuple(f"the output {name} was not made" for name in sorted(self.missing))


def feed_instance(site: ProcessSite, storage: FeedStorage, instance: InstanceStorage) -> FeedInstance:
    """Return how the ledger calls an instance that a process reads or makes."""
    return FeedInstance(
        feed=storage.feed,
        cluster=storage.cluster,
        instance_key=format_instant(instance.instant),
        uri=path_text(site.uri(storage, instance)),
    )


def written_outputs(site: ProcessSite, outputs: Sequence[PlannedOutput], data: DataAccess) -> Mapping[str, str]:
    """Return the digest of the files of each output by its name, where the steps write it.

    An output without a file is left out. The digest is of names, sizes and modification times.

    Raises:
        StorageError: a store refuses, or does not answer.
        CatalogError: a metastore does.
        Stopped: the run must not go on.
    """
    found = {each.name: _files_of(site, as_written(site, each), data) for each in outputs}
    return {name: files.digest for name, files in found.items() if files.files}


def _files_of(site: ProcessSite, output: PlannedOutput, data: DataAccess) -> Fingerprint:
    address = site.uri(output.storage, output.instance)
    try:
        return fingerprint_at(data, site.cluster, address)
    except (NoSuchDatabase, NoSuchTable):
        return Fingerprint.of(())  # the first run of all makes the table, too
    except NotFound as error:
        if address.startswith(SCHEME) or not site.cluster.place(address).is_within(error.path):
            raise
        return Fingerprint.of(())  # and the feed's directories


def _has_to_be_made(site: ProcessSite, output: PlannedOutput) -> bool:
    return not site.process.outputs[output.name].allow_empty


def unwritten(site: ProcessSite, outputs: Sequence[PlannedOutput], names: Collection[str]) -> str:
    """Say which outputs the steps left as they were, in words; empty: none.

    Such an output may be what a step had written that failed or died in its middle, so that it is never announced.

    Args:
        site: the process on its cluster.
        outputs: of the instance.
        names: of the outputs that are there, and that no step has written.
    """
    return "; ".join(
        f"the output {each.name} is what it was before the first step"
        f" ({site.uri(each.storage, as_written(site, each).instance)}), so it may be what a failed step left; remove it"
        " or let the workflow write all of it; if the workflow may leave it as it is, allow_existing: true"
        for each in outputs
        if each.name in names and not site.process.outputs[each.name].allow_existing
    )


def look_at_outputs(site: ProcessSite, outputs: Sequence[PlannedOutput], data: DataAccess) -> Made:
    """Look at the outputs of an instance whose steps have all succeeded; changes nothing.

    Args:
        site: the process on its cluster.
        outputs: of the instance.
        data: where they are looked at.

    Raises:
        StorageError: a store refuses, or does not answer.
        CatalogError: a metastore does.
        Stopped: the run must not go on.
    """
    instances: list[FeedInstance] = []
    unflagged: dict[str, CanonicalPath] = {}
    missing: list[str] = []
    lacking: list[str] = []
    for each in outputs:
        feed, at = site.feeds[each.storage.feed], each.instance.instant
        found = data.instances_of(feed, site.cluster).look(at)
        state = _state(site, each, found, data)
        if state in {DataState.MISSING, DataState.EMPTY} and _has_to_be_made(site, each):
            lacking.append(f"the output {each.name} is {state} ({found.uri}); is that right, allow_empty: true")
            continue
        if found.state is DataState.MISSING:
            missing.append(each.name)
            continue
        flag = None if found.is_ready else flag_of(site, each)
        unflagged |= {} if flag is None else {each.name: flag}
        instances.append(feed_instance(site, each.storage, each.instance))
    return Made(
        instances=tuple(instances),
        lacking="; ".join(lacking),
        missing=frozenset(missing),
        unflagged=unflagged,
    )


def flag_of(site: ProcessSite, output: PlannedOutput) -> CanonicalPath | None:
    """Return the availability flag that a run writes when the workflow has not; None: there is none.

    The flag is the workflow's to write, as Spark writes ``_SUCCESS``. Where there is data and no flag, the run writes
    it: the steps have succeeded, so that the data is whole, and without it no reader would ever see it. Of an output
    that is validated it is a part of what is published.
    """
    flag = site.feeds[output.storage.feed].availability_flag
    path = output.instance.paths.get(LocationType.DATA)
    if not flag or path is None or site.quality_of(output.name) is not None:
        return None
    return site.cluster.place(path).child(flag)


def _state(site: ProcessSite, output: PlannedOutput, found: FoundInstance, data: DataAccess) -> DataState:
    """That of an output; a partition that is there tells nothing of its files, so they are looked at here."""
    is_partition = found.state is DataState.AVAILABLE and found.uri.startswith(SCHEME)
    if is_partition and _has_to_be_made(site, output) and not fingerprint_at(data, site.cluster, found.uri).files:
        return DataState.EMPTY
    return found.state
