"""Runs instances of processes: `spark-submit process.py --process NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.process import process

app = typer.Typer(add_completion=False)
app.command()(process)

if __name__ == "__main__":
    run_process(app)
