"""`feedctl run init-step|halt-step|term-step`."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli import run_options as given
from toolkit.cli.options import ConfigRepo, Env, print_json
from toolkit.cli.run_calls import calls


def init_step(
    process: given.Process,
    cluster: given.Cluster,
    step: given.Step,
    instance: given.Instance = None,
    application_id: Annotated[
        str | None, typer.Option("--application-id", metavar="ID", help="Of Spark or YARN.")
    ] = None,
    log: Annotated[str | None, typer.Option("--log", metavar="PLACE", help="Where the step's log is.")] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Record that a step of a job begins."""
    from toolkit.rendering.run_metadata import step_document

    with calls(config_repo, env) as metadata:
        ref = given.job_ref(process, cluster, instance)
        begun = metadata.init_step(ref, step, application_id=application_id, log_location=log)
        print_json({"step_run": step_document(begun)})


def halt_step(
    process: given.Process,
    cluster: given.Cluster,
    step: given.Step,
    instance: given.Instance = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Record that a step has succeeded: its batches are processed."""
    from toolkit.rendering.run_metadata import step_document

    with calls(config_repo, env) as metadata:
        ended = metadata.halt_step(given.job_ref(process, cluster, instance), step)
        print_json({"step_run": step_document(ended)})


def term_step(
    process: given.Process,
    cluster: given.Cluster,
    step: given.Step,
    instance: given.Instance = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Record that a step has failed; it may begin again in the same job, or the job ends with term-job."""
    from toolkit.rendering.run_metadata import step_document

    with calls(config_repo, env) as metadata:
        ended = metadata.term_step(given.job_ref(process, cluster, instance), step)
        print_json({"step_run": step_document(ended)})
