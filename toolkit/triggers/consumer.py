"""Consumer of events: the trigger of a process on a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.entities.trigger_vocabulary import ScheduleMode, StartFrom
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.triggers import consumer_name
from toolkit.ledger.vocabulary import LifeCycle

if TYPE_CHECKING:
    from toolkit.entities.trigger import Trigger
    from toolkit.planning.triggers import TriggerRule


@dataclass(frozen=True, kw_only=True)
class TriggerConsumer:
    """Trigger of a process on a cluster.

    Attributes:
        process: name of the process.
        cluster: name of the cluster.
        trigger: of the process.
        schedule: of the process.
        compile: returns the rule of the trigger; called when a decision is needed.
    """

    process: str
    cluster: str
    trigger: Trigger
    schedule: ScheduleMode
    compile: Callable[[], TriggerRule] = field(repr=False)

    @property
    def name(self) -> str:
        """Name under which it reads events."""
        return consumer_name(self.process, self.cluster)

    @cached_property
    def rule(self) -> TriggerRule:
        """The compiled trigger."""
        return self.compile()

    @cached_property
    def digest(self) -> str:
        """Digest of its definition: of another one, the updates that wait are looked at again."""
        return hashlib.sha256(repr((self.trigger, self.schedule)).encode()).hexdigest()

    def start(self, newest: int) -> int:
        """Return the last event that does not count for a new consumer.

        Args:
            newest: number of the newest event.
        """
        return newest if self.trigger.start_from is StartFrom.NOW else 0

    def key(self, instance_key: str) -> RunKey:
        """Return the key of the runs of an instance of the process."""
        return RunKey(
            life_cycle=LifeCycle.EXECUTION, entity=self.process, cluster=self.cluster, instance_key=instance_key
        )

    @property
    def waits_for_more_than_events(self) -> bool:
        """True if a run that is due may wait for the time of its instance, or for a place."""
        return self.schedule is ScheduleMode.AND or self.trigger.max_queued is not None
