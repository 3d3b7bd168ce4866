"""The runs of a retention: one for each feed on its cluster, under a lease that nobody else has (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.errors import Skipped
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Origin, RunKey
from toolkit.ledger.runs.starting import StartRequest
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.retention.plan import Failure, FeedPlan
from toolkit.runs.envelope import SkippedRun

if TYPE_CHECKING:
    from toolkit.retention.targets import FeedTarget
    from toolkit.runs.active_run import ActiveRun
    from toolkit.runs.envelope import Envelope
    from toolkit.runs.recorder import RecordedRun


@dataclass(frozen=True, kw_only=True, slots=True)
class StartedFeed:
    """A feed whose lease this run holds."""

    target: FeedTarget
    run: ActiveRun


@dataclass(frozen=True, kw_only=True, slots=True)
class SkippedFeed:
    """A feed that is none of this run's business now."""

    plan: FeedPlan
    run: RecordedRun


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedRuns:
    """Starts the runs of feeds.

    Attributes:
        envelope: of every run.
        nominal_time: for which the feeds are evicted.
        origin_of: who evicts a feed, and what was read for it.
    """

    envelope: Envelope
    nominal_time: datetime
    origin_of: Callable[[str], Origin]

    @property
    def place(self) -> str | None:
        """The ledger's URL without its password; None: the user chose to do without."""
        return self.envelope.place

    def start(
        self, targets: Iterable[FeedTarget], stack: ExitStack
    ) -> tuple[tuple[StartedFeed, ...], tuple[SkippedFeed, ...]]:
        """Start a run for each feed that nothing stands against; the others are skipped, by name.

        Args:
            targets: the feeds.
            stack: ends the runs.

        Raises:
            Stopped: the process must not start anything more.
            Unavailable: the ledger cannot be used.
        """
        started: list[StartedFeed] = []
        skipped: list[SkippedFeed] = []
        wanted = tuple(targets)
        runs = self.envelope.start_all([self._request(target) for target in wanted], stack)
        for target, run in zip(wanted, runs, strict=True):
            if isinstance(run, SkippedRun):
                skipped.append(SkippedFeed(plan=_skipped_plan(target, run.reason), run=run.recorded))
            else:
                started.append(StartedFeed(target=target, run=run))
        return tuple(started), tuple(skipped)

    def _request(self, target: FeedTarget) -> StartRequest:
        key = RunKey(
            life_cycle=LifeCycle.EVICTION,
            entity=target.feed,
            cluster=target.cluster,
            instance_key=format_instant(self.nominal_time),
        )
        return StartRequest(
            key=key,
            origin=self.origin_of(target.feed),
            leases=(Wanted(resource=f"evict/{target.feed}/{target.cluster}"),),
            lease_seconds=self.envelope.lease_seconds,
        )


def _skipped_plan(target: FeedTarget, reason: Skipped) -> FeedPlan:
    return FeedPlan(
        feed=target.feed,
        cluster=target.cluster,
        target=target,
        notes=target.notes,
        skipped=Failure(code=reason.code, message=str(reason)),
    )
