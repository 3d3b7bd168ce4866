"""Judging what was written before readers see it: what every action that makes data asks, once (issue of gates).

The order is: written in a place that nobody reads, judged there, given its name or its flag or its partition, told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from toolkit.errors import Failed
from toolkit.storage import OWN_PREFIX
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.quality import Quality

STAGING_DIRECTORY = f"{OWN_PREFIX}-staging"
"""Beside the data of an instance: in it lies, under its own name, what was written and is not announced."""


QUALITY_FAILED, QUALITY_UNKNOWN = "quality_failed", "quality_unknown"
"""Codes of what is blocked: it is not as expected; nobody could judge it."""


def staging_place(unit: CanonicalPath, top: CanonicalPath | None = None) -> CanonicalPath:
    """Where a unit waits until it was judged, and stays while it is blocked; its name does not begin with a dot.

    A program that lists files leaves out what begins with a dot, also when it is told to read exactly that.

    Args:
        unit: where it is announced.
        top: the directory that has the gate's, with the names of all below it, as a table's; None: the one around it.
    """
    top = top or unit.parent
    return below(top.child(STAGING_DIRECTORY), unit.relative_to(top))


def staging_top(place: CanonicalPath) -> CanonicalPath | None:
    """The directory that has the gate which a place is in, see `staging_place`; None: it is in none."""
    above = place
    while above.path != "/":
        if above.name == STAGING_DIRECTORY:
            return above.parent
        above = above.parent
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedValidation:
    """How the instances of a feed are judged on the cluster that they are copied to."""

    feed: Feed
    cluster: Cluster
    quality: Quality

    @classmethod
    def on(cls, feed: Feed, cluster: Cluster) -> FeedValidation | None:
        """Return the feed with its validation on a cluster; None: it is not validated there."""
        quality = feed.quality_on(cluster.name)
        return None if quality is None else cls(feed=feed, cluster=cluster, quality=quality)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A directory of what was written.

    Attributes:
        place: where it lies now, whole.
        keys: values of a partition's keys, which its files do not have, as Hive writes them; of a path feed none.
    """

    place: CanonicalPath
    keys: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class TableReading:
    """How Spark reads the files of a table, so that a row is what the table's readers see.

    Attributes:
        format: of Spark's reader; ``text``: lines of fields, which it has none for.
        columns: type by name, in the order of the table, without its keys.
        keys: the same of its keys.
        options: of Spark's reader; of ``text``: ``sep`` and ``nullValue``.
    """

    format: str
    columns: Mapping[str, str]
    keys: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """Data that is validated at once.

    Attributes:
        feed: whose instance it is.
        cluster: where.
        instance_key: which.
        unit: what of the instance: the address that it is announced under, as `path_text` writes it.
        parts: its directories.
        quality: that it is judged by.
        counterpart: of a copy, the cluster it came from; else empty.
        table: how its partitions are read; None: it is no table's.
    """

    feed: Feed
    cluster: Cluster
    instance_key: str
    unit: str
    parts: Sequence[Part]
    quality: Quality
    counterpart: str = ""
    table: TableReading | None = None


class QualityFailed(Failed):
    """Error for data that must not be published; no retry helps.

    Args:
        unit: see `Written`.
        why: which expectations refused it, or why nobody could judge it.
        code: `QUALITY_FAILED` or `QUALITY_UNKNOWN`.
        digest: of the data that was judged, see `Validator.digest`; empty: none was.
        page: where the page of the validation is; empty: there is none.
    """

    def __init__(self, *, unit: str, why: str, code: str = QUALITY_FAILED, digest: str = "", page: str = "") -> None:
        self.unit, self.why, self.code, self.digest, self.page = unit, why, code, digest, page
        super().__init__(f"{unit} is blocked: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Publishable:
    """Permission to publish data.

    Attributes:
        digest: of the data that was judged, see `Validator.digest`.
        notes: for the user: that warnings were found, that it was released in spite of what was found.
    """

    digest: str
    notes: tuple[str, ...] = ()


class Validator(Protocol):
    """Asked by an action between writing and announcing."""

    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        """Return when what was written may be announced: judged now, or before, on exactly this data.

        The verdict is in the ledger when this returns or raises, and the data are listed once more after they were
        read: data that changed meanwhile has no verdict.

        Raises:
            QualityFailed: it must not be.
            StorageError: it cannot be listed.
            Unavailable: the ledger cannot be written.
            Stopped: `check` says that the run must end; the process that judges has ended.
        """
        ...

    def may_publish(self, written: Written, *, is_copy: bool = False, by: Collection[int] | None = None) -> bool:
        """Whether this data, where it lies now, was judged and may be announced, without judging it.

        Args:
            written: the data.
            is_copy: they lie where they are announced. Without renames they were copied there, and have other times
                than what was judged: names and sizes decide then.
            by: the numbers of the runs whose verdict counts; None: any run's.

        Raises:
            StorageError: it cannot be listed.
        """
        ...


class NoValidator(Validator):
    """Gate of runs that publish nothing; it refuses feeds with `quality`."""

    @override
    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        """Refuse all data: without a quality gate nothing may be published."""
        del check
        raise QualityFailed(unit=written.unit, why="this run has nothing to judge it with", code=QUALITY_UNKNOWN)

    @override
    def may_publish(self, written: Written, *, is_copy: bool = False, by: Collection[int] | None = None) -> bool:
        del written, is_copy, by
        return False
