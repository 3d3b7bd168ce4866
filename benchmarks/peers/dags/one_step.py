"""The peer's counterpart of a process with one step of the engine `command`."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.providers.standard.operators.bash import BashOperator  # type: ignore[import-not-found] # not in our venv
from airflow.sdk import DAG  # type: ignore[import-not-found]

with DAG("one_step", schedule="@hourly", start_date=datetime(2020, 1, 1, tzinfo=UTC), catchup=True):
    BashOperator(task_id="only", bash_command="true")
