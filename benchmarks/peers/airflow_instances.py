"""Instances of Airflow: what `airflow dags test` does for each, in one process, by the Python of the peer's own venv.

Reads how many, and answers with the seconds that they took: by the clock, and of processors, of the commands too. A
scheduler with workers does more for each: it finds out that one is due, queues it, and starts a process for it.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import count

from airflow.dag_processing.dagbag import DagBag  # type: ignore[import-not-found] # not in our venv

_START = datetime(2020, 1, 1, tzinfo=UTC)


def main() -> int:
    """Serve until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a test prints what the task says
    dag, hours = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"]).get_dag("one_step"), count()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        began, before = time.perf_counter(), sum(os.times()[:4])
        for _ in range(int(line)):
            run = dag.test(logical_date=_START + timedelta(hours=next(hours)))
            assert str(run.state) == "success", run.state
        print(time.perf_counter() - began, sum(os.times()[:4]) - before, file=answers, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
