"""Whether an instance has made what it is there for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.availability import DataState
from toolkit.catalog.errors import NoSuchDatabase, NoSuchTable
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.fingerprints import Fingerprint
from toolkit.planning.partition_address import SCHEME
from toolkit.process_runner.late_fingerprint import fingerprint_at
from toolkit.runs.recorder import path_text
from toolkit.storage import NotFound

if TYPE_CHECKING:
    from toolkit.availability import DataAccess, FoundInstance
    from toolkit.planning.instance_storage import FeedStorage, InstanceStorage
    from toolkit.planning.process_io import PlannedOutput, ProcessSite


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What is there of the outputs of an instance.

    Attributes:
        instances: that readers may have.
        lacking: what is not there and should be, in words; empty: nothing.
        is_old: what is there was there before the steps.
        notes: for the user.
    """

    instances: tuple[FeedInstance, ...]
    lacking: str = ""
    is_old: bool = False
    notes: tuple[str, ...] = ()


def feed_instance(site: ProcessSite, storage: FeedStorage, instance: InstanceStorage) -> FeedInstance:
    """How the ledger calls an instance that a process reads or makes."""
    return FeedInstance(
        feed=storage.feed,
        cluster=storage.cluster,
        instance_key=format_instant(instance.instant),
        uri=path_text(site.uri(storage, instance)),
    )


def outputs_before(site: ProcessSite, outputs: Sequence[PlannedOutput], data: DataAccess) -> Mapping[str, str]:
    """What is there of the outputs that steps have to make, before the first of them begins: a digest by name.

    An output of which there is no file is left out.

    Raises:
        StorageError: a store refuses, or does not answer.
        CatalogError: a metastore does.
        Stopped: the run must not go on.
    """
    found = {each.name: _files_of(site, each, data) for each in outputs if _has_to_be_made(site, each)}
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


def checked_outputs(
    site: ProcessSite, outputs: Sequence[PlannedOutput], data: DataAccess, before: Mapping[str, str]
) -> Made:
    """Look at the outputs of an instance whose steps have all succeeded, and complete them.

    The availability flag is the workflow's to write, as Spark writes ``_SUCCESS``. Where there is data and no flag, it
    is written here: the steps have succeeded, so that the data is whole, and without it nobody would ever read it.

    Args:
        site: the process on its cluster.
        outputs: of the instance.
        data: where they are looked at.
        before: see `outputs_before`; what is the same now, nobody has made. Empty: an earlier run may have made it.

    Raises:
        StorageError: a store refuses, or does not answer.
        CatalogError: a metastore does.
        Stopped: the run must not go on.
    """
    instances: list[FeedInstance] = []
    lacking: list[str] = []
    notes: list[str] = []
    old = [each.name for each in outputs if _is_old(site, each, data, before)]
    for each in outputs:
        feed, at = site.feeds[each.storage.feed], each.instance.instant
        found = data.instances_of(feed, site.cluster).look(at)
        flag = feed.availability_flag or ""
        state = _state(site, each, found, data)
        if each.name in old or (state in {DataState.MISSING, DataState.EMPTY} and _has_to_be_made(site, each)):
            how = "what it was before the first step" if each.name in old else state
            lacking.append(f"the output {each.name} is {how} ({found.uri}); is that right, allow_empty: true")
            continue
        if found.state is DataState.MISSING:
            notes.append(f"the output {each.name} was not made")
            continue
        if not found.is_ready:
            path = site.cluster.place(each.instance.paths[LocationType.DATA]).child(flag)
            data.stores(path).write(path, ())
            notes.append(f"the workflow did not write {flag} in {found.uri}, so it was written now")
        instances.append(feed_instance(site, each.storage, each.instance))
    return Made(instances=tuple(instances), lacking="; ".join(lacking), is_old=bool(old), notes=tuple(notes))


def _is_old(site: ProcessSite, output: PlannedOutput, data: DataAccess, before: Mapping[str, str]) -> bool:
    return output.name in before and _files_of(site, output, data).digest == before[output.name]


def _state(site: ProcessSite, output: PlannedOutput, found: FoundInstance, data: DataAccess) -> DataState:
    """That of an output; a partition that is there tells nothing of its files, so they are looked at here."""
    is_partition = found.state is DataState.AVAILABLE and found.uri.startswith(SCHEME)
    if is_partition and _has_to_be_made(site, output) and not fingerprint_at(data, site.cluster, found.uri).files:
        return DataState.EMPTY
    return found.state
