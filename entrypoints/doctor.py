"""Looks at what is reachable, also from the executors: `spark-submit doctor.py --spark [--cluster NAME]`."""

from __future__ import annotations

import typer

from toolkit.cli.doctor import doctor
from toolkit.cli.process import run_process

app = typer.Typer(add_completion=False)
app.command()(doctor)

if __name__ == "__main__":
    run_process(app)
