"""Looks for late data and runs again what it changes: `spark-submit late_check.py --all --due --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.late_check import late_check

app = typer.Typer(add_completion=False)
app.command()(late_check)

if __name__ == "__main__":
    run_process(app)
