"""Runs an instance of a mirror: `spark-submit mirror.py --mirror NAME --time INSTANT`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.mirror_run import run_mirror

app = typer.Typer(add_completion=False)
app.command()(run_mirror)

if __name__ == "__main__":
    run_process(app)
