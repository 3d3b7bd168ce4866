"""Starts the processes whose data was updated: `spark-submit trigger.py --due --cluster NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.trigger import trigger

app = typer.Typer(add_completion=False)
app.command()(trigger)

if __name__ == "__main__":
    run_process(app)
