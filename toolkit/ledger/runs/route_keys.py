"""Keys of the instances that were copied, or skipped, from one cluster to another, or to a database."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.queries import FAILURES, OPEN, Subject, is_newest
from toolkit.ledger.tables import item, run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

_KEY = ("entity", "instance_key", "life_cycle", "cluster", "counterpart")


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyRoute:
    """Replication of a feed from one cluster to another.

    Of an export to a database, `target` is the cluster and `source` the datasource, as in the runs' keys.
    """

    feed: str
    target: str
    source: str
    life_cycle: LifeCycle = LifeCycle.REPLICATION

    @property
    def subject(self) -> Subject:
        """The runs of the route."""
        feed, cycle = self.feed, self.life_cycle
        return Subject(entity=feed, life_cycle=cycle, cluster=self.target, counterpart=self.source)

    @property
    def is_of(self) -> sa.ColumnElement[bool]:
        """True if a row of `run` is about it."""
        of_feed = sa.and_(run.c.entity == self.feed, run.c.life_cycle == self.life_cycle)
        return sa.and_(of_feed, run.c.cluster == self.target, run.c.counterpart == self.source)


def succeeded_keys(tx: Transaction, route: CopyRoute) -> frozenset[str]:
    """Return the keys of the instances of which any attempt has succeeded."""
    where = (route.is_of, is_one_of(run.c.status, RunStatus.SUCCEEDED))
    return frozenset(tx.execute(sa.select(run.c.instance_key.distinct()).where(*where)).scalars())


def unfinished_keys(tx: Transaction, route: CopyRoute) -> frozenset[str]:
    """Return the keys of the instances with a run of which none succeeded, or a later one has begun an effect since.

    Such a run may have left something else than the success before it has made. Read are the runs that did not succeed.
    """
    later = run.alias("later")
    has_begun = sa.exists().where(item.c.run_id == run.c.run_id).correlate(run)
    makes_up = sa.or_(later.c.attempt > run.c.attempt, ~has_begun)
    of_instance = (later.c[name] == run.c[name] for name in _KEY)
    is_finished = sa.exists().where(*of_instance, later.c.status == RunStatus.SUCCEEDED, makes_up)
    found: set[str] = set()
    # An index each. Asked for distinct keys, SQLite reads all runs in their order instead.
    for statuses in (OPEN, FAILURES, (RunStatus.SKIPPED,)):
        where = (route.is_of, is_one_of(run.c.status, *statuses), ~is_finished)
        found |= set(tx.execute(sa.select(run.c.instance_key).where(*where)).scalars())
    return frozenset(found)


def skipped_keys(tx: Transaction, route: CopyRoute, code: str) -> frozenset[str]:
    """Return the keys of the instances whose newest attempt was skipped with this code."""
    is_skipped = (is_one_of(run.c.status, RunStatus.SKIPPED), run.c.reason.startswith(f"{code}:", autoescape=True))
    where = (route.is_of, *is_skipped, is_newest())
    return frozenset(tx.execute(sa.select(run.c.instance_key).where(*where)).scalars())
