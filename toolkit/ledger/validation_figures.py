"""Figures of expectations over the instances of a feed, as charts show them."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.tables import verdict
from toolkit.ledger.validations import StoredFinding, findings_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """Distance of an expectation from success: the share of unexpected rows, or the number that was observed."""

    suite: str
    position: int
    type: str
    figure: float


def figures_of(tx: Transaction, feed: str, cluster: str, most: int, until: int | None = None) -> list[Figure]:
    """A figure of each expectation of the last results on a feed's instances, oldest first: what a page draws.

    Args:
        tx: of the ledger.
        feed: name.
        cluster: where.
        most: so many instances; of each unit of them the newest result counts.
        until: number of the newest result that counts; None: all do.
    """
    of = verdict.c
    where = [of.feed == feed, of.cluster == cluster, ~of.is_by_hand]
    if until is not None:
        where.append(of.verdict_id <= until)
    newest = sa.func.max(of.verdict_id)
    last = sa.select(newest).where(*where).group_by(of.instance_key, of.unit).order_by(newest.desc())
    numbers = tx.execute(last.limit(most)).scalars().all()
    found = findings_of(tx, numbers[::-1])
    return [figure for each in found.values() for one in each if (figure := figure_of(one)) is not None]


def figure_of(found: StoredFinding) -> Figure | None:
    """Return the figure of an expectation; None: it observed no number."""
    if found.rows and found.unexpected is not None:
        figure = found.unexpected / found.rows
    else:
        try:
            figure = float(found.observed)
        except ValueError:
            return None
    return Figure(suite=found.suite, position=found.position, type=found.type, figure=figure)
