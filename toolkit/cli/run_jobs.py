"""`feedctl run init-job|halt-job|term-job`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import run_options as given
from toolkit.cli.options import ConfigRepo, Env, print_json
from toolkit.cli.run_calls import calls, job_io

if TYPE_CHECKING:
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.ledger.jobs.rows import JobRef


def init_job(
    process: given.Process,
    cluster: given.Cluster,
    instance: given.Instance = None,
    max_batch: given.MaxBatch = None,
    inputs: given.Inputs = None,
    no_resolve: given.NoResolve = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Start a job, and print what each step reads and where a rerun goes on; 75: nothing is enqueued yet."""
    from toolkit.rendering.run_metadata import started_document

    with calls(config_repo, env) as metadata:
        ref = given.job_ref(process, cluster, instance)
        read = given.instances("--input", inputs or (), cluster)
        unresolved: tuple[str, ...] = ()
        if ref.instance_key is not None and inputs is None and not no_resolve:
            found = job_io(config_repo, env, ref, ref.instance_key).inputs()
            read, unresolved = found.instances, found.unresolved
        started = metadata.init_job(ref, max_batches=max_batch, inputs=read)
        print_json({**started_document(started), "unresolved_inputs": list(unresolved)})


def halt_job(
    process: given.Process,
    cluster: given.Cluster,
    instance: given.Instance = None,
    marking: given.Marking = None,
    outputs: given.Outputs = None,
    no_resolve: given.NoResolve = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """End a job whose steps have all succeeded: publish its batch and enqueue it for the steps downstream."""
    from toolkit.rendering.run_metadata import halted_document

    with calls(config_repo, env) as metadata:
        ref = given.job_ref(process, cluster, instance)
        made = given.instances("--output", outputs or (), cluster)
        if outputs is None and not no_resolve:
            made = _outputs(config_repo, env, ref)
        print_json(halted_document(metadata.halt_job(ref, marking=marking, outputs=made)))


def term_job(
    process: given.Process,
    cluster: given.Cluster,
    instance: given.Instance = None,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is recorded.")] = None,
    abort: Annotated[
        bool, typer.Option("--abort", help="Kill the job, whatever its steps do: its workflow is dead.")
    ] = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Record that a job failed; the next one takes the same batches again."""
    from toolkit.rendering.run_metadata import job_document

    with calls(config_repo, env) as metadata:
        ref = given.job_ref(process, cluster, instance)
        dead = reason or "aborted"
        ended = metadata.abort_job(ref, reason=dead) if abort else metadata.term_job(ref, reason=reason)
        print_json({"job": job_document(ended)})


def _outputs(config_repo: str | None, env: str | None, ref: JobRef) -> tuple[FeedInstance, ...]:
    """A job on the queue makes no instance that the config repo knows."""
    if ref.instance_key is None:
        return ()
    return job_io(config_repo, env, ref, ref.instance_key).outputs()
