"""Looks at what is reachable, also from the executors: `spark-submit doctor.py --spark [--cluster NAME]`."""

from __future__ import annotations

import typer

from toolkit.cli.boundary import run_process
from toolkit.cli.doctor import doctor

app = typer.Typer(add_completion=False)
app.command()(doctor)

if __name__ == "__main__":
    run_process(app)
