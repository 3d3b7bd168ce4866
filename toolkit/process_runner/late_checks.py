"""Looking again at what instances have read: which checks are due, and what has changed since (DESIGN 7 and 8)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.availability import is_ready
from toolkit.el import CanonicalPath, format_instant, parse_instant
from toolkit.errors import InvalidInput
from toolkit.ledger import fingerprints, late_checks
from toolkit.ledger.fingerprints import Fingerprint, ReadInput, changes
from toolkit.ledger.late_checks import MadeCheck, OpenInstance
from toolkit.ledger.vocabulary import LateCheckResult
from toolkit.planning.late_schedule import LateSchedule, late_schedule
from toolkit.planning.partition_address import SCHEME
from toolkit.process_runner.late_fingerprint import fingerprint_of_input
from toolkit.runs.errors import RunKilled
from toolkit.runs.recorder import message_text, path_text

if TYPE_CHECKING:
    from toolkit.actions.guard import Guard
    from toolkit.availability import DataAccess
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.planning.process_io import ProcessSite
    from toolkit.runs.errors import Stopped
    from toolkit.runs.recorder import LedgerWrite

MOST_KILLED = 3
"""So many runs for one check are begun anew after they were killed, or died; what ends them would end the next, too."""
_SHOWN = 3
"""So many files are named; the others are counted."""


class NoLateData(InvalidInput):
    """A process whose inputs are not checked for late data.

    Args:
        process: its name.
    """

    def __init__(self, *, process: str) -> None:
        self.process = process
        super().__init__(f"process {process} has no late_process; add one with the inputs that data may come late for")


class NothingRead(InvalidInput):
    """An instance that cannot be looked at again, since it has not noted what it has read.

    Args:
        process: its name.
        instance_key: which instance.
    """

    def __init__(self, *, process: str, instance_key: str) -> None:
        self.process, self.instance_key = process, instance_key
        found = f"{instance_key} of {process} has not succeeded with late_process yet, or its cut-off is over"
        super().__init__(f"the instance {found}; `feedctl instance status {process}` shows what ran")


@dataclass(frozen=True, kw_only=True, slots=True)
class LateInput:
    """A feed instance that a process instance has read, and that has changed since.

    Attributes:
        read: what it was.
        now: what it is.
    """

    read: ReadInput
    now: Fingerprint

    @property
    def is_gone(self) -> bool:
        """Nothing of it is there any more."""
        return self.now.files == 0

    def __str__(self) -> str:
        """For example ``clicks of 2026-03-01T05:00Z: added part-7; 1 file and 120 bytes more``."""
        before = self.read.fingerprint
        found = changes(before, self.now)
        files = [] if found is None else [*_named("added", found.added), *_named("changed", found.changed)]
        files += [] if found is None else _named("removed", found.removed)
        shown = ", ".join(files[:_SHOWN]) + (f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else "")
        more = f"{self.now.files - before.files:+d} files, {self.now.size - before.size:+d} bytes"
        return f"{self.read.input} of {self.read.instance_key}: {shown}{'; ' if shown else ''}{more}"


def _named(what: str, names: Sequence[str]) -> list[str]:
    return [f"{what} {message_text(name)}" for name in names]


@dataclass(frozen=True, kw_only=True, slots=True)
class DueCheck:
    """An instance that is to be looked at again.

    Attributes:
        site: the process on its cluster.
        instance_key: which instance.
        run_id: the attempt that has noted what it read.
        due_at: the time of the check; None: it was asked for before one is due, and none is noted.
        is_last: no check follows.
        killed: so many runs for it were killed already.
    """

    site: ProcessSite
    instance_key: str
    run_id: int
    due_at: datetime | None
    is_last: bool
    killed: int = 0

    @property
    def nominal_time(self) -> datetime:
        """The nominal time of the instance, UTC."""
        return parse_instant(self.instance_key)


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedInstance:
    """Result of a check.

    Attributes:
        due: the check.
        late: what has changed, input by input.
    """

    due: DueCheck
    late: tuple[LateInput, ...]

    @property
    def gone(self) -> tuple[LateInput, ...]:
        """The compulsory inputs that are not there any more."""
        inputs = self.due.site.process.inputs
        return tuple(each for each in self.late if each.is_gone and not inputs[each.read.input].optional)

    @property
    def verdict(self) -> LateCheckResult:
        """In one word."""
        if self.gone:
            return LateCheckResult.GONE
        return LateCheckResult.LATE if self.late else LateCheckResult.UNCHANGED

    @property
    def is_given_up(self) -> bool:
        """True if data came late, and the runs for this check were killed too often for another one."""
        return self.verdict is LateCheckResult.LATE and self.due.killed >= MOST_KILLED

    @property
    def cause(self) -> str:
        """The changes in words; empty: there is none."""
        return "; ".join(map(str, self.late))

    @property
    def changed(self) -> frozenset[str]:
        """The names of the inputs that have changed."""
        return frozenset(each.read.input for each in self.late)

    def made(self, run_id: int | None = None) -> tuple[MadeCheck, ...]:
        """Return the ledger's record of the check; nothing when no check was due.

        Args:
            run_id: the attempt that it led to.
        """
        if self.due.due_at is None:
            return ()
        made = MadeCheck(
            process=self.due.site.process.name,
            cluster=self.due.site.cluster.name,
            instance_key=self.due.instance_key,
            due_at=self.due.due_at,
            is_last=self.due.is_last,
            verdict=self.verdict,
            cause=self.cause or None,
            run_id=run_id,
        )
        return (made,)


@dataclass(frozen=True, kw_only=True, slots=True)
class DueChecks:
    """Checks that are due, and those that are no longer expected.

    Attributes:
        checks: oldest instance first.
        not_expected: of instances of which late data cannot come any more; they are not looked at again.
    """

    checks: tuple[DueCheck, ...]
    not_expected: tuple[MadeCheck, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LateChecker:
    """Finds checks that are due, and makes them; changes nothing itself.

    Attributes:
        ledger: where what was read is noted.
    """

    ledger: Ledger

    def due(self, site: ProcessSite, at: datetime) -> DueChecks:
        """The instances of a process that are to be looked at.

        Args:
            site: the process on a cluster.
            at: checks up to this instant have come, UTC.

        Raises:
            NoLateData: the inputs of the process are not checked for late data.
            LedgerUnavailable: the ledger cannot be used.
        """
        checks: list[DueCheck] = []
        over: list[MadeCheck] = []
        for each in self._open(site):
            schedule = _schedule(site, each)
            if schedule is None or schedule.cut_off <= schedule.nominal_time:
                over += [_not_expected(site, each)] if _is_over(site, each, at) else []
            elif (due_at := schedule.due(at, each.last_check)) is not None:
                checks.append(_check(site, each, schedule, due_at))
        return DueChecks(checks=tuple(checks), not_expected=tuple(over))

    def of_instance(self, site: ProcessSite, nominal_time: datetime, at: datetime) -> DueCheck:
        """Return one instance, to be looked at whether a check is due or not, however often its runs were killed.

        Raises:
            NothingRead: it has not noted what it read, or its last check is over.
            NotAnInstance: the process has no such instance on the cluster.
            NoLateData: as `due`.
            LedgerUnavailable: the ledger cannot be used.
        """
        site.process.instances_on(site.cluster.name).index(nominal_time)
        key = format_instant(nominal_time)
        for each in self._open(site):
            if each.instance_key == key:
                schedule = _schedule(site, each)
                due_at = None if schedule is None else schedule.due(at, each.last_check)
                return replace(_check(site, each, schedule, due_at), killed=0)
        raise NothingRead(process=site.process.name, instance_key=key)

    def read_by(self, checks: Iterable[DueCheck]) -> dict[int, list[ReadInput]]:
        """Return the inputs that the attempts have read, by the number of the run."""
        numbers = [each.run_id for each in checks]
        return self.ledger.read(lambda tx: fingerprints.of_runs(tx, numbers))

    def _open(self, site: ProcessSite) -> list[OpenInstance]:
        if site.process.late_process is None:
            raise NoLateData(process=site.process.name)
        names = (site.process.name, site.cluster.name)
        return self.ledger.read(lambda tx: late_checks.open_instances(tx, *names))


def look(due: DueCheck, read: Iterable[ReadInput], data: DataAccess) -> CheckedInstance:
    """Compare what an instance has read with what is there now; inputs without a terminal any more are left out.

    The ledger names the input and its instance. Where that is now is computed: a feed may have moved since.

    Raises:
        ElError: an instance cannot be resolved on the cluster.
        StorageError: something cannot be listed as a whole.
        CatalogError: a metastore refuses, or does not answer.
        Stopped: what the stores let through.
    """
    inputs, late = due.site.process.inputs, due.site.process.late_process
    found: list[LateInput] = []
    for each in read:
        if each.input not in inputs or late is None or each.input not in late.inputs:
            continue
        wanted, at = inputs[each.input], parse_instant(each.instance_key)
        address = due.site.input_uri(each.input, at)
        flag = due.site.feeds[wanted.feed].availability_flag or ""
        if wanted.optional and not each.fingerprint.files and not _is_whole(data, address, flag):
            continue  # it was left out, and still would be: a run would read what the last one read
        now = fingerprint_of_input(data, due.site, wanted.feed, at, wanted.partition or "")
        if now.digest != each.fingerprint.digest:
            found.append(LateInput(read=replace(each, feed=wanted.feed, uri=path_text(address)), now=now))
    return CheckedInstance(due=due, late=tuple(found))


def _is_whole(data: DataAccess, address: str, flag: str) -> bool:
    """Return whether an instance may be read; partitions have no flag, and an absent partition has no file."""
    if address.startswith(SCHEME):
        return True
    return is_ready(data.stores(path := CanonicalPath.parse(address)), path, flag)


def noted(late: CheckedInstance, guard: Guard) -> LedgerWrite:
    """Record the check with the outcome of the last batch of its run, unless that was stopped: then it is made again.

    The guard is that of the run, and asked when the outcome is recorded.
    """

    def write(tx: Transaction, run_id: int) -> None:
        if guard.stopped is None:
            late_checks.record(tx, late.made(run_id))

    return write


def noted_if_killed(late: CheckedInstance | None, stopped: Stopped) -> tuple[LedgerWrite, ...]:
    """Record the check with the end of its run that a user has killed, however far it has come: it must not return."""
    if late is None or not isinstance(stopped, RunKilled):
        return ()
    return (lambda tx, run_id: late_checks.record(tx, late.made(run_id)),)


def _schedule(site: ProcessSite, each: OpenInstance) -> LateSchedule | None:
    """The checks of an instance for the inputs that are watched now."""
    late = site.process.late_process
    return _schedule_for(site, each, late.inputs if late is not None else ())


def _is_over(site: ProcessSite, each: OpenInstance, at: datetime) -> bool:
    """Return whether no late data can come any more, also when the inputs that it read should be watched again."""
    schedule = _schedule_for(site, each, each.ends)
    return schedule is None or schedule.cut_off <= at


def _schedule_for(site: ProcessSite, each: OpenInstance, names: Container[str]) -> LateSchedule | None:
    ends = {name: parse_instant(key) for name, key in each.ends.items() if name in site.process.inputs}
    watched = {name: end for name, end in ends.items() if name in names}
    return late_schedule(site.process, site.feeds, parse_instant(each.instance_key), watched)


def _check(site: ProcessSite, each: OpenInstance, schedule: LateSchedule | None, due_at: datetime | None) -> DueCheck:
    is_last = schedule is not None and due_at is not None and schedule.is_last(due_at)
    return DueCheck(
        site=site,
        instance_key=each.instance_key,
        run_id=each.run_id,
        due_at=due_at,
        is_last=is_last,
        killed=each.killed,
    )


def _not_expected(site: ProcessSite, each: OpenInstance) -> MadeCheck:
    return MadeCheck(
        process=site.process.name,
        cluster=site.cluster.name,
        instance_key=each.instance_key,
        due_at=parse_instant(each.instance_key),
        is_last=True,
        verdict=LateCheckResult.NOT_EXPECTED,
    )
