"""`feedctl run`: the calls of a workflow (BDRE, Metadata DB APIs). Each answers with one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import run_options as options
from toolkit.cli.completion import entity_names
from toolkit.cli.options import ConfigRepo, Env, print_json
from toolkit.cli.run_options import calls, job_io

if TYPE_CHECKING:
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.ledger.jobs.rows import JobRef
    from toolkit.runs.job_calls import RunMetadata

log_app = typer.Typer(no_args_is_help=True)
app = typer.Typer(no_args_is_help=True)
app.add_typer(log_app, name="log")


@app.callback()
def run() -> None:
    """Tell the ledger what a workflow does: its jobs, their steps, batches and files. Every answer is JSON."""


@app.command("init-job")
def init_job(
    process: options.Process,
    cluster: options.Cluster,
    instance: options.Instance = None,
    max_batch: options.MaxBatch = None,
    inputs: options.Inputs = None,
    no_resolve: options.NoResolve = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Start a job, and print what each step reads and where a rerun goes on; 75: nothing is enqueued yet."""
    from toolkit.rendering.run_metadata import started_document

    with calls(config_repo, env) as metadata:
        ref = options.job_ref(process, cluster, instance)
        read = options.instances("--input", inputs or (), cluster)
        unresolved: tuple[str, ...] = ()
        if ref.instance_key is not None and inputs is None and not no_resolve:
            found = job_io(config_repo, env, ref, ref.instance_key).inputs()
            read, unresolved = found.instances, found.unresolved
        started = metadata.init_job(ref, max_batches=max_batch, inputs=read)
        print_json({**started_document(started), "unresolved_inputs": list(unresolved)})


