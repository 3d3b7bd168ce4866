"""The envelope of an action's runs, wired: recorder, audit file, heartbeat (DESIGN section 6)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from toolkit.clock import Clock
from toolkit.ledger.database import Ledger
from toolkit.runs.audit import AuditPlace, opened_audit
from toolkit.runs.audit_lines import process_line
from toolkit.runs.deadline import lease_seconds
from toolkit.runs.envelope import Envelope
from toolkit.runs.heartbeat import Heartbeat
from toolkit.runs.identity import current_user, origin_here
from toolkit.runs.ledger_recorder import LedgerRecorder
from toolkit.runs.lifeline import Lifeline
from toolkit.runs.recorder import Recorder
from toolkit.runs.unrecorded import Unrecorded


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """What a process is about to do.

    Attributes:
        name: for example ``retention``.
        ledger: open for writing; None: the user chose to do without.
        audit: the audit file.
        process: the lifeline of the process.
        clock: tells the wall-clock time.
    """

    name: str
    ledger: Ledger | None
    audit: AuditPlace
    process: Lifeline
    clock: Clock


@contextmanager
def opened_envelope(action: Action) -> Iterator[Envelope]:
    """The envelope for all runs of an action; nothing may be changed before it is open.

    Raises:
        AuditUnusable: the audit file cannot be written.
        BadLeaseTime: the environment asks for an impossible one.
    """
    seconds = lease_seconds(os.environ)
    recorder: Recorder = Unrecorded() if action.ledger is None else LedgerRecorder(ledger=action.ledger)
    first = process_line(action=action.name, ledger=recorder.place, who=current_user())
    with (
        opened_audit(action.audit, origin_here(os.environ), action.clock, first) as audit,
        Heartbeat(recorder, seconds=seconds) as heartbeat,
    ):
        yield Envelope(
            recorder=recorder,
            audit=audit,
            process=action.process,
            heartbeat=heartbeat,
            lease_seconds=seconds,
        )
