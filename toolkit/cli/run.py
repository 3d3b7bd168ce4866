"""`feedctl run`: the calls of a workflow (BDRE, Metadata DB APIs). Each answers with one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import run_options as options
from toolkit.cli.completion import entity_names
from toolkit.cli.flags import Fields, RepoFlags, flat
from toolkit.cli.options import print_json
from toolkit.cli.run_options import calls, job_io

if TYPE_CHECKING:
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.ledger.jobs.rows import JobRef

log_app = typer.Typer(no_args_is_help=True)
app = typer.Typer(no_args_is_help=True)
app.add_typer(log_app, name="log")


@app.callback()
def run() -> None:
    """Record in the ledger what a workflow does: its jobs, their steps, batches and files. Every answer is JSON."""


@app.command("init-job")
@flat
def init_job(
    *,
    job: options.JobFlags,
    max_batch: Annotated[
        int | None,
        typer.Option(
            "--max-batch", metavar="N", help="On the queue: take at most this many batches from each upstream."
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="FEED=INSTANT",
            help="For an instance: what it reads; repeatable. Default: what the config repo says.",
        ),
    ] = None,
    no_resolve: options.NoResolve = False,
    repo: RepoFlags,
) -> None:
    """Start a job, and print what each step reads and where a rerun goes on; 75: nothing is enqueued yet."""
    from toolkit.rendering.run_metadata import started_document

    with calls(repo) as metadata:
        ref = job.ref()
        read = options.instances("--input", inputs or (), job.cluster)
        unresolved: tuple[str, ...] = ()
        if ref.instance_key is not None and inputs is None and not no_resolve:
            found = job_io(repo, ref, ref.instance_key).inputs()
            read, unresolved = found.instances, found.unresolved
        started = metadata.init_job(ref, max_batches=max_batch, inputs=read)
        print_json({**started_document(started), "unresolved_inputs": list(unresolved)})


@app.command("halt-job")
@flat
def halt_job(
    *,
    job: options.JobFlags,
    marking: options.Marking = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="FEED=INSTANT[=URI]",
            help="What the job made; repeatable. Default, for an instance: what the config repo says.",
        ),
    ] = None,
    no_resolve: options.NoResolve = False,
    repo: RepoFlags,
) -> None:
    """End a job whose steps have all succeeded: publish its batch and enqueue it for the steps downstream."""
    from toolkit.rendering.run_metadata import halted_document

    with calls(repo) as metadata:
        ref = job.ref()
        made = options.instances("--output", outputs or (), job.cluster)
        if not no_resolve:
            made = _outputs(repo, ref) if outputs is None else options.checked_outputs(repo, ref.site, made)
        print_json(halted_document(metadata.halt_job(ref, marking=marking, outputs=made)))


@app.command("term-job")
@flat
def term_job(
    *,
    job: options.JobFlags,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is recorded.")] = None,
    abort: Annotated[
        bool, typer.Option("--abort", help="Kill the job, whatever its steps do: its workflow no longer runs.")
    ] = False,
    repo: RepoFlags,
) -> None:
    """Record that a job failed; the next one takes the same batches again."""
    from toolkit.rendering.run_metadata import job_document

    with calls(repo) as metadata:
        ref = job.ref()
        dead = reason or "aborted"
        ended = metadata.abort_job(ref, reason=dead) if abort else metadata.term_job(ref, reason=reason)
        print_json({"job": job_document(ended)})


@app.command("init-step")
@flat
def init_step(
    *,
    job: options.StepFlags,
    application_id: Annotated[
        str | None, typer.Option("--application-id", metavar="ID", help="The id of the application on Spark or YARN.")
    ] = None,
    log: Annotated[str | None, typer.Option("--log", metavar="PLACE", help="Where the step's log is.")] = None,
    repo: RepoFlags,
) -> None:
    """Record that a step of a job begins."""
    from toolkit.rendering.run_metadata import step_document

    with calls(repo) as metadata:
        ref = job.ref()
        begun = metadata.init_step(ref, job.step, application_id=application_id, log_location=log)
        print_json({"step_run": step_document(begun)})


@app.command("halt-step")
@flat
def halt_step(*, job: options.StepFlags, repo: RepoFlags) -> None:
    """Record that a step has succeeded: its batches are processed."""
    from toolkit.rendering.run_metadata import step_document

    with calls(repo) as metadata:
        ended = metadata.halt_step(job.ref(), job.step)
        print_json({"step_run": step_document(ended)})


@app.command("term-step")
@flat
def term_step(*, job: options.StepFlags, repo: RepoFlags) -> None:
    """Record that a step has failed; it may begin again in the same job, or the job ends with term-job."""
    from toolkit.rendering.run_metadata import step_document

    with calls(repo) as metadata:
        ended = metadata.term_step(job.ref(), job.step)
        print_json({"step_run": step_document(ended)})


@app.command("get-files")
@flat
def get_files(*, batches: options.BatchFlags, run: options.RunId = None, repo: RepoFlags) -> None:
    """Print the files of a job's batches (--run), or those of a range of batches of any job."""
    from toolkit.rendering.run_metadata import files_documents

    with calls(repo, writing=False) as metadata:
        name = "run get-files"
        found = metadata.get_files(*batches.range(name)) if run is None else metadata.files_of_job(run)
        print_json({"files": files_documents(found)})


