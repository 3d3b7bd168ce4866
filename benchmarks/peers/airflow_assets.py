"""Asset-triggered runs of Airflow. Run by the Python of the peer's own venv.

Reads lines and answers each with the seconds that the part of the scheduler took which finds and creates runs.

idle: nothing was updated.
due: each asset was updated once, which is not timed, so that each consumer is due; the second figure is the number of
    runs that were created. The scheduler is asked again until it creates none.
"""

from __future__ import annotations

import sys
import time

from airflow.assets.manager import asset_manager  # type: ignore[import-not-found] # not in our venv
from airflow.jobs.job import Job  # type: ignore[import-not-found]
from airflow.jobs.scheduler_job_runner import SchedulerJobRunner  # type: ignore[import-not-found]
from airflow.models.asset import AssetModel  # type: ignore[import-not-found]
from airflow.models.dag import DagModel  # type: ignore[import-not-found]
from airflow.models.dagrun import DagRun  # type: ignore[import-not-found]
from airflow.utils.session import create_session  # type: ignore[import-not-found]
from airflow.utils.sqlalchemy import prohibit_commit  # type: ignore[import-not-found]


class Peer:
    """Airflow's scheduler, as far as it creates runs, over the database that its settings name."""

    def __init__(self) -> None:
        self._scheduler = SchedulerJobRunner(job=Job())
        with create_session() as session:
            session.query(DagModel).update({DagModel.is_paused: False})
            self._assets = [each.id for each in session.query(AssetModel).all()]

    def update(self) -> None:
        """Update each asset once, each in a transaction of its own, as producers do."""
        for number in self._assets:
            with create_session() as session:
                asset_manager.register_asset_change(asset=session.get(AssetModel, number), session=session)

    def look(self) -> None:
        """Find and create runs, as one pass of the scheduler does."""
        with create_session() as session, prohibit_commit(session) as guard:
            self._scheduler._create_dagruns_for_dags(guard, session)  # noqa: SLF001 - there is no public way
            guard.commit()

    def count(self) -> int:
        """Return the number of runs."""
        with create_session() as session:
            return int(session.query(DagRun).count())

    def due(self) -> tuple[float, int]:
        """Return the seconds in which all runs were created, and how many these were."""
        self.update()
        before = found = self.count()
        seconds = 0.0
        while True:
            began = time.perf_counter()
            self.look()
            seconds += time.perf_counter() - began
            now = self.count()
            if now == found:
                return seconds, now - before
            found = now


def main() -> int:
    """Serve until the input ends."""
    peer = Peer()
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "due":
            print(*peer.due(), flush=True)
            continue
        began = time.perf_counter()
        peer.look()
        print(time.perf_counter() - began, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