@app.command("halt-job")
def halt_job(
    process: options.Process,
    cluster: options.Cluster,
    instance: options.Instance = None,
    marking: options.Marking = None,
    outputs: options.Outputs = None,
    no_resolve: options.NoResolve = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """End a job whose steps have all succeeded: publish its batch and enqueue it for the steps downstream."""
    from toolkit.rendering.run_metadata import halted_document

    with calls(config_repo, env) as metadata:
        ref = options.job_ref(process, cluster, instance)
        made = options.instances("--output", outputs or (), cluster)
        if outputs is None and not no_resolve:
            made = _outputs(config_repo, env, ref)
        print_json(halted_document(metadata.halt_job(ref, marking=marking, outputs=made)))


@app.command("term-job")
def term_job(
    process: options.Process,
    cluster: options.Cluster,
    instance: options.Instance = None,
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
        ref = options.job_ref(process, cluster, instance)
        dead = reason or "aborted"
        ended = metadata.abort_job(ref, reason=dead) if abort else metadata.term_job(ref, reason=reason)
        print_json({"job": job_document(ended)})


@app.command("init-step")
def init_step(
    process: options.Process,
    cluster: options.Cluster,
    step: options.Step,
    instance: options.Instance = None,
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
        ref = options.job_ref(process, cluster, instance)
        begun = metadata.init_step(ref, step, application_id=application_id, log_location=log)
        print_json({"step_run": step_document(begun)})


@app.command("halt-step")
def halt_step(
    process: options.Process,
    cluster: options.Cluster,
    step: options.Step,
    instance: options.Instance = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Record that a step has succeeded: its batches are processed."""
    from toolkit.rendering.run_metadata import step_document

    with calls(config_repo, env) as metadata:
        ended = metadata.halt_step(options.job_ref(process, cluster, instance), step)
        print_json({"step_run": step_document(ended)})


@app.command("term-step")
def term_step(
    process: options.Process,
    cluster: options.Cluster,
    step: options.Step,
    instance: options.Instance = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Record that a step has failed; it may begin again in the same job, or the job ends with term-job."""
    from toolkit.rendering.run_metadata import step_document

    with calls(config_repo, env) as metadata:
        ended = metadata.term_step(options.job_ref(process, cluster, instance), step)
        print_json({"step_run": step_document(ended)})


@app.command("get-files")
def get_files(
    min_batch: options.FirstBatch = None,
    max_batch: options.LastBatch = None,
    run: options.RunId = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Print the files of a job's batches (--run), or those of a range of batches, whosever they are."""
    from toolkit.rendering.run_metadata import files_documents

    with calls(config_repo, env, writing=False) as metadata:
        if run is not None:
            found = metadata.files_of_job(run)
        else:
            found = metadata.get_files(*options.batch_range(min_batch, max_batch, "run get-files"))
        print_json({"files": files_documents(found)})


@app.command("get-etl-driver")
def get_etl_driver(
    min_batch: options.FirstBatch = None,
    max_batch: options.LastBatch = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Print the files of a range of batches as one text: batch,server,path,size,hash,timestamp;..."""
    with calls(config_repo, env, writing=False) as metadata:
        print_json(
            {"etl_driver": metadata.get_etl_driver(*options.batch_range(min_batch, max_batch, "run get-etl-driver"))}
        )


@app.command("get-properties")
def get_properties(
    process: options.Process,
    cluster: options.Cluster,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="NAME", help="Only this config group: the keys' part up to the first dot."),
    ] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Print the registered properties of a process, of one config group or all."""
    from toolkit.ledger.registry.registration import Site

    with calls(config_repo, env, writing=False) as metadata:
        found = metadata.get_properties(Site(name=process, cluster=cluster), group)
        print_json(
            {
                "properties": {each.key: each.value for each in found},
                "groups": {each.key: each.config_group for each in found},
            }
        )


@app.command("register-file")
def register_file(
    server: options.Server,
    path: options.Path,
    size: options.Size,
    digest: options.Hash = None,
    modified_at: options.ModifiedAt = None,
    batch: options.Batch = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Register a file in a batch; the same file of the same batch again changes nothing."""
    from toolkit.rendering.run_metadata import file_document

    with calls(config_repo, env) as metadata:
        new = options.new_file(server, path, size, digest, modified_at)
        print_json({"file": file_document(metadata.register_file(new, batch_id=batch))})


@app.command("enqueue")
def enqueue(
    source: Annotated[
        str,
        typer.Option("--source", metavar="NAME", autocompletion=entity_names, help="The feed or process it is from."),
    ],
    cluster: options.Cluster,
    server: options.Server,
    path: options.Path,
    size: options.Size,
    digest: options.Hash = None,
    modified_at: options.ModifiedAt = None,
    batch: options.Batch = None,
    marking: options.Marking = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="FEED=INSTANT[=URI]", help="The feed instance that the batch stands for."),
    ] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Register a file and enqueue its batch for every step downstream of its source."""
    from toolkit.ledger.registry.registration import Site
    from toolkit.rendering.run_metadata import enqueued_document

    with calls(config_repo, env) as metadata:
        new = options.new_file(server, path, size, digest, modified_at)
        made = options.instances("--output", [] if output is None else [output], cluster)
        enqueued = metadata.enqueue(
            Site(name=source, cluster=cluster),
            new,
            batch_id=batch,
            marking=marking,
            instance=next(iter(made), None),
        )
        print_json(enqueued_document(enqueued))


@log_app.callback()
def log() -> None:
    """Write and read the log of a run: what a step counted, checked or found."""


@log_app.command("write")
def write(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What the run says.")],
    category: Annotated[str, typer.Option("--category", metavar="NAME", help="For example import or data-quality.")],
    process: options.LoggedProcess = None,
    cluster: options.LoggedCluster = None,
    instance: options.Instance = None,
    run: options.RunId = None,
    step: Annotated[str | None, typer.Option("--step", metavar="NAME", help="The step that it is about.")] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Write an entry into the log of a run (--run), or of the newest job of a process."""
    from toolkit.rendering.run_metadata import log_document

    with calls(config_repo, env) as metadata:
        run_id = _run_id(metadata, run, process, cluster, instance)
        print_json({"entry": log_document(metadata.write_log(run_id, category, message, step=step))})


@log_app.command("read")
def read(
    category: Annotated[str | None, typer.Option("--category", metavar="NAME", help="Only this category.")] = None,
    process: options.LoggedProcess = None,
    cluster: options.LoggedCluster = None,
    instance: options.Instance = None,
    run: options.RunId = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Print the log of a run (--run), or of the newest job of a process."""
    from toolkit.rendering.run_metadata import log_document

    with calls(config_repo, env, writing=False) as metadata:
        run_id = _run_id(metadata, run, process, cluster, instance)
        print_json({"run_id": run_id, "entries": [log_document(each) for each in metadata.read_log(run_id, category)]})


def _outputs(config_repo: str | None, env: str | None, ref: JobRef) -> tuple[FeedInstance, ...]:
    """A job on the queue makes no instance that the config repo knows."""
    if ref.instance_key is None:
        return ()
    return job_io(config_repo, env, ref, ref.instance_key).outputs()


def _run_id(
    metadata: RunMetadata, run: int | None, process: str | None, cluster: str | None, instance: str | None
) -> int:
    """The run that the options mean.

    Raises:
        MissingOption: they mean none.
    """
    from toolkit.cli.option_values import MissingOption

    if run is not None:
        return run
    if process is None:
        raise MissingOption(option="--run", command="run log")
    if cluster is None:
        raise MissingOption(option="--cluster", command="run log")
    return metadata.newest_job(options.job_ref(process, cluster, instance)).run_id