@app.command("get-etl-driver")
@flat
def get_etl_driver(*, batches: options.BatchFlags, repo: RepoFlags) -> None:
    """Print the files of a range of batches as one text: batch,server,path,size,hash,timestamp;..."""
    with calls(repo, writing=False) as metadata:
        print_json({"etl_driver": metadata.get_etl_driver(*batches.range("run get-etl-driver"))})


@app.command("get-properties")
@flat
def get_properties(
    *,
    job: Annotated[options.JobFlags, Fields(only=("process", "cluster"))],
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="NAME", help="Only this config group: the keys' part up to the first dot."),
    ] = None,
    repo: RepoFlags,
) -> None:
    """Print the registered properties of a process, of one config group or all."""
    from toolkit.ledger.registry.registration import Site

    with calls(repo, writing=False) as metadata:
        found = metadata.get_properties(Site(name=job.process, cluster=job.cluster), group)
        print_json(
            {
                "properties": {each.key: each.value for each in found},
                "groups": {each.key: each.config_group for each in found},
            }
        )


@app.command("register-file")
@flat
def register_file(*, file: options.FileFlags, batch: options.Batch = None, repo: RepoFlags) -> None:
    """Register a file in a batch; the same file of the same batch again changes nothing."""
    from toolkit.rendering.run_metadata import file_document

    with calls(repo) as metadata:
        print_json({"file": file_document(metadata.register_file(file.new_file(), batch_id=batch))})


@app.command("enqueue")
@flat
def enqueue(
    *,
    source: Annotated[
        str,
        typer.Option("--source", metavar="NAME", autocompletion=entity_names, help="The feed or process it is from."),
    ],
    cluster: options.Cluster,
    file: options.FileFlags,
    batch: options.Batch = None,
    marking: options.Marking = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="FEED=INSTANT[=URI]", help="The feed instance that the batch stands for."),
    ] = None,
    no_resolve: options.NoResolve = False,
    repo: RepoFlags,
) -> None:
    """Register a file and enqueue its batch for every step downstream of its source."""
    from toolkit.ledger.registry.registration import Site
    from toolkit.rendering.run_metadata import enqueued_document

    with calls(repo) as metadata:
        site = Site(name=source, cluster=cluster)
        made = options.instances("--output", [] if output is None else [output], cluster)
        if made and not no_resolve:
            made = options.checked_outputs(repo, site, made)
        enqueued = metadata.enqueue(
            site,
            file.new_file(),
            batch_id=batch,
            marking=marking,
            instance=next(iter(made), None),
        )
        print_json(enqueued_document(enqueued))


@log_app.callback()
def log() -> None:
    """Write and read the log of a run: what a step counted, checked or found."""


@log_app.command("write")
@flat
def write(
    *,
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What the run says.")],
    category: Annotated[str, typer.Option("--category", metavar="NAME", help="For example import or data-quality.")],
    which: options.LoggedFlags,
    step: Annotated[str | None, typer.Option("--step", metavar="NAME", help="The step that it is about.")] = None,
    repo: RepoFlags,
) -> None:
    """Write an entry into the log of a run (--run), or of the newest job of a process."""
    from toolkit.rendering.run_metadata import log_document

    with calls(repo) as metadata:
        run_id = which.run_id(metadata)
        print_json({"entry": log_document(metadata.write_log(run_id, category, message, step=step))})


@log_app.command("read")
@flat
def read(
    *,
    category: Annotated[str | None, typer.Option("--category", metavar="NAME", help="Only this category.")] = None,
    which: options.LoggedFlags,
    repo: RepoFlags,
) -> None:
    """Print the log of a run (--run), or of the newest job of a process."""
    from toolkit.rendering.run_metadata import log_document

    with calls(repo, writing=False) as metadata:
        run_id = which.run_id(metadata)
        print_json({"run_id": run_id, "entries": [log_document(each) for each in metadata.read_log(run_id, category)]})


def _outputs(repo: RepoFlags, ref: JobRef) -> tuple[FeedInstance, ...]:
    """A job on the queue makes no instance that the config repo knows."""
    if ref.instance_key is None:
        return ()
    return job_io(repo, ref, ref.instance_key).outputs()
