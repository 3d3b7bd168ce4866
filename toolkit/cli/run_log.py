"""`feedctl run log`: what runs write down about themselves (BDRE, PROCESS_LOG)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli import run_options as given
from toolkit.cli.completion import entity_names
from toolkit.cli.options import ConfigRepo, Env, print_json
from toolkit.cli.run_calls import calls

if TYPE_CHECKING:
    from toolkit.runs.metadata import RunMetadata

app = typer.Typer(no_args_is_help=True)

_Process = Annotated[
    str | None,
    typer.Option("--process", metavar="NAME", autocompletion=entity_names, help="The newest job of this process."),
]
_Cluster = Annotated[str | None, typer.Option("--cluster", metavar="NAME", help="The cluster that it runs on.")]


@app.callback()
def log() -> None:
    """Write and read the log of a run: what a step counted, checked or found."""


@app.command("write")
def write(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What the run says.")],
    category: Annotated[str, typer.Option("--category", metavar="NAME", help="For example import or data-quality.")],
    process: _Process = None,
    cluster: _Cluster = None,
    instance: given.Instance = None,
    run: given.RunId = None,
    step: Annotated[str | None, typer.Option("--step", metavar="NAME", help="The step that it is about.")] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Write an entry into the log of a run (--run), or of the newest job of a process."""
    from toolkit.rendering.run_metadata import log_document

    with calls(config_repo, env) as metadata:
        run_id = _run_id(metadata, run, process, cluster, instance)
        print_json({"entry": log_document(metadata.write_log(run_id, category, message, step=step))})


@app.command("read")
def read(
    category: Annotated[str | None, typer.Option("--category", metavar="NAME", help="Only this category.")] = None,
    process: _Process = None,
    cluster: _Cluster = None,
    instance: given.Instance = None,
    run: given.RunId = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
) -> None:
    """Print the log of a run (--run), or of the newest job of a process."""
    from toolkit.rendering.run_metadata import log_document

    with calls(config_repo, env, writing=False) as metadata:
        run_id = _run_id(metadata, run, process, cluster, instance)
        print_json({"run_id": run_id, "entries": [log_document(each) for each in metadata.read_log(run_id, category)]})


def _run_id(
    metadata: RunMetadata, run: int | None, process: str | None, cluster: str | None, instance: str | None
) -> int:
    """The run that the options mean.

    Raises:
        MissingOption: they mean none.
    """
    from toolkit.cli.filters import MissingOption

    if run is not None:
        return run
    if process is None:
        raise MissingOption(option="--run", command="run log")
    if cluster is None:
        raise MissingOption(option="--cluster", command="run log")
    return metadata.newest_job(given.job_ref(process, cluster, instance)).run_id
