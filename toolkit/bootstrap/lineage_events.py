"""Events of OpenLineage about an action's runs, wired: appended to the spool in the run, and sent when it is over."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from typing_extensions import override

from toolkit.bootstrap.ledgers import spool_file
from toolkit.config_source.snapshot import SnapshotKind
from toolkit.entities.lineage import LineageTransport
from toolkit.errors import FeedctlError
from toolkit.ledger.identity import identity_of
from toolkit.ledger.lineage_reports import NO_REPORT, run_report
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.lineage.ship import ship_beside
from toolkit.lineage.spool import Spool
from toolkit.runs.recorder import RecordedRun, RunEnds

if TYPE_CHECKING:
    from toolkit.bootstrap.messages import Messages
    from toolkit.config_source import Snapshot
    from toolkit.ledger.lineage_reports import RunReport
    from toolkit.ledger.runs.rows import RunKey
    from toolkit.lineage.openlineage import Event, EventFactory
    from toolkit.runs.recorder import LedgerWrite, RunOutcome

_LOG = logging.getLogger(__name__)
_STATES = {
    RunStatus.SUCCEEDED: "COMPLETE",
    RunStatus.FAILED: "FAIL",
    RunStatus.TIMED_OUT: "FAIL",
    RunStatus.KILLED: "ABORT",
}
_LOADED = frozenset({LifeCycle.INGEST, LifeCycle.IMPORT})
_AGAIN_SECONDS = 60.0
"""So often an event says that a run still works."""


@dataclass(kw_only=True)
class LineageEvents(RunEnds):
    """Appends events about runs to the spool; whatever stands against it, the run goes on.

    Attributes:
        action: name of the action.
        snapshot: the config repo as it was read.
        messages: take note of the runs before; they have the entities and the variables too.
    """

    action: str
    snapshot: Snapshot
    messages: Messages[Any]
    _call: str = field(default_factory=lambda: str(uuid4()), init=False)
    _noted: dict[RunKey | int, float] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _failures: list[str] = field(default_factory=list, init=False)

    @override
    def works(self, run: RecordedRun) -> None:
        if self.messages.repository.settings.lineage.openlineage.transport is LineageTransport.NONE:
            return
        with self._lock:
            name, now, is_first = _name_of(run), time.monotonic(), not self._noted
            before = self._noted.get(name)
            if before is not None and now - before < _AGAIN_SECONDS:
                return
            self._noted[name] = now
        self._append(lambda: self._begin(run, is_first=is_first) if before is None else [self._event("RUNNING", run)])

    @override
    def writes(self, run: RecordedRun, outcome: RunOutcome) -> Sequence[LedgerWrite]:
        return self.messages.writes(run, outcome)

    @override
    def ended(self, run: RecordedRun, outcome: RunOutcome) -> None:
        self.messages.ended(run, outcome)
        state = _STATES.get(outcome.status)
        if state is not None and _name_of(run) not in self._noted:
            self.works(run)
        if _name_of(run) in self._noted:  # else it waits, or was skipped
            self._append(lambda: self._end(state or "ABORT", run, outcome))

    def close(self) -> tuple[str, ...]:
        """Let what waits be sent; a receiver of events is not waited for.

        Returns:
            Notes for the user, once.
        """
        notes = self.messages.close()
        if self._noted:
            self._append(lambda: [self._factory.action_event("COMPLETE", self.messages.clock.now())])
            self._noted.clear()
            settings = self.messages.repository.settings
            hosts = settings.monitoring.allowed_hosts
            try:
                ship_beside(self._spool, settings.lineage.openlineage, hosts, self.messages.variables)
            except (FeedctlError, OSError) as error:
                self._failures.append(str(error))
        failures, self._failures = dict.fromkeys(self._failures), []
        return (*notes, *(f"events of OpenLineage are missing or wait: {each}" for each in failures))

    @cached_property
    def _spool(self) -> Spool:
        return Spool(spool_file(self.snapshot, self.messages.repository.settings, self.messages.variables))

    @cached_property
    def _factory(self) -> EventFactory:
        from toolkit.lineage.openlineage import EventFactory  # noqa: PLC0415 - an extra, which takes 0.3 s to load

        found, ledger = self.snapshot.id, self.messages.ledger
        return EventFactory(
            repository=self.messages.repository,
            commit=found.value if found.kind is SnapshotKind.COMMIT and not found.dirty else None,
            action=self.action,
            call=self._call,
            ledger=None if ledger is None else identity_of(ledger),
        )

    def _append(self, events: Callable[[], Iterable[Event]]) -> None:
        """Append events as far as they can be made; what stands against it is told when the action is over."""
        try:
            for event in events():
                self._spool.append(json.dumps(event).encode())
        except ModuleNotFoundError as error:
            self._failures.append(f"{error.name} is not installed: pip install feedctl[lineage]")
        except (FeedctlError, OSError, ValueError) as error:
            _LOG.warning('event=lineage_not_recorded why="%s"', error)
            self._failures.append(str(error))

    def _begin(self, run: RecordedRun, *, is_first: bool) -> Iterator[Event]:
        if is_first:
            yield self._factory.action_event("START", self.messages.clock.now())
        for dead in run.taken_over:
            yield self._event("ABORT", RecordedRun(key=dead.key, run_id=dead.run_id, attempt=dead.attempt), dead.reason)
        yield self._event("START", run)

    def _end(self, state: str, run: RecordedRun, outcome: RunOutcome) -> Iterator[Event]:
        """Yield the last event of a run, unless another one took its leases and has said that it is over."""
        report = self._report(run)
        if report.status is RunStatus.KILLED and outcome.status is not RunStatus.KILLED:
            return
        yield self._event(state, run, outcome.reason, report)
        if run.key.life_cycle in _LOADED and outcome.status is RunStatus.SUCCEEDED:
            pairs = [(run.key.entity, run.key.cluster)]
            yield from self._factory.dataset_events(pairs, self.messages.clock.now(), report)

    def _event(self, state: str, run: RecordedRun, reason: str | None = None, report: RunReport | None = None) -> Event:
        return self._factory.run_event(state, run, self.messages.clock.now(), report or self._report(run), reason or "")

    def _report(self, run: RecordedRun) -> RunReport:
        ledger, number = self.messages.ledger, run.run_id
        return NO_REPORT if ledger is None or number is None else ledger.read(lambda tx: run_report(tx, number))


def _name_of(run: RecordedRun) -> RunKey | int:
    return run.key if run.run_id is None else run.run_id
