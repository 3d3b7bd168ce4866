"""Feed instances, which batches stand for (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from toolkit.el import format_instant, parse_instant
from toolkit.errors import InvalidInput
from toolkit.ledger.tables import batch_instance
from toolkit.ledger.transaction import Transaction


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
    """One instance of a feed on a cluster.

    Attributes:
        instance_key: its time, ``2026-03-01T06:40Z``.
        uri: where the data is; None: nobody said.
    """

    feed: str
    cluster: str
    instance_key: str
    uri: str | None = None

    def __post_init__(self) -> None:
        require_instance_key(self.instance_key)

    @property
    def identity(self) -> tuple[str, str, str]:
        """What makes it the same instance, wherever its data is."""
        return self.feed, self.cluster, self.instance_key


def attach(tx: Transaction, batch_id: int, instances: Sequence[FeedInstance]) -> tuple[FeedInstance, ...]:
    """Let a batch stand for instances, each once.

    Returns:
        Those that it did not stand for before.
    """
    distinct = {each.identity: each for each in reversed(instances)}
    return tuple(each for each in reversed(distinct.values()) if _attach(tx, batch_id, each))


def _attach(tx: Transaction, batch_id: int, instance: FeedInstance) -> bool:
    row = tx.upsert(batch_instance).values(batch_id=batch_id, **asdict(instance)).on_conflict_do_nothing()
    return tx.execute(row.returning(batch_instance.c.batch_id)).first() is not None
