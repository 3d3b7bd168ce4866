"""Values that more than one kind of entity uses: access, notification, validity, properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from toolkit.el import Frequency, InstanceSequence, format_instant
from toolkit.entities.vocabulary import NotificationLevel

Properties = Mapping[str, str | int | float | bool]
"""Free names with scalar values, handed on as they are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Acl:
    """Owner and permission of an entity and its data (Falcon's ACL element).

    Attributes:
        owner: user name.
        group: group name.
        permission: octal permission (``0750``, ``750`` or ``0x750``), or ``*`` for whatever there is.
    """

    owner: str | None = None
    group: str | None = None
    permission: str = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class Notification:
    """Recipients of alerts, and of the message that an instance is over.

    Attributes:
        email: addresses.
        level: after every attempt, or once an instance.
        channels: names of `Monitoring.channels`.
    """

    email: tuple[str, ...] = ()
    level: NotificationLevel = NotificationLevel.INSTANCE
    channels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    """When an entity has instances on a cluster: start <= instance time < end (DESIGN section 8)."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{format_instant(self.start)} to {format_instant(self.end)}"

    def sequence(self, frequency: Frequency, timezone: str) -> InstanceSequence:
        """The instances of this validity, stepped by `frequency` in `timezone`."""
        return _sequence(self.start, frequency, timezone, self.end)


@lru_cache(maxsize=1024)
def _sequence(start: datetime, frequency: Frequency, timezone: str, end: datetime) -> InstanceSequence:
    """Cached: every resolved instance needs the sequences of its process and its inputs."""
    return InstanceSequence(start, frequency, timezone, end)


def property_text(value: str | float | bool) -> str:  # noqa: FBT001 - a property may be a bool
    """A property's value as the text that paths and workflows see; booleans as YAML writes them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
