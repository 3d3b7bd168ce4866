"""Commits the records of a feed's source to its table: `spark-submit ingest.py --feed NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.ingest import ingest

app = typer.Typer(add_completion=False)
app.command()(ingest)

if __name__ == "__main__":
    run_process(app)
