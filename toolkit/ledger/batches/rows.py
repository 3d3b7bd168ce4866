"""Batches and their files as rows, the feed instances that they stand for, and their markings (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from toolkit.el import format_instant, parse_instant
from toolkit.errors import InvalidInput
from toolkit.ledger.batches.errors import BadFile
from toolkit.ledger.database import Transaction
from toolkit.ledger.tables import batch_instance
from toolkit.ledger.vocabulary import BatchKind, BatchState


def tokens(marking: str | None) -> frozenset[str]:
    """The dates of a marking, which is split at commas; none for an empty one."""
    return frozenset(filter(None, (each.strip() for each in (marking or "").split(","))))


def joined(markings: Iterable[str | None]) -> str | None:
    """Return one marking for several: each date once, sorted as text; None when there is none."""
    dates = {token for marking in markings for token in tokens(marking)}
    return ",".join(sorted(dates)) or None


def batch_date(token: str) -> str:
    """The date itself: what stands after the last ``@``, where a token has one, as in ``sales@2026-03-01``."""
    return token.rpartition("@")[2].strip()


class BadInstanceKey(InvalidInput):
    """An instance key that is not in its one canonical form, in which keys sort as their times do.

    Args:
        key: as given.
        expected: the canonical form.
    """

    code = "bad_instance_key"

    def __init__(self, *, key: str, expected: str) -> None:
        self.key, self.expected = key, expected
        super().__init__(f"{key!r} is no instance key; write it as {expected}")


def require_instance_key(key: str) -> None:
    """Refuse what is no canonical instance key.

    Raises:
        ElError: it is no instant.
        BadInstanceKey: it is one, written in another way.
    """
    canonical = format_instant(parse_instant(key))
    if key != canonical:
        raise BadInstanceKey(key=key, expected=canonical)


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedInstance:
    """An instance of a feed on a cluster.

    Attributes:
        instance_key: its time, ``2026-03-01T06:40Z``.
        uri: where the data is; None: not given.
    """

    feed: str
    cluster: str
    instance_key: str
    uri: str | None = None

    def __post_init__(self) -> None:
        require_instance_key(self.instance_key)

    @property
    def identity(self) -> tuple[str, str, str]:
        """The identity of the instance, wherever its data is."""
        return self.feed, self.cluster, self.instance_key


def attach(tx: Transaction, batch_id: int, instances: Sequence[FeedInstance]) -> tuple[FeedInstance, ...]:
    """Let a batch stand for instances, each once.

    Returns:
        Those that it did not stand for before.
    """
    distinct = {each.identity: each for each in reversed(instances)}
    return tuple(each for each in reversed(distinct.values()) if _attach(tx, batch_id, each))


def _attach(tx: Transaction, batch_id: int, instance: FeedInstance) -> bool:
    return tx.insert_if_new(batch_instance, {"batch_id": batch_id, **asdict(instance)}) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewFile:
    """A file to register.

    Attributes:
        server: the name of the cluster or datasource that it is on.
        path: on the server.
        size: bytes.
        hash: of the content, in whatever way the caller hashes; None: not hashed.
        modified_at: None: when it is registered.
    """

    server: str
    path: str
    size: int
    hash: str | None = None
    modified_at: datetime | None = None

    def __post_init__(self) -> None:
        if not self.path:
            raise BadFile(path=self.path, found="the path is empty")
        if self.size < 0:
            raise BadFile(path=self.path, found=f"the size is {self.size}")


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchFile:
    """A file of a batch, with the server that it is on; never with a credential (DESIGN section 8).

    Attributes:
        server_kind: ``cluster`` or ``datasource``.
        endpoint: where the server answers.
    """

    file_id: int
    batch_id: int
    server: str
    server_kind: str
    endpoint: str | None
    path: str
    size: int
    hash: str | None
    modified_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRow:
    """A row of the table `batch`, where the columns are explained."""

    batch_id: int
    kind: BatchKind
    state: BatchState
    process_id: int | None
    source_run_id: int | None
    marking: str | None
    created_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Downstream:
    """A step that a batch waits for.

    Attributes:
        queue_id: its row in the queue.
    """

    queue_id: int
    process: str
    cluster: str
    step: str
