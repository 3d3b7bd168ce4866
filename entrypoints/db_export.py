"""Exports instances to databases: `spark-submit db_export.py --feed NAME --cluster NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.db_export import db_export

app = typer.Typer(add_completion=False)
app.command()(db_export)

if __name__ == "__main__":
    run_process(app)
