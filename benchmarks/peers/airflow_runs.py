"""Rows of Airflow: a DagRun and its three TaskInstances, made and finished. Run by the Python of the peer's own venv.

Reads lines "KIND RUNS" and answers each with the seconds that it took. KIND is

states: the dagrun with its task instances, each set running and then success, the dagrun set to success; all by the
    methods of Airflow's own models and nothing else. It is the least that Airflow can write for a run.
scheduled: the same, and before each task what Airflow's scheduler does to find that it may start.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import count

from airflow.models.dagbag import DBDagBag  # type: ignore[import-not-found] # not in our venv
from airflow.models.dagrun import DagRun  # type: ignore[import-not-found]
from airflow.models.taskinstance import TaskInstance  # type: ignore[import-not-found]
from airflow.utils.session import create_session  # type: ignore[import-not-found]
from airflow.utils.state import DagRunState, TaskInstanceState  # type: ignore[import-not-found]
from airflow.utils.types import DagRunTriggeredByType, DagRunType  # type: ignore[import-not-found]

_DAG = "three_steps"
_TASKS = ("step_0", "step_1", "step_2")
_START = datetime(2020, 1, 1, tzinfo=UTC)


class Peer:
    """Airflow's scheduler, as far as rows go, over the database that its settings name."""

    def __init__(self) -> None:
        with create_session() as session:
            self._dag = DBDagBag().get_latest_version_of_dag(_DAG, session=session)
            taken = session.query(DagRun).count()
        self._number = count(taken)

    def run(self, *, is_scheduled: bool) -> None:
        """Make one run and finish it; each change is a transaction, as in reality, where processes share the work."""
        run_key, tasks = self._create()
        for name in _TASKS:
            if is_scheduled:
                self._schedule(run_key, name)
            tasks[name].set_state(TaskInstanceState.RUNNING)
            tasks[name].set_state(TaskInstanceState.SUCCESS)
        assert self._decide(run_key) == ("success", [])

    def _create(self) -> tuple[int, dict[str, TaskInstance]]:
        at = _START + timedelta(hours=next(self._number))
        with create_session() as session:
            run = self._dag.create_dagrun(
                run_id=f"scheduled__{at.isoformat()}",
                logical_date=at,
                data_interval=(at, at + timedelta(hours=1)),
                run_after=at,
                start_date=at,
                run_type=DagRunType.SCHEDULED,
                triggered_by=DagRunTriggeredByType.TIMETABLE,
                state=DagRunState.RUNNING,
                session=session,
            )
            return run.id, {task.task_id: task for task in run.task_instances}

    def _schedule(self, run_key: int, name: str) -> None:
        state, ready = self._decide(run_key)
        assert (state, ready) == ("running", [name])

    def _decide(self, run_key: int) -> tuple[str, list[str]]:
        with create_session() as session:
            run = session.get(DagRun, run_key)
            run.dag = self._dag
            ready, _ = run.update_state(session=session, execute_callbacks=False)
            if ready:
                run.schedule_tis(ready, session=session)
            return str(run.state), [task.task_id for task in ready]


def main() -> int:
    """Serve until the input ends."""
    peer = Peer()
    print("ready", flush=True)
    for line in sys.stdin:
        kind, runs = line.split()
        began = time.perf_counter()
        for _ in range(int(runs)):
            peer.run(is_scheduled=kind == "scheduled")
        print(time.perf_counter() - began, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
