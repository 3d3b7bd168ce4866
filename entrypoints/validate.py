"""Validates an instance by hand: `spark-submit validate.py --feed NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.validate import validate

app = typer.Typer(add_completion=False)
app.command()(validate)

if __name__ == "__main__":
    run_process(app)
