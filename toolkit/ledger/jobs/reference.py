"""The runs that a reference to a job means, as part of statements that are built once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.runs import queries
from toolkit.ledger.statements import given
from toolkit.ledger.tables import process, run
from toolkit.ledger.vocabulary import JobMode, LifeCycle

S = TypeVar("S")

Conditions = list[sa.ColumnElement[bool]]

_OF_PROCESS, _OF_CLUSTER, _OF_INSTANCE, _OF_RUN = "of_process", "of_cluster", "of_instance", "of_run"

PROCESS_ID = (
    sa.select(process.c.process_id)
    .where(process.c.name == given(process.c.name, _OF_PROCESS), process.c.cluster == given(run.c.cluster, _OF_CLUSTER))
    .scalar_subquery()
)
"""The number of the process that a reference names."""

IS_ACTIVE: Conditions = [is_one_of(run.c.status, *queries.ACTIVE), run.c.started_at.is_not(None)]
"""The job runs, or is suspended in the middle."""


class ByReference(Generic[S]):
    """A statement about the jobs that a reference means: one for each kind of reference.

    Args:
        build: makes it with the conditions that a row of `run` has to meet.
    """

    def __init__(self, build: Callable[[Conditions], S]) -> None:
        self._statements = {(in_queue, exact): build(_of(in_queue, exact)) for in_queue in _BOTH for exact in _BOTH}

    def __call__(self, ref: JobRef) -> S:
        """The statement for references like this one."""
        return self._statements[ref.instance_key is None, ref.run_id is not None]


def values_of(ref: JobRef) -> dict[str, object]:
    """The values of a reference for the parameters of its statement."""
    always: dict[str, object] = {_OF_PROCESS: ref.process, _OF_CLUSTER: ref.cluster}
    if ref.instance_key is not None:
        always[_OF_INSTANCE] = ref.instance_key
    if ref.run_id is not None:
        always[_OF_RUN] = ref.run_id
    return always


_BOTH = (False, True)


def _of(in_queue: bool, exact: bool) -> Conditions:  # noqa: FBT001 - one private call
    of_run: list[sa.ColumnElement[Any]] = [run.c.run_id == given(run.c.run_id, _OF_RUN)] if exact else []
    if in_queue:
        return [*of_run, run.c.process_id == PROCESS_ID, is_one_of(run.c.mode, JobMode.QUEUE)]
    return [
        *of_run,
        run.c.entity == given(run.c.entity, _OF_PROCESS),
        run.c.life_cycle == sa.literal_column(f"'{LifeCycle.EXECUTION.value}'", run.c.life_cycle.type),
        run.c.cluster == given(run.c.cluster, _OF_CLUSTER),
        run.c.counterpart == sa.literal_column("''", run.c.counterpart.type),
        run.c.instance_key == given(run.c.instance_key, _OF_INSTANCE),
    ]
