"""Keys of the instances that were copied, or skipped, from one cluster to another."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.queries import is_newest
from toolkit.ledger.tables import item, run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyRoute:
    """Replication of a feed from one cluster to another."""

    feed: str
    target: str
    source: str

    @property
    def is_of(self) -> sa.ColumnElement[bool]:
        """True if a row of `run` is about it."""
        of_feed = sa.and_(run.c.entity == self.feed, run.c.life_cycle == LifeCycle.REPLICATION)
        return sa.and_(of_feed, run.c.cluster == self.target, run.c.counterpart == self.source)


def succeeded_keys(tx: Transaction, route: CopyRoute) -> frozenset[str]:
    """Return the keys of the instances of which any attempt has succeeded."""
    where = (route.is_of, is_one_of(run.c.status, RunStatus.SUCCEEDED))
    return frozenset(tx.execute(sa.select(run.c.instance_key.distinct()).where(*where)).scalars())


def untouched_keys(tx: Transaction, route: CopyRoute) -> frozenset[str]:
    """Return the keys of `succeeded_keys` on which no later attempt has begun an effect without a good end.

    Such an attempt may have left something else than the success before it has made.
    """
    of_instance = sa.select(run.c.instance_key, sa.func.max(run.c.attempt)).group_by(run.c.instance_key)
    newest_of = of_instance.where(route.is_of)
    has_begun = sa.exists().where(item.c.run_id == run.c.run_id)
    well = newest_of.where(is_one_of(run.c.status, RunStatus.SUCCEEDED))
    begun = dict(tx.execute(newest_of.where(run.c.status != RunStatus.SUCCEEDED, has_begun)).tuples().all())
    return frozenset(key for key, attempt in tx.execute(well).tuples() if attempt > begun.get(key, 0))


def skipped_keys(tx: Transaction, route: CopyRoute, code: str) -> frozenset[str]:
    """Return the keys of the instances whose newest attempt was skipped with this code."""
    is_skipped = (is_one_of(run.c.status, RunStatus.SKIPPED), run.c.reason.startswith(f"{code}:", autoescape=True))
    where = (route.is_of, *is_skipped, is_newest())
    return frozenset(tx.execute(sa.select(run.c.instance_key).where(*where)).scalars())
