"""How many instances succeeded or failed, for many entities at once (`feedctl status`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.parts import in_parts
from toolkit.ledger.runs.finding import Subject
from toolkit.ledger.tables import run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus

FAILURES = (RunStatus.FAILED, RunStatus.KILLED, RunStatus.TIMED_OUT)
"""Over, without having succeeded."""

_PARTS = ("entity", "life_cycle", "cluster", "start_key", "end_key")


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The instances of an action on an entity on a cluster from one key to another.

    Attributes:
        start_key: the first instance.
        end_key: the first that is too late.
    """

    subject: Subject
    start_key: str
    end_key: str


def succeeded(tx: Transaction, spans: Collection[Span]) -> dict[Subject, int]:
    """How many instances of each span have ever succeeded, however often."""
    counted = sa.select(sa.func.count(run.c.instance_key.distinct())).where(
        is_one_of(run.c.status, RunStatus.SUCCEEDED)
    )
    return _counts(tx, spans, counted)


def failed(tx: Transaction, spans: Collection[Span]) -> dict[Subject, int]:
    """How many instances of each span failed, were killed or timed out in their newest attempt."""
    later = run.alias("later")
    key = ("entity", "instance_key", "life_cycle", "cluster", "counterpart")
    follows = sa.exists().where(*(later.c[name] == run.c[name] for name in key), later.c.attempt > run.c.attempt)
    counted = sa.select(sa.func.count()).select_from(run).where(is_one_of(run.c.status, *FAILURES), ~follows)
    return _counts(tx, spans, counted)


def _counts(tx: Transaction, spans: Collection[Span], counted: sa.Select[tuple[int]]) -> dict[Subject, int]:
    found: dict[Subject, int] = {}
    for part in in_parts(spans):
        span = _table(part)
        same = [run.c[name] == span.c[name] for name in _PARTS[:3]]
        within = (run.c.instance_key >= span.c.start_key) & (run.c.instance_key < span.c.end_key)
        number = counted.where(*same, within).correlate(span).scalar_subquery().label("number")
        for row in tx.execute(sa.select(*(span.c[name] for name in _PARTS[:3]), number)).mappings():
            subject = Subject(entity=row["entity"], life_cycle=row["life_cycle"], cluster=row["cluster"])
            found[subject] = row["number"]
    return found


def _table(spans: Collection[Span]) -> sa.CTE:
    """The spans as rows of a query."""
    rows = [
        sa.select(
            sa.literal(each.subject.entity, run.c.entity.type).label("entity"),
            sa.literal(each.subject.life_cycle, run.c.life_cycle.type).label("life_cycle"),
            sa.literal(each.subject.cluster, run.c.cluster.type).label("cluster"),
            sa.literal(each.start_key, run.c.instance_key.type).label("start_key"),
            sa.literal(each.end_key, run.c.instance_key.type).label("end_key"),
        )
        for each in spans
    ]
    return sa.union_all(*rows).cte("span")
