"""Imports from databases: `spark-submit db_import.py --feed NAME --cluster NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.db_import import db_import

app = typer.Typer(add_completion=False)
app.command()(db_import)

if __name__ == "__main__":
    run_process(app)
