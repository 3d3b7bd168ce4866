"""Pulls a feed's instances from other clusters: `spark-submit replication.py --feed NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.replication import replication

app = typer.Typer(add_completion=False)
app.command()(replication)

if __name__ == "__main__":
    run_process(app)
