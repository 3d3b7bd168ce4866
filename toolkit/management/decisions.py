"""Effect of a command on an instance, by the instance's state: pure (Falcon overview, Instance Management; DESIGN 6).

An instance in the wrong state stays as it is, and the answer says so. What runs with a live owner is asked for, and the
owner does it at its next heartbeat; without a live owner it is done at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolkit.ledger.vocabulary import RequestKind, RunStatus


class InstanceCommand(StrEnum):
    """A command to instances."""

    SUSPEND = "suspend"
    """Pause: nothing of it starts until a resume."""
    RESUME = "resume"
    """Go on where it was paused."""
    KILL = "kill"
    """End it; it does not come back by itself."""
    RERUN = "rerun"
    """Let it run again."""

    @property
    def is_safe(self) -> bool:
        """True if safe mode allows it (Falcon overview, Safe Mode)."""
        return self in {InstanceCommand.SUSPEND, InstanceCommand.KILL}


class CommandEffect(StrEnum):
    """Effect of a command on one instance."""

    NOTHING = "nothing"
    """It is so already, or it is in the wrong state."""
    ASK = "ask"
    """Its owner is asked."""
    SUSPEND_AHEAD = "suspend ahead"
    """It has not begun: a row says that it must not."""
    SUSPEND = "suspend"
    """It has no active owner: its status changes."""
    RESUME = "resume"
    """It goes back to where it was suspended."""
    REQUEUE = "requeue"
    """It was suspended while it ran, and its owner is gone: the next start continues it."""
    KILL = "kill"
    """Its status changes to killed."""
    KILL_AHEAD = "kill ahead"
    """It has not begun and has no row: a killed one says that it never will by itself."""
    RERUN = "rerun"
    """A new attempt is ready."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceState:
    """State that a decision depends on.

    Attributes:
        status: of the newest attempt; None: there is no row, so it is waiting.
        suspended_from: of a suspended one.
        is_owned: a process that lives holds its leases.
        is_job: it works on batches, and its steps report on their own.
        open_request: the request to its owner that is not carried out yet.
    """

    status: RunStatus | None
    suspended_from: RunStatus | None = None
    is_owned: bool = False
    is_job: bool = False
    open_request: RequestKind | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandDecision:
    """Effect of a command, and the reason in words that follow the instance's name."""

    effect: CommandEffect
    why: str

    @property
    def is_change(self) -> bool:
        """True if the decision changes something."""
        return self.effect is not CommandEffect.NOTHING


def decide(command: InstanceCommand, state: InstanceState) -> CommandDecision:
    """Return the effect of a command on an instance in a state."""
    return _DECIDERS[command](state)


def _suspend(state: InstanceState) -> CommandDecision:
    match state.status:
        case None | RunStatus.WAITING | RunStatus.READY:
            return CommandDecision(effect=CommandEffect.SUSPEND_AHEAD, why="it will not start until a resume")
        case RunStatus.RUNNING if state.is_owned:
            return _ask(state, RequestKind.SUSPEND)
        case RunStatus.RUNNING:
            return CommandDecision(effect=CommandEffect.SUSPEND, why="suspended")
        case RunStatus.SUSPENDED:
            return _already(state)
        case _:
            return _wrong(state, "only what is not over can be suspended")


def _resume(state: InstanceState) -> CommandDecision:
    match state.status:
        case RunStatus.RUNNING if state.open_request is RequestKind.SUSPEND:
            return _ask(state, RequestKind.RESUME)
        case RunStatus.SUSPENDED if state.is_owned:
            return _ask(state, RequestKind.RESUME)
        case RunStatus.SUSPENDED if state.suspended_from is RunStatus.RUNNING and not state.is_job:
            return CommandDecision(
                effect=CommandEffect.REQUEUE, why="its owner is gone; ready, the next start of it goes on"
            )
        case RunStatus.SUSPENDED:
            return CommandDecision(
                effect=CommandEffect.RESUME, why=f"{state.suspended_from or RunStatus.WAITING} again"
            )
        case _:
            return _wrong(state, "only a suspended instance can be resumed")


def _kill(state: InstanceState) -> CommandDecision:
    match state.status:
        case None:
            return CommandDecision(
                effect=CommandEffect.KILL_AHEAD, why="it will not start by itself; a rerun starts it"
            )
        case RunStatus.RUNNING | RunStatus.SUSPENDED if state.is_owned:
            return _ask(state, RequestKind.KILL)
        case RunStatus.WAITING | RunStatus.READY | RunStatus.RUNNING | RunStatus.SUSPENDED:
            return CommandDecision(effect=CommandEffect.KILL, why="killed")
        case RunStatus.KILLED:
            return _already(state)
        case _:
            return _wrong(state, "it is over")


def _rerun(state: InstanceState) -> CommandDecision:
    if state.status is None:
        return _wrong(state, "it has not run yet")
    if state.status.is_terminal:
        return CommandDecision(effect=CommandEffect.RERUN, why="a new attempt is ready")
    if state.status is RunStatus.READY:
        return _already(state)
    return _wrong(state, "only what is over can be rerun, so kill it first")


def _ask(state: InstanceState, kind: RequestKind) -> CommandDecision:
    if state.open_request is kind:
        return CommandDecision(effect=CommandEffect.NOTHING, why=f"its owner has been asked to {kind} already")
    return CommandDecision(
        effect=CommandEffect.ASK, why=f"its owner is asked to {kind}, and does it at its next heartbeat"
    )


def _already(state: InstanceState) -> CommandDecision:
    return CommandDecision(effect=CommandEffect.NOTHING, why=f"it is {state.status} already")


def _wrong(state: InstanceState, rule: str) -> CommandDecision:
    return CommandDecision(effect=CommandEffect.NOTHING, why=f"it is {state.status or RunStatus.WAITING}: {rule}")


_DECIDERS = {
    InstanceCommand.SUSPEND: _suspend,
    InstanceCommand.RESUME: _resume,
    InstanceCommand.KILL: _kill,
    InstanceCommand.RERUN: _rerun,
}

REQUESTS = {
    InstanceCommand.SUSPEND: RequestKind.SUSPEND,
    InstanceCommand.RESUME: RequestKind.RESUME,
    InstanceCommand.KILL: RequestKind.KILL,
}
"""Requests to the owner of a running instance."""
