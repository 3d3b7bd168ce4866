"""Whether an instance has made what it is there for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.availability import DataState, instances_of
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.planning.instance_storage import FeedStorage, InstanceStorage
    from toolkit.planning.process_io import PlannedOutput, ProcessSite
    from toolkit.storage import FileSystem


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What is there of the outputs of an instance.

    Attributes:
        instances: that readers may have.
        lacking: what is not there and should be, in words; empty: nothing.
        notes: for the user.
    """

    instances: tuple[FeedInstance, ...]
    lacking: str = ""
    notes: tuple[str, ...] = ()


def feed_instance(site: ProcessSite, storage: FeedStorage, instance: InstanceStorage) -> FeedInstance:
    """How the ledger calls an instance that a process reads or makes."""
    return FeedInstance(
        feed=storage.feed,
        cluster=storage.cluster,
        instance_key=format_instant(instance.instant),
        uri=path_text(site.uri(storage, instance)),
    )


def checked_outputs(
    site: ProcessSite, outputs: Sequence[PlannedOutput], stores: Callable[[CanonicalPath], FileSystem]
) -> Made:
    """Look at the outputs of an instance whose steps have all succeeded, and complete them.

    The availability flag is the workflow's to write, as Spark writes ``_SUCCESS``. Where there is data and no flag, it
    is written here: the steps have succeeded, so that the data is whole, and without it nobody would ever read it.

    Raises:
        StorageError: a store refuses, or does not answer.
        Stopped: the run must not go on.
    """
    instances: list[FeedInstance] = []
    lacking: list[str] = []
    notes: list[str] = []
    for each in outputs:
        feed, at = site.feeds[each.storage.feed], each.instance.instant
        found = instances_of(feed, site.cluster, stores).look(at)
        flag = feed.availability_flag or ""
        is_optional = site.process.outputs[each.name].allow_empty
        if found.state in {DataState.MISSING, DataState.EMPTY} and not is_optional:
            lacking.append(f"the output {each.name} is {found.state} ({found.uri}); is that right, allow_empty: true")
            continue
        if found.state is DataState.MISSING:
            notes.append(f"the output {each.name} was not made")
            continue
        if not found.is_ready:
            path = site.cluster.place(each.instance.paths[LocationType.DATA]).child(flag)
            stores(path).write(path, ())
            notes.append(f"the workflow did not write {flag} in {found.uri}, so it was written now")
        instances.append(feed_instance(site, each.storage, each.instance))
    return Made(instances=tuple(instances), lacking="; ".join(lacking), notes=tuple(notes))
