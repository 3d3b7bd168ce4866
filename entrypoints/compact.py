"""Closes instances of ingested feeds, maintains tables: `spark-submit compact.py --feed NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.compact import compact

app = typer.Typer(add_completion=False)
app.command()(compact)

if __name__ == "__main__":
    run_process(app)
