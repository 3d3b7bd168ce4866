"""`feedctl run`: the calls of a workflow (BDRE, Metadata DB APIs). Each answers with one JSON document."""

from __future__ import annotations

import typer

from toolkit.cli import run_files, run_jobs, run_log, run_steps

app = typer.Typer(no_args_is_help=True)
app.command("init-job")(run_jobs.init_job)
app.command("halt-job")(run_jobs.halt_job)
app.command("term-job")(run_jobs.term_job)
app.command("init-step")(run_steps.init_step)
app.command("halt-step")(run_steps.halt_step)
app.command("term-step")(run_steps.term_step)
app.command("get-files")(run_files.get_files)
app.command("get-etl-driver")(run_files.get_etl_driver)
app.command("get-properties")(run_files.get_properties)
app.command("register-file")(run_files.register_file)
app.command("enqueue")(run_files.enqueue)
app.add_typer(run_log.app, name="log")


@app.callback()
def run() -> None:
    """Tell the ledger what a workflow does: its jobs, their steps, batches and files. Every answer is JSON."""
