"""The options of `feedctl run`, their values, and what every call does around itself."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import cluster_names, entity_names
from toolkit.cli.flags import Fields, RepoFlags
from toolkit.cli.options import print_json
from toolkit.errors import FeedctlError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from toolkit.ledger.batches.rows import FeedInstance, NewFile
    from toolkit.ledger.jobs.rows import JobRef
    from toolkit.ledger.registry.registration import Site
    from toolkit.runs.job_calls import JobIo, RunMetadata


Cluster = Annotated[
    str, typer.Option("--cluster", metavar="NAME", autocompletion=cluster_names, help="The cluster that it runs on.")
]
Instance = Annotated[
    str | None,
    typer.Option("--time", metavar="INSTANT", help="The instance that runs. Default: the job on the queue."),
]
NoResolve = Annotated[
    bool, typer.Option("--no-resolve", help="Take inputs and outputs from the options alone, not from the config repo.")
]
Marking = Annotated[str | None, typer.Option("--marking", metavar="DATES", help="Batch dates, separated by commas.")]
Batch = Annotated[int | None, typer.Option("--batch", metavar="ID", help="The batch. Default: a new one.")]
_Step = Annotated[str, typer.Option("--step", metavar="NAME", help="The step; `main` when the process has no steps.")]
RunId = Annotated[int | None, typer.Option("--run", metavar="ID", help="The run, by its number.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class _JobFlags:
    """A job, and perhaps a step of it."""

    process: Annotated[
        str, typer.Option("--process", metavar="NAME", autocompletion=entity_names, help="The process that runs.")
    ]
    cluster: Cluster
    step: _Step = ""
    instance: Instance = None

    def ref(self) -> JobRef:
        """Return the job; raises as `job_ref`."""
        return job_ref(self.process, self.cluster, self.instance)


JobFlags = Annotated[_JobFlags, Fields(but=("step",))]


@dataclass(frozen=True, kw_only=True, slots=True)
class StepFlags(_JobFlags):
    """A step of a job."""

    step: _Step


@dataclass(frozen=True, kw_only=True, slots=True)
class FileFlags:
    """A file that a job reads."""

    server: Annotated[
        str, typer.Option("--server", metavar="NAME", help="The cluster or datasource that the file is on.")
    ]
    path: Annotated[str, typer.Option("--path", metavar="PATH", help="The file's path on the server.")]
    size: Annotated[int, typer.Option("--size", metavar="BYTES", help="The file's size.")]
    digest: Annotated[str | None, typer.Option("--hash", metavar="TEXT", help="A hash of its content.")] = None
    modified_at: Annotated[
        str | None, typer.Option("--modified-at", metavar="TIME", help="When the file was changed. Default: now.")
    ] = None

    def new_file(self) -> NewFile:
        """Return the file.

        Raises:
            InvalidInput: facts that no file has.
        """
        from toolkit.ledger.batches.rows import NewFile

        at = None if self.modified_at is None else _moment("--modified-at", self.modified_at)
        return NewFile(server=self.server, path=self.path, size=self.size, hash=self.digest, modified_at=at)


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchFlags:
    """A range of batches."""

    min_batch: Annotated[int | None, typer.Option("--min-batch", metavar="ID", help="The first batch.")] = None
    max_batch: Annotated[int | None, typer.Option("--max-batch", metavar="ID", help="The last batch.")] = None

    def range(self, command: str) -> tuple[int, int]:
        """Return both ends of the range.

        Raises:
            MissingOption: one of them was not given.
        """
        from toolkit.cli.option_values import MissingOption

        if self.min_batch is None:
            raise MissingOption(option="--min-batch", command=command)
        if self.max_batch is None:
            raise MissingOption(option="--max-batch", command=command)
        return self.min_batch, self.max_batch


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedFlags:
    """A run with a log: by its number, or the newest job of a process."""

    process: Annotated[
        str | None,
        typer.Option("--process", metavar="NAME", autocompletion=entity_names, help="The newest job of this process."),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="NAME", autocompletion=cluster_names, help="The cluster that it runs on."),
    ] = None
    instance: Instance = None
    run: RunId = None

    def run_id(self, metadata: RunMetadata) -> int:
        """Return the number of the run.

        Raises:
            MissingOption: the options mean none.
        """
        from toolkit.cli.option_values import MissingOption

        if self.run is not None:
            return self.run
        if self.process is None:
            raise MissingOption(option="--run", command="run log")
        if self.cluster is None:
            raise MissingOption(option="--cluster", command="run log")
        return metadata.newest_job(job_ref(self.process, self.cluster, self.instance)).run_id


def job_ref(process: str, cluster: str, instance: str | None) -> JobRef:
    """Return the job that the options mean.

    Raises:
        BadOption: the instance is no instant.
    """
    from toolkit.ledger.jobs.rows import JobRef

    key = None if instance is None else instance_key("--time", instance)
    return JobRef(process=process, cluster=cluster, instance_key=key)


def instances(option: str, texts: Iterable[str], cluster: str) -> tuple[FeedInstance, ...]:
    """Return feed instances from their ``FEED=INSTANT`` or ``FEED=INSTANT=URI`` texts.

    Raises:
        BadOption: a text of another form.
    """
    return tuple(_instance(option, text, cluster) for text in texts)


def checked_outputs(repo: RepoFlags, source: Site, outputs: tuple[FeedInstance, ...]) -> tuple[FeedInstance, ...]:
    """Return instances that the config repo lets a process, or a feed from outside, announce.

    Raises:
        InvalidInput: no usable config repo, or one of them is no instance that the source makes.
    """
    from toolkit.runs.job_calls import require_outputs

    require_outputs(repo.entities(), source, outputs)
    return outputs


def instance_key(option: str, text: str) -> str:
    """An instance key in its canonical form.

    Raises:
        BadOption: the text is no instant.
    """
    from toolkit.cli.option_values import instant_of
    from toolkit.el import format_instant

    return format_instant(instant_of(option, text))


def _instance(option: str, text: str, cluster: str) -> FeedInstance:
    from toolkit.cli.option_values import BadOption
    from toolkit.ledger.batches.rows import FeedInstance

    feed, *rest = text.split("=", 2)
    if not feed or not rest:
        raise BadOption(option=option, found=text, expected="FEED=INSTANT, for example clicks=2026-03-01T06:40Z")
    uri = rest[1] if len(rest) > 1 else None
    return FeedInstance(feed=feed, cluster=cluster, instance_key=instance_key(option, rest[0]), uri=uri)


def _moment(option: str, text: str) -> datetime:
    from datetime import datetime

    from toolkit.cli.option_values import BadOption

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise BadOption(option=option, found=text, expected="a time with its zone, such as 2026-03-01T06:40:05Z")
    return found


@contextmanager
def answering() -> Iterator[None]:
    """Print an error of the body as JSON, and let it go on to its message and exit code."""
    try:
        yield
    except FeedctlError as error:
        from toolkit.rendering.run_metadata import error_document

        print_json({"error": error_document(error)})
        raise


@contextmanager
def calls(repo: RepoFlags, *, writing: bool = True) -> Iterator[RunMetadata]:
    """The calls on the ledger that the options mean; errors are answered with JSON.

    Args:
        repo: the config repo; not looked at when FEEDCTL_LEDGER says it all.
        writing: otherwise the database itself refuses every change.
    """
    with answering():
        from dataclasses import replace

        from toolkit.bootstrap.ledgers import open_ledger_for
        from toolkit.runs.job_calls import RunMetadata
        from toolkit.runs.recorder import origin_here

        request = repo.request()
        ledger = open_ledger_for(request, read_only=not writing)
        try:
            # The process that calls ends at once; the owner of the job is the workflow around it.
            yield RunMetadata(ledger=ledger, origin=replace(origin_here(request.variables), pid=None))
        finally:
            ledger.close()


def job_io(repo: RepoFlags, ref: JobRef, instance_key: str) -> JobIo:
    """Return the inputs and outputs of an instance, as the config repo says.

    Raises:
        InvalidInput: no usable config repo, or the process has no such instance there.
    """
    from toolkit.runs.job_calls import JobIo

    return JobIo.of(repo.entities(), ref.process, ref.cluster, instance_key)
