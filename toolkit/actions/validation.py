"""Validation of data before readers see it: the data, the validator that actions ask, and its answer.

Data is written to a staging directory, validated there, published under its name, flag or partition, then announced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from toolkit.errors import Failed
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.quality import Quality
    from toolkit.transfer.trees import Tree

QUALITY_FAILED, QUALITY_UNKNOWN = "quality_failed", "quality_unknown"
"""Codes of blocked data: it is not as expected, or it could not be validated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedValidation:
    """Validation of the instances of a feed on the cluster that they are written to."""

    feed: Feed
    cluster: Cluster
    quality: Quality

    @classmethod
    def on(cls, feed: Feed, cluster: Cluster) -> FeedValidation | None:
        """Return the feed with its validation on a cluster; None: it is not validated there."""
        quality = feed.quality_on(cluster.name)
        return None if quality is None else cls(feed=feed, cluster=cluster, quality=quality)

    def written(
        self,
        instance_key: str,
        address: str,
        parts: Sequence[Part],
        *,
        counterpart: str = "",
        table: TableReading | None = None,
    ) -> Written:
        """Return data of an instance, to be validated at once; arguments as of `Written`."""
        return Written(
            feed=self.feed,
            cluster=self.cluster,
            instance_key=instance_key,
            unit=path_text(address),
            parts=parts,
            quality=self.quality,
            counterpart=counterpart,
            table=table,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A directory of what was written.

    Attributes:
        place: where it lies now, whole.
        keys: values of a partition's keys, which its files do not have, as Hive writes them; of a path feed none.
        listed: its files, as this run has listed them and not written since; None: it has not.
    """

    place: CanonicalPath
    keys: Mapping[str, str] = field(default_factory=dict)
    listed: Tree | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class TableReading:
    """Options with which Spark reads the files of a table as the table's readers do.

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
        quality: that it is validated by.
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
        why: which expectations do not hold, or why it could not be validated.
        code: `QUALITY_FAILED` or `QUALITY_UNKNOWN`.
        digest: of the data that was validated; empty: none was.
        page: where the page of the validation is; empty: there is none.
    """

    def __init__(self, *, unit: str, why: str, code: str = QUALITY_FAILED, digest: str = "", page: str = "") -> None:
        self.unit, self.why, self.code, self.digest, self.page = unit, why, code, digest, page
        super().__init__(f"{unit} is blocked: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Publishable:
    """Permission to publish data.

    Attributes:
        digest: of the data that was validated.
        notes: for the user: that warnings were found, that it was released in spite of what was found.
    """

    digest: str
    notes: tuple[str, ...] = ()


class Validator(Protocol):
    """Validator of a run, which an action asks between writing and publishing."""

    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        """Return if data may be published: validated now, or exactly this data before.

        The result is in the ledger when this returns or raises, and the data is listed once more after it was read:
        data that changed meanwhile has no result.

        Raises:
            QualityFailed: it must not be published.
            StorageError: it cannot be listed.
            Unavailable: the ledger cannot be written.
            Stopped: `check` says that the run must end; the validation process has ended.
        """
        ...

    def may_publish(self, written: Written, *, is_copy: bool = False, by: Collection[int] | None = None) -> bool:
        """Return whether this data, where it is now, was validated and may be published; validate nothing.

        Args:
            written: the data.
            is_copy: it is published. Without renames it was copied there, and has other times than what was
                validated: names and sizes decide then.
            by: the numbers of the runs whose results count; None: those of all runs.

        Raises:
            StorageError: it cannot be listed.
        """
        ...


class NoValidator(Validator):
    """Validator of runs that publish nothing; it refuses feeds with `quality`."""

    @override
    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        """Refuse all data: without a validator nothing may be published."""
        del check
        raise QualityFailed(unit=written.unit, why="this run has nothing to validate it with", code=QUALITY_UNKNOWN)

    @override
    def may_publish(self, written: Written, *, is_copy: bool = False, by: Collection[int] | None = None) -> bool:
        del written, is_copy, by
        return False
