"""Instances of an action that have a record, whatever became of them; counted, since a history may be long."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa
from typing_extensions import override

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.instances import within
from toolkit.ledger.runs.queries import InstanceSpan, Subject
from toolkit.ledger.tables import run
from toolkit.planning.history import RecordedInstances

_TIME_ENDS_AT = len("2026-03-01T06:40")


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedRuns(RecordedInstances):
    """Runs of an action on an entity on a cluster, in one transaction.

    The first attempt of an instance stands for all of them. The index of run keys answers without a look at the rows.
    """

    tx: Transaction
    subject: Subject

    @override
    def count(self, first: str, end: str, times: tuple[str, ...]) -> int:
        where = self._of_span(first, end)
        if times:
            length = len(times[0])
            where.append(sa.func.substr(run.c.instance_key, _TIME_ENDS_AT - length + 1, length).in_(times))
        return int(self.tx.execute(sa.select(sa.func.count()).select_from(run).where(*where)).scalar_one())

    @override
    def keys(self, first: str, end: str) -> frozenset[str]:
        return frozenset(self.tx.execute(sa.select(run.c.instance_key).where(*self._of_span(first, end))).scalars())

    def among(self, keys: Collection[str]) -> frozenset[str]:
        """Return which of the keys are recorded."""
        found: set[str] = set()
        for chunk in in_chunks(keys):
            where = (*within(self._span(min(chunk), max(chunk) + "~")), run.c.instance_key.in_(chunk))
            found |= set(self.tx.execute(sa.select(run.c.instance_key).where(*where)).scalars())
        return frozenset(found)

    def _span(self, first: str, end: str) -> InstanceSpan:
        return InstanceSpan(subject=self.subject, start_key=first, end_key=end)

    def _of_span(self, first: str, end: str) -> list[sa.ColumnElement[bool]]:
        return [*within(self._span(first, end)), run.c.attempt == 1]
