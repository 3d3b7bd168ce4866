"""The envelope of an action's runs, wired: recorder, audit file, heartbeat (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from toolkit.clock import Clock
from toolkit.ledger.database import Ledger
from toolkit.runs import lease
from toolkit.runs.audit import AuditPlace, opened_audit
from toolkit.runs.audit_lines import process_line
from toolkit.runs.lease import Heartbeat
from toolkit.runs.ledger_recorder import LedgerRecorder
from toolkit.runs.null_recorder import NullRecorder
from toolkit.runs.owner import ProcessTable
from toolkit.runs.recorder import NoRunEnds, Recorder, RunEnds, current_user, origin_here
from toolkit.runs.run import Envelope
from toolkit.runs.stop import StopSignal
from toolkit.variables import Variables


@dataclass(frozen=True, kw_only=True, slots=True)
class Enveloped:
    """Description of a process's work for the envelope.

    Attributes:
        name: for example ``retention``.
        ledger: open for writing; None: the user chose to do without.
        audit: the audit file.
        process: the stop signal of the process.
        clock: tells the wall-clock time.
        variables: of the process.
        ends: receives the ends of runs.
    """

    name: str
    ledger: Ledger | None
    audit: AuditPlace
    process: StopSignal
    clock: Clock
    variables: Variables
    ends: RunEnds = field(default_factory=NoRunEnds)


@contextmanager
def opened_envelope(action: Enveloped) -> Iterator[Envelope]:
    """The envelope for all runs of an action; nothing may be changed before it is open.

    Raises:
        AuditUnusable: the audit file cannot be written.
    """
    recorder: Recorder = (
        NullRecorder(action.ends)
        if action.ledger is None
        else LedgerRecorder(ledger=action.ledger, is_gone=ProcessTable().is_gone, ends=action.ends)
    )
    first = process_line(action=action.name, ledger=recorder.place, who=current_user())
    with (
        opened_audit(action.audit, origin_here(action.variables), action.clock, first) as audit,
        Heartbeat(recorder, seconds=lease.LEASE_SECONDS) as heartbeat,
    ):
        yield Envelope(
            recorder=recorder,
            audit=audit,
            process=action.process,
            heartbeat=heartbeat,
            lease_seconds=lease.LEASE_SECONDS,
        )
