"""What runs, leases, requests and events mean, as simply as it can be said: a few dictionaries and no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolkit.ledger.vocabulary import TRANSITIONS, LeaseMode, RequestKind, RunStatus

SECONDS = 60.0
"""The life of a lease."""
_ACTIVE = (RunStatus.RUNNING, RunStatus.SUSPENDED)
_NOT_BEGUN = (RunStatus.WAITING, RunStatus.READY)

Name = tuple[str, int]
"""An attempt: the instance and the number of the attempt."""
Wanted = Sequence[tuple[str, LeaseMode]]


class Refusal(Exception):  # noqa: N818 - what the ledger calls an error by its code
    """The command changes nothing, for a reason that has a code."""

    def __init__(self, *, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(kw_only=True)
class Attempt:
    """An attempt of the run of an instance."""

    instance: str
    number: int
    status: RunStatus
    suspended_from: RunStatus | None = None
    is_forced: bool = False
    has_begun: bool = False

    @property
    def name(self) -> Name:
        """Return the name of the attempt."""
        return self.instance, self.number

    def seen(self) -> tuple[object, ...]:
        """Return what can be compared."""
        came_from = self.suspended_from and self.suspended_from.value
        return (*self.name, self.status.value, came_from, self.is_forced, self.has_begun)


@dataclass(kw_only=True)
class RunModel:
    """A ledger without a database. A refused command may leave it in pieces; `LedgerMachine` restores it then."""

    now: float = 0.0
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)
    leases: dict[str, dict[Name, tuple[LeaseMode, float]]] = field(default_factory=dict)
    requests: dict[Name, RequestKind] = field(default_factory=dict)
    safe_mode: bool = False
    is_suspended: bool = False
    events: int = 0
    cursor: int = 0

    def forward(self, seconds: float) -> object:
        """Let time pass."""
        self.now += seconds
        return None

    def switch(self, *, on: bool) -> object:
        """Safe mode."""
        changed, self.safe_mode = self.safe_mode != on, on
        return changed

    def suspend_entity(self, *, on: bool) -> object:
        """Suspend the entity on every cluster, or let it go on."""
        changed, self.is_suspended = self.is_suspended != on, on
        return changed

    def start(self, instance: str, wanted: Wanted) -> object:
        """Start a run."""
        if self.safe_mode:
            raise Refusal(code="safe_mode")
        if self.is_suspended:
            raise Refusal(code="entity_suspended")
        killed = self._clear(wanted, None)
        begun = self._begin(instance)
        self._give(begun.name, wanted)
        return begun.seen(), killed, self.now + SECONDS

    def change(self, name: Name, to: RunStatus) -> object:
        """Change a status."""
        attempt = self._of(name)
        if to not in TRANSITIONS[attempt.status]:
            raise Refusal(code="illegal_transition")
        attempt.suspended_from = attempt.status if to is RunStatus.SUSPENDED else None
        attempt.has_begun = (attempt.has_begun or to is RunStatus.RUNNING) and to not in (
            *_NOT_BEGUN,
            RunStatus.SKIPPED,
        )
        attempt.status = to
        if to not in _ACTIVE:
            self._drop_leases(name)
        if to.is_terminal:
            self.requests.pop(name, None)
        return attempt.seen()

    def resume(self, name: Name) -> object:
        """Go on after a suspension."""
        attempt = self._of(name)
        if attempt.suspended_from is None:
            raise Refusal(code="illegal_transition")
        return self.change(name, attempt.suspended_from)

    def queue_again(self, instance: str, *, is_forced: bool) -> object:
        """Order another attempt."""
        newest = self._newest(instance)
        if newest is None or not newest.status.is_terminal:
            raise Refusal(code="not_terminal")
        return self._add(instance, RunStatus.READY, is_forced=is_forced).seen()

    def skip(self, instance: str) -> object:
        """Record a skipped start."""
        newest = self._newest(instance)
        return (newest or self._add(instance, RunStatus.SKIPPED)).seen()

    def suspend_ahead(self, instance: str) -> object:
        """Suspend what has not begun."""
        newest = self._newest(instance) or self._add(instance, RunStatus.WAITING)
        if newest.status is RunStatus.SUSPENDED:
            return newest.seen()
        if newest.status not in _NOT_BEGUN:
            raise Refusal(code="run_is_active" if newest.status is RunStatus.RUNNING else "illegal_transition")
        return self.change(newest.name, RunStatus.SUSPENDED)

    def take(self, name: Name, wanted: Wanted) -> object:
        """Take more leases."""
        self._clear(wanted, name)
        if self._of(name).status is not RunStatus.RUNNING or self._has_expired(name):
            raise Refusal(code="lease_lost")
        self._give(name, wanted)
        return self.now + SECONDS

    def renew(self, name: Name) -> object:
        """Give a sign of life."""
        own = [held for held in self.leases.values() if name in held]
        if not own or self._has_expired(name):
            raise Refusal(code="lease_lost")
        for held in own:
            held[name] = held[name][0], self.now + SECONDS
        return self.now + SECONDS

    def release(self, name: Name) -> object:
        """Give back all leases."""
        self._drop_leases(name)
        return None

    def is_owned(self, name: Name) -> object:
        """Return whether the owner lives."""
        return any(held[name][1] > self.now for held in self.leases.values() if name in held)

    def ask(self, name: Name, kind: RequestKind) -> object:
        """Ask the owner for something."""
        if self._of(name).status.is_terminal:
            raise Refusal(code="run_is_over")
        if self.requests.get(name) is not RequestKind.KILL:
            self.requests[name] = kind
        return self.requests[name].value

    def append(self, count: int) -> object:
        """Append events."""
        numbers = range(self.events + 1, self.events + count + 1)
        self.events += count
        return list(numbers)

    def advance(self, to: int) -> object:
        """Move the consumer's cursor."""
        if to > self.events:
            raise Refusal(code="no_such_event")
        if to < self.cursor:
            raise Refusal(code="cursor_moved_on")
        self.cursor = to
        return to

    def contents(self) -> object:
        """Everything that is stored."""
        runs = sorted(attempt.seen() for attempts in self.attempts.values() for attempt in attempts)
        leases = sorted(
            (resource, *name, mode.value, expires_at)
            for resource, held in self.leases.items()
            for name, (mode, expires_at) in held.items()
        )
        return (
            runs,
            leases,
            sorted((*name, kind.value) for name, kind in self.requests.items()),
            self.events,
            self.cursor,
        )

    def _of(self, name: Name) -> Attempt:
        return self.attempts[name[0]][name[1] - 1]

    def _newest(self, instance: str) -> Attempt | None:
        return next(reversed(self.attempts.get(instance, [])), None)

    def _add(self, instance: str, status: RunStatus, *, is_forced: bool = False) -> Attempt:
        attempts = self.attempts.setdefault(instance, [])
        attempts.append(Attempt(instance=instance, number=len(attempts) + 1, status=status, is_forced=is_forced))
        return attempts[-1]

    def _begin(self, instance: str) -> Attempt:
        newest = self._newest(instance)
        if newest is not None and newest.status in _ACTIVE:
            ahead = newest.status is RunStatus.SUSPENDED and not newest.has_begun
            raise Refusal(code="instance_suspended" if ahead else "run_is_active")
        if newest is not None and newest.status is RunStatus.KILLED and not newest.has_begun:
            raise Refusal(code="instance_killed")
        if newest is None or newest.status.is_terminal:
            newest = self._add(instance, RunStatus.READY)
        self.change(newest.name, RunStatus.RUNNING)
        return newest

    def _clear(self, wanted: Wanted, own: Name | None) -> list[Name]:
        """Put away the leases of all runs that have an expired one on a wanted resource, then look who is left."""
        holders = {(name, expires_at) for each, _ in wanted for name, (_, expires_at) in self._held(each)}
        dead = sorted({name for name, expires_at in holders if name != own and expires_at <= self.now})
        killed = [name for name in dead if self._of(name).status is RunStatus.RUNNING]
        for name in dead:
            self._drop_leases(name)
        for name in killed:
            self.change(name, RunStatus.KILLED)
        for resource, mode in wanted:
            others = [held for name, (held, _) in self._held(resource) if name != own]
            if LeaseMode.EXCLUSIVE in others or (others and mode is LeaseMode.EXCLUSIVE):
                raise Refusal(code="lease_held")
        return killed

    def _held(self, resource: str) -> list[tuple[Name, tuple[LeaseMode, float]]]:
        return list(self.leases.get(resource, {}).items())

    def _give(self, name: Name, wanted: Wanted) -> None:
        for resource, mode in wanted:
            held = self.leases.setdefault(resource, {})
            was = held.get(name, (mode, 0.0))[0]
            strongest = LeaseMode.EXCLUSIVE if LeaseMode.EXCLUSIVE in (was, mode) else mode
            held[name] = strongest, self.now + SECONDS

    def _has_expired(self, name: Name) -> bool:
        return any(held[name][1] <= self.now for held in self.leases.values() if name in held)

    def _drop_leases(self, name: Name) -> None:
        for held in self.leases.values():
            held.pop(name, None)
