"""Evicts a feed's old instances: `spark-submit retention.py --feed NAME --time INSTANT [--dry-run]`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.retention import retention

app = typer.Typer(add_completion=False)
app.command()(retention)

if __name__ == "__main__":
    run_process(app)
