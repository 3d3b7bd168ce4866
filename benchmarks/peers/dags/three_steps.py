"""The peer's counterpart of a job with three steps; nothing runs its commands, only the rows are made."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.providers.standard.operators.bash import BashOperator  # type: ignore[import-not-found] # not in our venv
from airflow.sdk import DAG  # type: ignore[import-not-found]

with DAG("three_steps", schedule="@hourly", start_date=datetime(2020, 1, 1, tzinfo=UTC), catchup=True):
    first, second, third = (BashOperator(task_id=f"step_{number}", bash_command="true") for number in range(3))
    first >> second >> third
