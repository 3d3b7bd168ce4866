"""The peer's counterpart of the graph of `benchmarks.bench_triggers`: as many consumers as assets, of three each."""

from __future__ import annotations

import os

from airflow.providers.standard.operators.empty import EmptyOperator  # type: ignore[import-not-found] # not in our venv
from airflow.sdk import DAG, Asset  # type: ignore[import-not-found]

_SIZE = int(os.environ["FEEDCTL_BENCH_ASSETS"])

for number in range(_SIZE):
    read = [Asset(f"x-bench://feed/{(number + step) % _SIZE}") for step in range(3)]
    with DAG(f"consumer_{number}", schedule=read, max_active_runs=1_000, is_paused_upon_creation=False) as dag:
        EmptyOperator(task_id="only")
    globals()[dag.dag_id] = dag
