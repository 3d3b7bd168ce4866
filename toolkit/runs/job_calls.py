"""Run metadata after BDRE: the calls of a workflow's own runner, and what they hand out (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from toolkit.el import format_instant, parse_instant
from toolkit.entities.repository import Repository
from toolkit.errors import InvalidInput
from toolkit.ledger.batches import files
from toolkit.ledger.batches.files import Enqueued
from toolkit.ledger.batches.rows import BatchFile, FeedInstance, NewFile
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.jobs import current, job_end, job_start, steps
from toolkit.ledger.jobs.rows import HaltedJob, JobRef, StartedJob, StepRun
from toolkit.ledger.jobs.steps import LogLine
from toolkit.ledger.registry import lookup
from toolkit.ledger.registry.lookup import ProcessProperty
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.runs.rows import Origin, Run
from toolkit.planning.instance_storage import FeedStorage, InstanceStorage
from toolkit.planning.process_io import ProcessSite, depends_on_availability

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedInputs:
    """The instances that a process instance reads, as far as the config repo alone can tell.

    Attributes:
        instances: oldest first, input by input.
        unresolved: the names of the inputs that count available instances (`latest`, `future`), and so are left out.
    """

    instances: tuple[FeedInstance, ...]
    unresolved: tuple[str, ...]


class OutputIsValidated(InvalidInput):
    """A workflow that keeps its run metadata itself cannot announce what has to be validated before.

    Args:
        process: name.
        output: the name of its output.
    """

    def __init__(self, *, process: str, output: str) -> None:
        self.process, self.output = process, output
        found = f"the output {output} of {process} is validated (quality, suites) before it is published"
        super().__init__(f"{found}, expected a run of `feedctl entrypoint process`, which validates it")


class ForeignOutput(InvalidInput):
    """A feed was to be announced by what does not make it.

    Args:
        source: name of the process, or of the feed from outside.
        feed: the feed.
        known: the feeds that the source makes.
    """

    code = "foreign_output"

    def __init__(self, *, source: str, feed: str, known: Sequence[str]) -> None:
        self.source, self.feed, self.known = source, feed, tuple(known)
        expected = f"one of {', '.join(known)}" if known else "no --output, since it has none"
        super().__init__(f"{feed} is no output of {source}; expected {expected}; nothing was announced")


def require_outputs(repository: Repository, source: Site, outputs: Sequence[FeedInstance]) -> None:
    """Check that a process, or a feed that comes from outside, may announce instances.

    Raises:
        UnknownName: no such process or feed, or it is not on the cluster.
        ForeignOutput: the process does not make the feed.
        NotAnInstance: the feed has no such instance there.
        OutputIsValidated: only the validation of the output announces it.
    """
    site, makes = None, {source.name: source.name}
    if source.name not in repository.feeds:
        process, cluster = repository.process(source.name), repository.cluster(source.cluster)
        site = ProcessSite(process=process, cluster=cluster, feeds=repository.feeds)
        makes = {name: each.feed for name, each in process.outputs.items()}
    for each in outputs:
        names = [name for name, feed in makes.items() if feed == each.feed]
        if not names:
            raise ForeignOutput(source=source.name, feed=each.feed, known=sorted(set(makes.values())))
        repository.feed(each.feed).instances_on(each.cluster).index(parse_instant(each.instance_key))
        if site is not None:
            _refuse_validated(site, names)


def _refuse_validated(site: ProcessSite, outputs: Iterable[str]) -> None:
    for name in outputs:
        if site.quality_of(name) is not None:
            raise OutputIsValidated(process=site.process.name, output=name)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobIo:
    """The inputs and outputs of one instance of a process on a cluster.

    Attributes:
        site: the process there.
        instance_key: its nominal time.
    """

    site: ProcessSite
    instance_key: str

    @classmethod
    def of(cls, repository: Repository, process: str, cluster: str, instance_key: str) -> JobIo:
        """The inputs and outputs of an instance.

        Raises:
            UnknownName: no such process or cluster, or the process is not there.
            ElError: the process has no such instance there.
        """
        found = repository.process(process)
        found.instances_on(cluster).index(parse_instant(instance_key))
        site = ProcessSite(process=found, cluster=repository.cluster(cluster), feeds=repository.feeds)
        return cls(site=site, instance_key=instance_key)

    def inputs(self) -> ResolvedInputs:
        """Return the inputs of the instance; optional ones are taken as available.

        Raises:
            ElError: an expression that cannot be resolved.
        """
        names = self.site.process.inputs
        unresolved = tuple(name for name, each in names.items() if depends_on_availability(each))
        read = [instance for name in names if name not in unresolved for instance in self._read(name)]
        return ResolvedInputs(instances=tuple(dict.fromkeys(read)), unresolved=unresolved)

    def outputs(self) -> tuple[FeedInstance, ...]:
        """Return the outputs of the instance with their places.

        Raises:
            ElError: an expression that cannot be resolved.
            NoOutputInstance: an expression means a time before the feed's first instance, or after its last.
            OutputIsValidated: only the validation of the output announces it.
        """
        made = self.site.outputs(parse_instant(self.instance_key))
        _refuse_validated(self.site, (each.name for each in made))
        return tuple(self._instance(each.storage, each.instance) for each in made)

    def _read(self, name: str) -> Iterator[FeedInstance]:
        planned = self.site.input(name, parse_instant(self.instance_key))
        return (self._instance(planned.storage, each) for each in planned.instances)

    def _instance(self, storage: FeedStorage, instance: InstanceStorage) -> FeedInstance:
        return FeedInstance(
            feed=storage.feed,
            cluster=storage.cluster,
            instance_key=format_instant(instance.instant),
            uri=self.site.uri(storage, instance),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RunMetadata:
    """The calls of a workflow, each in one transaction: it has happened as a whole, or nothing was changed.

    A job that is begun here has no lease and no heartbeat: its owner is the workflow, which ends it with `halt_job` or
    `term_job`. What begins and ends steps, and the log, may be lost when the database's machine loses power before the
    next other call; then a rerun repeats the step.

    What each call refuses is described at the function of the same name in `toolkit.ledger.jobs`,
    `toolkit.ledger.batches` and `toolkit.ledger.registry`; besides, each raises LedgerUnavailable and LedgerConflict.

    Attributes:
        ledger: open for writing.
        origin: who begins jobs (`toolkit.runs.spark_submit.origin_here`).
    """

    ledger: Ledger
    origin: Origin
    _together: Transaction | None = None

    @contextmanager
    def transaction(self, *, is_lasting: bool = True) -> Iterator[RunMetadata]:
        """Calls that happen together or not at all, as the end of a step and the begin of the next.

        Args:
            is_lasting: they are on the disk when the body has ended; False: they may be lost as steps may, which is
                for steps alone.

        Yields:
            The same calls, in one transaction that ends with the body. An error undoes all of them; nothing is tried
            again when another transaction is in the way.

        Raises:
            LedgerUnavailable: the database cannot be used now.
            LedgerConflict: another transaction was in the way.
        """
        with self.ledger.transaction(is_lasting=is_lasting) as tx:
            yield replace(self, _together=tx)

    def _write(self, work: Callable[[Transaction], T], *, is_lasting: bool = True) -> T:
        return self.ledger.write(work, is_lasting=is_lasting) if self._together is None else work(self._together)

    def _read(self, work: Callable[[Transaction], T]) -> T:
        return self.ledger.read(work) if self._together is None else work(self._together)

    def init_job(
        self, ref: JobRef, *, max_batches: int | None = None, inputs: Sequence[FeedInstance] = ()
    ) -> StartedJob:
        """Mark the start of a job; says what each step reads, and where a rerun goes on."""
        return self._write(lambda tx: job_start.init_job(tx, ref, self.origin, max_batches=max_batches, inputs=inputs))

    def halt_job(self, ref: JobRef, *, marking: str | None = None, outputs: Sequence[FeedInstance] = ()) -> HaltedJob:
        """Mark the completion of a job: its batch is published and enqueued downstream."""
        return self._write(lambda tx: job_end.halt_job(tx, ref, marking=marking, outputs=outputs))

    def term_job(self, ref: JobRef, *, reason: str | None = None) -> Run:
        """Record the failure of a job; the next one takes its batches again."""
        return self._write(lambda tx: job_end.term_job(tx, ref, reason=reason))

    def abort_job(self, ref: JobRef, *, reason: str) -> Run:
        """End a job whose workflow is dead, whatever its steps do; they end with it."""
        return self._write(lambda tx: job_end.abort_running(tx, ref, reason=reason))

    def init_step(
        self, ref: JobRef, step: str, *, application_id: str | None = None, log_location: str | None = None
    ) -> StepRun:
        """Mark the start of a step."""
        return self._write(
            lambda tx: steps.init_step(tx, ref, step, application_id=application_id, log_location=log_location),
            is_lasting=False,
        )

    def halt_step(self, ref: JobRef, step: str) -> StepRun:
        """Mark the completion of a step: its batches are processed."""
        return self._write(lambda tx: steps.halt_step(tx, ref, step), is_lasting=False)

    def term_step(self, ref: JobRef, step: str) -> StepRun:
        """Record the failure of a step."""
        return self._write(lambda tx: steps.term_step(tx, ref, step), is_lasting=False)

    def get_files(self, first: int, last: int) -> tuple[BatchFile, ...]:
        """The files of the batches from the first to the last number, whosever they are."""
        return self._read(lambda tx: files.get_files(tx, first, last))

    def files_of_job(self, run_id: int) -> tuple[BatchFile, ...]:
        """The files of exactly the batches that a job reads, or has read."""
        return self._read(lambda tx: files.files_of_job(tx, run_id))

    def get_etl_driver(self, first: int, last: int) -> str:
        """The files of a range of batches as one text."""
        return self._read(lambda tx: files.get_etl_driver(tx, first, last))

    def get_properties(self, site: Site, group: str | None = None) -> tuple[ProcessProperty, ...]:
        """The properties of a process, of one config group or all."""
        return self._read(lambda tx: lookup.get_properties(tx, site, group))

    def register_file(self, new: NewFile, *, batch_id: int | None = None) -> BatchFile:
        """Register a file, in a new batch or in one that is there; nothing is enqueued."""
        return self._write(lambda tx: files.register_file(tx, new, batch_id=batch_id))

    def enqueue(
        self,
        source: Site,
        new: NewFile,
        *,
        batch_id: int | None = None,
        marking: str | None = None,
        instance: FeedInstance | None = None,
    ) -> Enqueued:
        """Register a file and put its batch into the queue of every step downstream of its source."""
        return self._write(
            lambda tx: files.enqueue(tx, source, new, batch_id=batch_id, marking=marking, instance=instance)
        )

    def write_log(self, run_id: int, category: str, message: str, *, step: str | None = None) -> LogLine:
        """Write an entry into the log of a run (BDRE, PROCESS_LOG)."""
        return self._write(lambda tx: steps.write_log(tx, run_id, category, message, step_name=step), is_lasting=False)

    def read_log(self, run_id: int, category: str | None = None) -> tuple[LogLine, ...]:
        """The entries of a run, of one category or all."""
        return self._read(lambda tx: steps.read_log(tx, run_id, category))

    def newest_job(self, ref: JobRef) -> Run:
        """The newest attempt of a job, whatever became of it.

        Raises:
            UnknownProcess: the process was never registered.
            JobNotRunning: there is none.
        """
        return self._read(lambda tx: current.newest_job(tx, ref))
