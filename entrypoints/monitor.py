"""Looks for late data and failures, and tells who wants to know: `spark-submit monitor.py --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.monitor import monitor

app = typer.Typer(add_completion=False)
app.command()(monitor)

if __name__ == "__main__":
    run_process(app)
