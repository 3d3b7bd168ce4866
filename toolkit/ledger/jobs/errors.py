"""Errors of a job's calls; each changes nothing and has its own code (BDRE, Metadata DB APIs)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from toolkit.entities.nearest import suggestion
from toolkit.errors import Failed, InvalidInput, NotYet, Skipped
from toolkit.ledger.errors import moment
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.runs.rows import Run


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """A step has nothing to read from an upstream."""

    step: str
    upstream: str

    def __str__(self) -> str:
        return f"{self.step} from {self.upstream}"


class JobIsRunning(Skipped):
    """The process has a job on the queue already, or the instance has one.

    Args:
        run: the job that runs.
    """

    code = "job_is_running"

    def __init__(self, *, run: Run) -> None:
        self.run = run
        since = f"is {run.status}, started at {moment(run.started_at)} by {run.who}"
        todo = "end it with halt-job or term-job; `feedctl run term-job --abort` ends one whose workflow is dead"
        super().__init__(f"{run} {since}; {todo}")


class JobNotRunning(Failed):
    """A call for a job that was not begun, or is over.

    Args:
        ref: which job.
        last: its newest attempt; None: there is none.
    """

    code = "job_not_running"

    def __init__(self, *, ref: JobRef, last: Run | None) -> None:
        self.ref, self.last = ref, last
        ended = f"; its last one, {last}, is {last.status}" if last else ""
        super().__init__(f"no job of {ref} runs{ended}; init-job starts one")


class JobIsSuspended(Skipped):
    """The job was suspended: what runs may end, nothing else may begin or end it.

    Args:
        run: the job.
    """

    code = "job_is_suspended"

    def __init__(self, *, run: Run) -> None:
        self.run = run
        why = f": {run.reason}" if run.reason else ""
        super().__init__(
            f"{run} is suspended{why}; `feedctl instance resume` lets it go on, `feedctl run term-job --abort` ends it"
        )


class NothingEnqueued(NotYet):
    """An upstream of a step has no unread batch (BDRE, InitJob).

    Args:
        site: the process.
        missing: all of them.
    """

    code = "nothing_enqueued"

    def __init__(self, *, site: Site, missing: Sequence[Missing]) -> None:
        self.process, self.cluster, self.missing = site.name, site.cluster, tuple(missing)
        named = ", ".join(map(str, self.missing))
        super().__init__(f"{site} has no unread batch for {named}; try again when the upstream has enqueued one")


class StepIsRunning(Failed):
    """A step runs already, or still.

    Args:
        run: the job.
        steps: those that run.
    """

    code = "step_is_running"

    def __init__(self, *, run: Run, steps: Collection[str]) -> None:
        self.run, self.steps = run, tuple(steps)
        what = f"step {', '.join(self.steps)} of {run} is running"
        super().__init__(f"{what}; end it with halt-step, or with term-step when it failed")


class StepNotRunning(Failed):
    """A step cannot be ended that was not begun, or is over.

    Args:
        run: the job.
        step: the step.
    """

    code = "step_not_running"

    def __init__(self, *, run: Run, step: str) -> None:
        self.run, self.step = run, step
        super().__init__(f"step {step} of {run} is not running; init-step begins it")


class StepsNotDone(Failed):
    """A job cannot be halted before all its steps have succeeded.

    Args:
        run: the job.
        steps: those that have not.
    """

    code = "steps_not_done"

    def __init__(self, *, run: Run, steps: Collection[str]) -> None:
        self.run, self.steps = run, tuple(steps)
        todo = "run them (init-step, halt-step), or end the job with term-job"
        super().__init__(f"{run} has steps that have not succeeded: {', '.join(self.steps)}; {todo}")


class BadMaxBatches(InvalidInput):
    """A largest number of batches that lets nothing be read.

    Args:
        found: as given.
    """

    code = "bad_max_batches"

    def __init__(self, *, found: int) -> None:
        self.found = found
        super().__init__(f"found max_batches {found}, expected 1 or more; leave it out to take all")


class WrongMode(InvalidInput):
    """An argument that goes with the other way to find batches.

    Args:
        argument: that was given.
        ref: the job.
    """

    code = "wrong_mode"

    def __init__(self, *, argument: str, ref: JobRef) -> None:
        self.argument, self.ref = argument, ref
        found = "without an instance, which reads the queue" if ref.instance_key is None else "for an instance"
        super().__init__(f"{argument} is for a job of the other mode; this one of {ref} is {found}")


class UnreadFeed(InvalidInput):
    """An input of a feed that no step of the process reads.

    Args:
        site: the process.
        feeds: those without readers.
        known: the feeds that its steps read.
    """

    code = "unread_feed"

    def __init__(self, *, site: Site, feeds: Sequence[str], known: Collection[str]) -> None:
        self.process, self.cluster = site.name, site.cluster
        self.feeds, self.known = tuple(feeds), tuple(sorted(known))
        hint = suggestion(self.feeds[0], self.known)
        todo = "`feedctl ledger sync` registers what is in the config repo"
        super().__init__(f"no step of {site} reads {', '.join(self.feeds)}; {hint + '; ' if hint else ''}{todo}")
