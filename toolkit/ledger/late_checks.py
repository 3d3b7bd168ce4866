"""Checks for late data: which instances are still to be looked at again, and what was found (DESIGN section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime

import sqlalchemy as sa

from toolkit.el import EPOCH
from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.tables import input_fingerprint, late_check, run
from toolkit.ledger.vocabulary import LateCheckResult, LifeCycle, RunStatus

CAUSE = "late data: "
"""Beginning of the cause of a run that late data led to; updates that trigger a run are another cause."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenInstance:
    """An instance of a process whose last check for late data was not made yet.

    Attributes:
        instance_key: which.
        run_id: the last attempt that succeeded and has noted what it read.
        ends: the newest feed instance that it read through each input, by the name of the input.
        last_check: the time of the newest check that was made; None: none was.
        killed: so many attempts were killed since that check was noted, and since the success.
    """

    instance_key: str
    run_id: int
    ends: dict[str, str] = field(default_factory=dict)
    last_check: datetime | None = None
    killed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeCheck:
    """A check that was made; the fields are columns of the table `late_check`, where each is explained."""

    process: str
    cluster: str
    instance_key: str
    due_at: datetime
    is_last: bool
    verdict: LateCheckResult
    cause: str | None = None
    run_id: int | None = None


def open_instances(tx: Transaction, process: str, cluster: str) -> list[OpenInstance]:
    """The instances of a process on a cluster that are still to be looked at, oldest first.

    One that never succeeded is left out, and so is one whose last success has noted nothing: what it read is unknown.
    """
    runs = _last_successes(tx, process, cluster)
    ends = _ends(tx, runs.values())
    noted = {key: number for key, number in runs.items() if number in ends}
    made = _last_checks(tx, process, cluster, noted)
    killed = _killed(tx, process, cluster, noted)
    return [
        OpenInstance(
            instance_key=key,
            run_id=number,
            ends=ends[number],
            last_check=made.get(key),
            killed=killed.get(key, 0),
        )
        for key, number in noted.items()
    ]


def record(tx: Transaction, checks: Iterable[MadeCheck]) -> None:
    """Note checks that were made; one that another run has noted meanwhile stays as it is."""
    now = tx.now()
    rows = [{**asdict(each), "recorded_at": now} for each in checks]
    if rows:
        tx.execute(tx.upsert(late_check).on_conflict_do_nothing(), rows)


def made_for(tx: Transaction, process: str, cluster: str, instance_key: str) -> list[MadeCheck]:
    """The checks that were made of an instance, in their order."""
    columns = [late_check.c[name] for name in MadeCheck.__dataclass_fields__]
    of_it = (late_check.c.process == process, late_check.c.cluster == cluster)
    wanted = sa.select(*columns).where(*of_it, late_check.c.instance_key == instance_key)
    return list(tx.rows(MadeCheck, wanted.order_by(late_check.c.due_at)))


def _last_successes(tx: Transaction, process: str, cluster: str) -> dict[str, int]:
    """The attempts that count, by the key of the instance; those whose last check was made are left out.

    By comparison with one value, which is one look into an index for each run: as an anti-join, PostgreSQL without
    fresh statistics compared each run of some years with all checks.
    """
    last = sa.select(late_check.c.due_at).where(
        late_check.c.process == process,
        late_check.c.cluster == cluster,
        late_check.c.instance_key == run.c.instance_key,
        late_check.c.is_last,
    )
    of_process = (run.c.entity == process, run.c.life_cycle == LifeCycle.EXECUTION, run.c.cluster == cluster)
    wanted = (
        sa.select(run.c.instance_key, sa.func.max(run.c.run_id))
        .where(*of_process, is_one_of(run.c.status, RunStatus.SUCCEEDED))
        .where(last.limit(1).scalar_subquery().is_(None))
        .group_by(run.c.instance_key)
        .order_by(run.c.instance_key)
    )
    return dict(tx.execute(wanted).tuples().all())


def _ends(tx: Transaction, run_ids: Collection[int]) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    of_input = (input_fingerprint.c.run_id, input_fingerprint.c.input)
    newest = sa.select(*of_input, sa.func.max(input_fingerprint.c.instance_key))
    for chunk in in_chunks(run_ids):
        for number, name, key in tx.execute(newest.where(input_fingerprint.c.run_id.in_(chunk)).group_by(*of_input)):
            found.setdefault(number, {})[name] = key
    return found


def _last_checks(tx: Transaction, process: str, cluster: str, keys: Collection[str]) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    newest = sa.select(late_check.c.instance_key, sa.func.max(late_check.c.due_at)).where(
        late_check.c.process == process, late_check.c.cluster == cluster
    )
    for chunk in in_chunks(keys):
        wanted = newest.where(late_check.c.instance_key.in_(chunk)).group_by(late_check.c.instance_key)
        found |= dict(tx.execute(wanted).tuples().all())
    return found


def _killed(tx: Transaction, process: str, cluster: str, runs: Mapping[str, int]) -> Counter[str]:
    """Return how many attempts of instances died of which neither a success nor a check has been noted since.

    Of those that failed, only the ones for late data count: what came to an end has its check noted with it.
    """
    last = sa.select(sa.func.max(late_check.c.recorded_at)).where(
        late_check.c.process == process,
        late_check.c.cluster == cluster,
        late_check.c.instance_key == run.c.instance_key,
    )
    is_since = run.c.created_at > sa.func.coalesce(last.scalar_subquery(), sa.literal(EPOCH, run.c.created_at.type))
    of_process = (run.c.entity == process, run.c.life_cycle == LifeCycle.EXECUTION, run.c.cluster == cluster)
    wanted = sa.select(run.c.instance_key, run.c.run_id)
    is_late = is_one_of(run.c.status, RunStatus.FAILED) & run.c.cause.startswith(CAUSE)
    wanted = wanted.where(*of_process, is_one_of(run.c.status, RunStatus.KILLED) | is_late, is_since)
    return Counter(key for key, number in tx.execute(wanted).tuples() if number > runs.get(key, number))
