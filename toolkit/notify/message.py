"""A message about an instance: Falcon's keys, to Falcon's topic (Falcon overview, replication)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceMessage:
    """Message about the end of the work on one instance.

    Attributes:
        entity: the feed or process, which has a topic of its own.
        keys: what is said, by Falcon's names of it.
    """

    entity: str
    keys: Mapping[str, str]

    @property
    def destination(self) -> str:
        """The topic."""
        return f"/topic/FALCON.{self.entity}"

    @property
    def body(self) -> bytes:
        """The keys once more, in the form that ActiveMQ makes a JMS `MapMessage` of, as Falcon's were."""
        entries = [{"string": [key, value]} for key, value in self.keys.items()]
        return json.dumps({"map": {"entry": entries}}).encode()
