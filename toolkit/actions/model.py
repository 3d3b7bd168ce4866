"""Model of an action: targets, items, plans, and the digest that names a plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Generic, Protocol, TypeVar

from toolkit.actions.progress import NOTHING, Volume
from toolkit.result import Outcome


class Target(Protocol):
    """Target of one run: one row and one set of leases in the ledger."""

    @property
    def entity(self) -> str:
        """The feed or process."""
        ...

    @property
    def cluster(self) -> str:
        """Name of the cluster."""
        ...

    @property
    def counterpart(self) -> str:
        """The other cluster of a copy; else empty."""
        ...

    @property
    def instance_key(self) -> str:
        """The instance; of an eviction the nominal time."""
        ...


class WorkItem(Protocol):
    """Item, as digest, ledger, audit file and rendering need it."""

    @property
    def kind(self) -> str:
        """The kind in the action's words, for example ``instance:data``."""
        ...

    @property
    def instance_key(self) -> str:
        """The instance; empty when it is about none."""
        ...

    @property
    def uri(self) -> str:
        """URI of the data that the effect changes."""
        ...

    @property
    def identity(self) -> tuple[str, ...]:
        """The whole identity: two plans with equal ones, in their order, are the same plan."""
        ...


T = TypeVar("T", bound=Target)
"""Type of targets."""
I = TypeVar("I", bound=WorkItem)  # noqa: E741 - DESIGN section 10 names it so
"""Type of items."""
D = TypeVar("D")
"""Type of the detail of an action's plan."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NoTarget:
    """Target that cannot be worked on, or need not be: its plan says why.

    Attributes:
        could_start: at another time it would be worked on, so that a run in which all are skipped was skipped itself.
    """

    entity: str
    cluster: str
    counterpart: str = ""
    instance_key: str = ""
    could_start: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a target could not be looked at, was refused, or was skipped.

    Attributes:
        code: stable.
        message: for people.
        is_settled: of a target that was skipped: nothing is left to do for it, so that the run is not a skipped one.
    """

    code: str
    message: str
    is_settled: bool = False


class SkipReason(StrEnum):
    """Why an item of a plan was left on purpose, whatever the action; an action has more of its own."""

    HELD = "held"
    """It was put on hold since the plan was made."""
    STOPPED = "stopped"
    """The run was told to stop before it came to this item."""
    LEASE_HELD = "lease_held"
    """Another run writes it: the message names the run."""
    REFUSED = "refused"
    """A safety limit refused the run."""


INTERRUPTED = "interrupted"
"""The code of an item in whose middle the run was stopped."""
TIMED_OUT = "timed_out"
"""The code of the failure of a target that was waited for in vain."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemResult(Generic[I]):
    """Outcome of one item.

    Attributes:
        code: stable, for programs: a reason for what was skipped, an error for what failed; else empty.
        message: for people; may be empty.
    """

    item: I
    outcome: Outcome
    code: str = ""
    message: str = ""

    @classmethod
    def planned(cls, item: I) -> ItemResult[I]:
        """A dry run saw it."""
        return cls(item=item, outcome=Outcome.PLANNED)

    @classmethod
    def done(cls, item: I) -> ItemResult[I]:
        """Its effect happened."""
        return cls(item=item, outcome=Outcome.DONE)

    @classmethod
    def skipped(cls, item: I, reason: str) -> ItemResult[I]:
        """It was left on purpose."""
        return cls(item=item, outcome=Outcome.SKIPPED, code=reason)

    @classmethod
    def failed(cls, item: I, code: str, message: str) -> ItemResult[I]:
        """Its effect should have happened and did not."""
        return cls(item=item, outcome=Outcome.FAILED, code=code, message=message)


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetPlan(Generic[T, I, D]):
    """Plan of one target: exactly what a dry run shows, and exactly what is then done.

    Attributes:
        target: what it is about.
        detail: what else the action says of it.
        items: what is done, in this order.
        unreadable: failures of the looking itself, and of finishing what earlier runs began; part of the result, never
            of what is done.
        notes: for the user.
        volume: how much is copied for the items.
        covers_all: the leases are about all instances of the entity there, so that unfinished items of each of them are
            recovered, and not only those of the target's own instance.
        failed: why nothing of this target is planned.
        skipped: why it is none of this run's business now: suspended, or another run is at it.
        waiting: what it needs and is not there yet.
        refused: the limit of its own that it exceeds, so that none of its items is done.
        drifted: the plan file that is applied says something else of it, as the notes name.
    """

    target: T
    detail: D
    items: tuple[I, ...] = ()
    unreadable: tuple[ItemResult[I], ...] = ()
    notes: tuple[str, ...] = ()
    volume: Volume = NOTHING
    covers_all: bool = False
    failed: Problem | None = None
    skipped: Problem | None = None
    waiting: Problem | None = None
    refused: Problem | None = None
    drifted: bool = False

    @property
    def label(self) -> str:
        """Return how messages name it."""
        return f"{self.target.entity} on {self.target.cluster}" if self.target.cluster else self.target.entity

    @property
    def sort_key(self) -> tuple[str, str, str, str]:
        """In which order results name targets."""
        target = self.target
        return (target.entity, target.cluster, target.counterpart, target.instance_key)


def plan_digest(plans: Iterable[TargetPlan[T, I, D]]) -> str:
    """Names a plan: SHA-256, in hexadecimal, over its targets with items, and all that is shown of these.

    An eviction's instance is the nominal time: an approval left in a schedule is not good for the same
    items on another day. What is refused is not in it: nothing of that is done.
    """
    digest = hashlib.sha256()
    for plan in (each for each in plans if each.refused is None and each.items):
        # One line after the other: those of a million items take as much memory as the items.
        of_items = ((each.kind, each.instance_key, each.uri, *each.identity) for each in plan.items)
        for line in chain((plan.sort_key,), of_items):
            # As JSON, no text can look like two, or like the next line.
            digest.update(f"{json.dumps(line)}\n".encode())
    return digest.hexdigest()
