"""Imports exports of a table: `spark-submit hive_import.py --feed NAME --cluster NAME --from URI --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.hive import hive_import

app = typer.Typer(add_completion=False)
app.command()(hive_import)

if __name__ == "__main__":
    run_process(app)
