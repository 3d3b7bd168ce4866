"""The specification of jobs, steps, queue and archive in memory: lists and loops, no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.contract.ledger_jobs.model_rows import ACTIVE, OUT, Batch, Row, Run, Started, StepRun, refuse
from toolkit.ledger.batches.rows import joined
from toolkit.ledger.registry.registration import ProcessEntry, StepEntry
from toolkit.ledger.vocabulary import BatchState, EventKind, JobMode, QueueState, RunStatus


@dataclass
class Model:
    """A ledger in memory; each call returns what it should answer, or raises `Refused` and changes nothing."""

    processes: dict[str, ProcessEntry]
    batches: list[Batch] = field(default_factory=lambda: [Batch(BatchState.PUBLISHED, None, None)])
    queue: list[Row] = field(default_factory=list)
    archive: list[Row] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    step_runs: list[StepRun] = field(default_factory=list)
    events: list[tuple[EventKind, str, str]] = field(default_factory=list)

    def enqueue(self, feed: str, marking: str | None, key: str | None) -> int:
        """A new batch from outside."""
        batch = Batch(BatchState.PUBLISHED, feed, joined([key if key and not marking else marking]))
        self.batches.append(batch)
        self._enqueue_downstream(len(self.batches) - 1)
        if key:
            self._announce(batch, feed, key)
        return len(self.batches) - 1

    def enqueue_again(self, number: int) -> None:
        """The same batch once more: only steps that never had it get it."""
        self._enqueue_downstream(number)

    def init(self, process: str, key: str | None, most: int | None, inputs: Sequence[tuple[str, str]]) -> Started:
        return self._init_queue(process, most) if key is None else self._init_instance(process, key, inputs)

    def _init_queue(self, process: str, most: int | None) -> Started:
        mine = [each for each in self.runs if each.process == process and each.mode is JobMode.QUEUE]
        if any(each.status in ACTIVE and each.has_begun for each in mine):
            refuse("job_is_running")
        for batch in self.batches:
            if (
                batch.state is BatchState.ALLOCATED
                and batch.producer == process
                and self._last(batch).mode is JobMode.QUEUE
            ):
                return self._again(self._last(batch).key, process, self.batches.index(batch), JobMode.QUEUE)
        for run in mine:
            if run.status is RunStatus.READY:
                return self._make_again(run)
        return self._fresh(process, most)

    def _fresh(self, process: str, most: int | None) -> Started:
        edges = [(each, up, optional) for each in self.steps(process) for up, optional in each.upstreams.items()]
        unread = {(each.name, up): self._unread(process, each.name, up) for each, up, _ in edges}
        lacking = [optional for each, up, optional in edges if not unread[each.name, up]]
        if not all(lacking) or (edges and len(lacking) == len(edges)):
            refuse("nothing_enqueued")
        target = self._allocate(process)
        started = self._begin(process, f"batch-{target}", JobMode.QUEUE, target)
        for rows in unread.values():
            for row in rows[:most]:
                row.target, row.state = target, QueueState.ACCESSED
        if not edges:
            for each in self.steps(process):
                self.queue.append(Row(process, each.name, 0, None, None, target, QueueState.ACCESSED))
        return self._reported(started, [each.name for each in self.steps(process)], is_rerun=False)

    def _make_again(self, ordered: Run) -> Started:
        made = [each.target for each in self._attempts(ordered.process, ordered.key) if each.target is not None][-1]
        target = self._allocate(ordered.process)
        started = self._begin(ordered.process, ordered.key, JobMode.QUEUE, target)
        names = [each.name for each in self.steps(ordered.process)]
        for row in list(self.archive):
            if row.target == made and row.step in names:
                self.queue.append(
                    Row(row.process, row.step, row.source, row.enqueuer, row.marking, target, QueueState.ACCESSED)
                )
        return self._reported(started, names, is_rerun=False)

    def _init_instance(self, process: str, key: str, inputs: Sequence[tuple[str, str]]) -> Started:
        attempts = self._attempts(process, key)
        if attempts and attempts[-1].status in ACTIVE and attempts[-1].has_begun:
            refuse("job_is_running")
        if {feed for feed, _ in inputs} - {feed for each in self.steps(process) for feed in each.feeds}:
            refuse("unread_feed")
        targets = [each.target for each in attempts if each.target is not None]
        if targets and self.batches[targets[-1]].state is BatchState.ALLOCATED:
            started = self._again(key, process, targets[-1], JobMode.INSTANCE)
        else:
            names = [each.name for each in self.steps(process)]
            self._refuse_ahead(process, key)
            begun = self._begin(process, key, JobMode.INSTANCE, self._allocate(process))
            started = self._reported(begun, names, is_rerun=False)
        self._read_instances(process, started, inputs)
        return self._reported(
            len(self.runs) - 1 if attempts == [] else self._number(process, key), started.due, is_rerun=started.is_rerun
        )

    def _read_instances(self, process: str, started: Started, inputs: Sequence[tuple[str, str]]) -> None:
        for each in self.steps(process):
            for number, batch in enumerate(self.batches):
                read = {wanted for wanted in inputs if wanted[0] in each.feeds}
                if each.name in started.due and batch.state is BatchState.PUBLISHED and batch.instances & read:
                    self._read(process, each.name, number, started.target)

    def _read(self, process: str, step: str, number: int, target: int) -> None:
        rows = [row for row in self.queue if (row.process, row.step, row.source) == (process, step, number)]
        if any(row.target == target for row in rows):
            return
        for row in rows:
            if row.target is None:
                row.target, row.state = target, QueueState.ACCESSED
                return
        batch = self.batches[number]
        self.queue.append(Row(process, step, number, batch.producer, batch.marking, target, QueueState.ACCESSED))

    def _again(self, key: str, process: str, target: int, mode: JobMode) -> Started:
        number = self._begin(process, key, mode, target)
        due = self.due(number)
        for row in self.queue:
            if row.target == target and row.step in due:
                row.state = QueueState.ACCESSED
        return self._reported(number, due, is_rerun=True)

    def init_step(self, process: str, step: str, key: str | None) -> None:
        self._known_step(process, step)
        number = self._running(process, key)
        mine = [each for each in self.step_runs if (each.run, each.step) == (number, step)]
        if mine and mine[-1].status is RunStatus.RUNNING:
            refuse("step_is_running")
        self.step_runs.append(StepRun(number, step, len(mine) + 1, RunStatus.RUNNING))
        self._mark(number, step, QueueState.ACCESSED)

    def end_step(self, process: str, step: str, key: str | None, *, is_good: bool) -> None:
        number = self._begun(process, key)
        running = [
            each for each in self.step_runs if (each.run, each.step, each.status) == (number, step, RunStatus.RUNNING)
        ]
        if not running:
            refuse("step_not_running")
        running[0].status = RunStatus.SUCCEEDED if is_good else RunStatus.FAILED
        self._mark(number, step, QueueState.PROCESSED if is_good else QueueState.FAILED)

    def halt(self, process: str, key: str | None) -> tuple[str | None, int]:
        number = self._running(process, key)
        self._no_step_runs(number)
        own = {each.step: each.status for each in self.step_runs if each.run == number}
        due = self.due(number)
        for each in self.steps(process):
            if (
                own.get(each.name, RunStatus.FAILED if each.name in due else RunStatus.SUCCEEDED)
                is not RunStatus.SUCCEEDED
            ):
                refuse("steps_not_done")
        run = self.runs[number]
        run.status = RunStatus.SUCCEEDED
        batch = self.batches[self.target(run)]
        batch.state = BatchState.PUBLISHED
        batch.marking = joined([run.marking if key is None else key])
        self._enqueue_downstream(self.target(run))
        moved = [row for row in self.queue if row.target == run.target]
        self.queue = [row for row in self.queue if row.target != run.target]
        self.archive += moved
        if key is not None:
            self._announce(batch, process + OUT, key)
        return batch.marking, len(moved)

    def term(self, process: str, key: str | None) -> None:
        number = self._running(process, key)
        self._no_step_runs(number)
        self._end(number, RunStatus.FAILED)

    def abort(self, number: int) -> None:
        if self.runs[number].status in {RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.KILLED}:
            refuse("illegal_transition")
        self._end(number, RunStatus.KILLED)

    def suspend(self, number: int) -> None:
        if self.runs[number].status not in {RunStatus.RUNNING, RunStatus.READY}:
            refuse("illegal_transition")
        self.runs[number].status = RunStatus.SUSPENDED

    def resume(self, number: int) -> None:
        if self.runs[number].status is not RunStatus.SUSPENDED:
            refuse("illegal_transition")
        self.runs[number].status = RunStatus.RUNNING if self.runs[number].has_begun else RunStatus.READY

    def order_again(self, number: int, *, is_forced: bool) -> None:
        run = self.runs[number]
        last = self._attempts(run.process, run.key)[-1]
        if last.status in ACTIVE | {RunStatus.READY}:
            refuse("not_terminal")
        target = None if last.status is RunStatus.SUCCEEDED else last.target
        ready = Run(
            run.process, run.key, last.attempt + 1, run.mode, RunStatus.READY, target, is_forced, has_begun=False
        )
        self.runs.append(ready)

    def steps(self, process: str) -> tuple[StepEntry, ...]:
        """The live steps, in their order."""
        return self.processes[process].steps

    def active(self) -> list[Run]:
        """The jobs that run, or are suspended in the middle."""
        return [each for each in self.runs if each.status in ACTIVE and each.has_begun]

    def due(self, number: int) -> tuple[str, ...]:
        """The steps that a job has to run: from the first on whose success, in earlier attempts, does not count."""
        run = self.runs[number]
        names = [each.name for each in self.steps(run.process)]
        if run.is_forced:
            return tuple(names)
        earlier = [each for each in self.step_runs if each.run != number and self.runs[each.run].target == run.target]
        for position, each in enumerate(self.steps(run.process)):
            mine = [attempt for attempt in earlier if attempt.step == each.name]
            counts = mine and mine[-1].status is RunStatus.SUCCEEDED and each.is_recoverable
            before = [attempt.run for attempt in earlier if attempt.step in names[:position]]
            if not counts or any(self._is_later(at, mine[-1].run) for at in before):
                return tuple(names[position:])
        return ()

    def target(self, run: Run) -> int:
        """The batch that a job which has begun makes."""
        if run.target is None:
            raise AssertionError
        return run.target

    def _is_later(self, one: int, other: int) -> bool:
        return self.runs[one].attempt > self.runs[other].attempt

    def _end(self, number: int, status: RunStatus) -> None:
        run = self.runs[number]
        run.status = status
        for each in self.step_runs:
            if each.run == number and each.status is RunStatus.RUNNING:
                each.status = RunStatus.KILLED
        for row in self.queue:
            if run.has_begun and row.target == run.target and row.state is QueueState.ACCESSED:
                row.state = QueueState.FAILED

    def _begin(self, process: str, key: str, mode: JobMode, target: int) -> int:
        self._refuse_ahead(process, key)
        attempts = self._attempts(process, key)
        if attempts and attempts[-1].status is RunStatus.READY:
            run = attempts[-1]
            run.status, run.target, run.has_begun = RunStatus.RUNNING, target, True
        else:
            run = Run(process, key, len(attempts) + 1, mode, RunStatus.RUNNING, target)
            self.runs.append(run)
        number = self.runs.index(run)
        self.batches[target].run = number
        return number

    def _refuse_ahead(self, process: str, key: str) -> None:
        attempts = self._attempts(process, key)
        if attempts and attempts[-1].status is RunStatus.SUSPENDED:
            refuse("instance_suspended")
        if attempts and attempts[-1].status is RunStatus.KILLED and not attempts[-1].has_begun:
            refuse("instance_killed")

    def _reported(self, number: int, due: Sequence[str], *, is_rerun: bool) -> Started:
        run = self.runs[number]
        names = [each.name for each in self.steps(run.process)]
        rows = [row for row in self.queue if row.target == run.target]
        run.marking = joined(row.marking for row in rows)
        sources = {name: sorted(row.source for row in rows if row.step == name) for name in names}
        return Started(run.attempt, is_rerun, self.target(run), run.marking, tuple(due), sources)

    def _enqueue_downstream(self, number: int) -> None:
        batch = self.batches[number]
        for name, entry in self.processes.items():
            for each in entry.steps:
                known = [
                    row
                    for row in (*self.queue, *self.archive)
                    if (row.process, row.step, row.source) == (name, each.name, number)
                ]
                if batch.producer in each.upstreams and not known:
                    self.queue.append(Row(name, each.name, number, batch.producer, batch.marking))

    def _announce(self, batch: Batch, feed: str, key: str) -> None:
        batch.instances.add((feed, key))
        is_there = any(each[1:] == (feed, key) for each in self.events)
        self.events.append((EventKind.UPDATED if is_there else EventKind.AVAILABLE, feed, key))

    def _allocate(self, process: str) -> int:
        self.batches.append(Batch(BatchState.ALLOCATED, process, None))
        return len(self.batches) - 1

    def _unread(self, process: str, step: str, upstream: str) -> list[Row]:
        rows = [
            row
            for row in self.queue
            if (row.process, row.step, row.enqueuer, row.target) == (process, step, upstream, None)
        ]
        return sorted(rows, key=lambda row: row.source)

    def _mark(self, number: int, step: str, state: QueueState) -> None:
        for row in self.queue:
            if row.target == self.runs[number].target and row.step == step:
                row.state = state

    def _known_step(self, process: str, step: str) -> None:
        if step not in [each.name for each in self.steps(process)]:
            refuse("unknown_step")

    def _no_step_runs(self, number: int) -> None:
        if any(each.run == number and each.status is RunStatus.RUNNING for each in self.step_runs):
            refuse("step_is_running")

    def _running(self, process: str, key: str | None) -> int:
        number = self._begun(process, key)
        if self.runs[number].status is RunStatus.SUSPENDED:
            refuse("job_is_suspended")
        return number

    def _begun(self, process: str, key: str | None) -> int:
        mine = (each for each in self.active() if each.process == process and self._is_meant(each, key))
        found = next(mine, None)
        return refuse("job_not_running") if found is None else self.runs.index(found)

    def _is_meant(self, run: Run, key: str | None) -> bool:
        return run.mode is JobMode.QUEUE if key is None else run.key == key

    def _attempts(self, process: str, key: str) -> list[Run]:
        return [each for each in self.runs if (each.process, each.key) == (process, key)]

    def _number(self, process: str, key: str) -> int:
        return self.runs.index(self._attempts(process, key)[-1])

    def _last(self, batch: Batch) -> Run:
        if batch.run is None:
            raise AssertionError
        return self.runs[batch.run]
