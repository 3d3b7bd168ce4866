"""Retention limit of a feed's instances, and what happens after it (DESIGN section 7, Retention)."""

from dataclasses import dataclass, field

from toolkit.el import Frequency
from toolkit.entities.locations import Locations
from toolkit.entities.values import Properties
from toolkit.entities.vocabulary import YARN_PRIORITIES, ExpiryAction, ProtectionName, RetentionPolicy, RetentionType


@dataclass(frozen=True, kw_only=True, slots=True)
class Protection:
    """A reason for keeping an old instance; in YAML its name alone will do.

    Attributes:
        name: the reason.
        max_age: instances older than this are no longer protected by it.
    """

    name: ProtectionName
    max_age: Frequency | None = None


DEFAULT_PROTECTION = (Protection(name=ProtectionName.LATE_WINDOW),)
"""Protection when `protect` is absent (DESIGN section 7)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedMaxDelete:
    """Limits of one feed and cluster in a retention run; beyond them this feed alone is refused.

    Attributes:
        instances: a number of instances; absent: no such limit.
        fraction: a part (above 0, to 1) of the instances that were looked at; absent: no such limit.
        bytes: a number of bytes; absent: no such limit.
    """

    instances: int | None = None
    fraction: float | None = None
    bytes: int | None = None

    def over(self, base: "FeedMaxDelete") -> "FeedMaxDelete":
        """These limits laid over `base`, key by key."""
        return FeedMaxDelete(
            instances=base.instances if self.instances is None else self.instances,
            fraction=base.fraction if self.fraction is None else self.fraction,
            bytes=base.bytes if self.bytes is None else self.bytes,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """Destination of instances with ``action: archive``.

    Attributes:
        cluster: name; it may be the one that they are on.
        locations: one for each dated location of the feed, with all that tells instances apart there.
    """

    cluster: str
    locations: Locations


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """The retention of a feed on a cluster.

    Attributes:
        limit: instances older than this go; exactly as old stays.
        action: what going means.
        archive: where to, with ``action: archive`` and with no other.
        type: what is counted.
        quarantine: how long a quarantined instance can be restored.
        keep_last: so many of the newest instances stay, however old.
        protect: what else keeps an old instance.
        max_delete: overrides the feed's, key by key.
    """

    limit: Frequency
    action: ExpiryAction = ExpiryAction.DELETE
    archive: Archive | None = None
    type: RetentionType = RetentionType.INSTANCE
    quarantine: Frequency | None = None
    keep_last: int | None = None
    protect: tuple[Protection, ...] = DEFAULT_PROTECTION
    max_delete: FeedMaxDelete = field(default_factory=FeedMaxDelete)


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionStage:
    """When and how retention itself runs (Falcon's lifecycle).

    Attributes:
        frequency: how often; absent: max(hours(6), the feed's frequency), but at least daily.
        queue: queue of YARN that an exported schedule starts the run in.
        priority: that an exported schedule starts the run with on YARN; a word of `YARN_PRIORITIES`, or a number.
        properties: of the policy; `retention.policy.agebaseddelete.limit` must agree with the retention limit.
    """

    policy: RetentionPolicy = RetentionPolicy.AGE_BASED_DELETE
    frequency: Frequency | None = None
    queue: str | None = None
    priority: str | None = None
    properties: Properties = field(default_factory=dict)

    @property
    def spark_options(self) -> tuple[str, ...]:
        """Options of spark-submit for the queue and the priority."""
        return yarn_options(self.queue, self.priority)


def yarn_options(queue: str | None, priority: str | None) -> tuple[str, ...]:
    """Return options of spark-submit for a queue and a priority of YARN; no text of them is an option of its own."""
    conf = {"spark.yarn.queue": queue, "spark.yarn.priority": YARN_PRIORITIES.get(priority or "", priority)}
    return tuple(word for name, value in conf.items() if value for word in ("--conf", f"{name}={value}"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifecycle:
    """The stages of a feed's life; retention is the one that Falcon knows."""

    retention_stage: RetentionStage
