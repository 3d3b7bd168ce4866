"""The product's run over a case of the fuzzer, with a ledger in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.soak.places import Store
from tests.soak.retention_oracle import Case
from tests.unit.runs.fakes import MemoryRecorder, envelope_of
from toolkit.config_source import SnapshotId, SnapshotKind
from toolkit.el import Frequency
from toolkit.entities import (
    Cluster,
    Feed,
    FeedCluster,
    Hold,
    Interface,
    Interfaces,
    LateArrival,
    Locations,
    Retention,
    Validity,
)
from toolkit.ledger.runs.rows import Origin
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import FeedRuns, Resolver, RetentionRequest, RetentionResult, RetentionRun
from toolkit.retention.pace import Pace
from toolkit.runs.heartbeat import Heartbeat
from toolkit.runs.lifeline import CurrentLifeline, Lifeline
from toolkit.storage import FileSystem, StorageSpec, open_file_system
from toolkit.storage.deadlines import PATIENCE_SECONDS

_NAME, _CLUSTER = "fuzzed", "here"
_LEASE_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening:
    """How a run opens its store.

    Args:
        patience: seconds for which it may be silent.
        rate: so many changes a second; None: any number.
    """

    patience: float = PATIENCE_SECONDS
    rate: float | None = None

    def opened(self, spec: StorageSpec, check: Callable[[], None], *, read_only: bool) -> FileSystem:
        """The store, as `toolkit.bootstrap` opens it."""
        before_effect = check if self.rate is None else Pace(rate=self.rate, check=check).wait
        return open_file_system(spec, read_only=read_only, before_effect=before_effect, patience=self.patience)


_USUAL = Opening()


def run(
    case: Case,
    place: Store,
    lifeline: Lifeline,
    recorder: MemoryRecorder | None = None,
    *,
    dry_run: bool = False,
    opening: Opening = _USUAL,
) -> RetentionResult:
    """A retention run over the case's feed."""
    current = CurrentLifeline(lifeline)
    system = opening.opened(place.spec, current.check, read_only=dry_run)
    holds = () if case.hold is None else (Hold(feed=_NAME, start=case.hold[0], end=case.hold[1], reason="fuzz"),)
    resolver = Resolver(nominal_time=case.nominal, keep_beyond_validity=True, holds=holds, storage=lambda _: system)
    cluster = Cluster(name=_CLUSTER, interfaces=Interfaces(write=Interface(endpoint=place.endpoint)))
    feeds = resolver.resolve([(_feed(case), cluster)], must_all_work=True)
    retention, request = RetentionRun(storage=lambda _: system, lifeline=current), _request(case, dry_run=dry_run)
    if dry_run:
        return retention.preview(request, feeds)
    recorder = recorder or MemoryRecorder()
    with Heartbeat(recorder, seconds=_LEASE_SECONDS) as heartbeat:
        envelope = envelope_of(recorder, heartbeat, process=lifeline)
        runs = FeedRuns(envelope=envelope, nominal_time=case.nominal, origin_of=lambda _: Origin(who="fuzz"))
        return retention.run(request, feeds, runs)


def _request(case: Case, *, dry_run: bool) -> RetentionRequest:
    return RetentionRequest(
        nominal_time=case.nominal,
        dry_run=dry_run,
        approve=None,
        limits=DeleteLimits(instances=10_000),
        environment=None,
        snapshot=SnapshotId(kind=SnapshotKind.DIRECTORY, value="fuzz"),
        tzdata="",
    )


def _feed(case: Case) -> Feed:
    on_cluster = FeedCluster(
        name=_CLUSTER,
        validity=Validity(start=case.start, end=case.end),
        retention=Retention(limit=Frequency.parse(case.limit), keep_last=case.keep_last or None),
        keep_instances_beyond_validity=case.keeps_beyond,
    )
    data, *stats = (layout.template for layout in case.layouts)
    return Feed(
        name=_NAME,
        frequency=Frequency.parse(case.frequency),
        timezone=case.calendar_zone,
        path_timezone=case.zone,
        late_arrival=LateArrival(cut_off=Frequency.parse(case.cut_off)) if case.cut_off else None,
        locations=Locations(data=data, stats=stats[0] if stats else None),
        clusters=(on_cluster,),
        availability_flag=case.flag or None,
        properties=dict(case.layouts[0].properties),
    )
