"""Pulls the partitions of table feeds: `spark-submit hive_replication.py --feed NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.hive import hive_replication

app = typer.Typer(add_completion=False)
app.command()(hive_replication)

if __name__ == "__main__":
    run_process(app)
