"""Exports instances of a table feed: `spark-submit hive_export.py --feed NAME --to URI --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.hive import hive_export

app = typer.Typer(add_completion=False)
app.command()(hive_export)

if __name__ == "__main__":
    run_process(app)
