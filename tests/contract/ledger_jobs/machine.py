"""The same commands for the model and for each database, compared after every one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.contract.ledger_jobs.calls import NOON, ONE, Calls, instance
from tests.contract.ledger_jobs.model import Model
from tests.contract.ledger_jobs.model_rows import OUT, Refused, Run, Started
from tests.contract.ledger_jobs.observing import Places, expected, seen
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.errors import FeedctlError
from toolkit.ledger.jobs.rows import StartedJob
from toolkit.ledger.registry.registration import ProcessEntry, StepEntry
from toolkit.ledger.runs import queries, status
from toolkit.ledger.vocabulary import JobMode, RunStatus

FEEDS = ("a", "b")
PROCESSES = ("p", "q", "r")
STEPS = ("one", "two", "three")
KEYS = (NOON, ONE)
READ = (*FEEDS, *(each + OUT for each in PROCESSES))

processes = st.sampled_from(PROCESSES)
steps = st.sampled_from(STEPS)
keys = st.sampled_from([None, None, *KEYS])
markings = st.sampled_from([None, "2026-03-01", "2026-03-02,2026-03-01", "late"])
limits = st.sampled_from([None, None, 1, 2])
positions = st.sampled_from([9, 9, 0, 1, 2])
numbers = st.integers(min_value=0, max_value=30)


@st.composite
def pipelines(draw: st.DrawFn) -> tuple[ProcessEntry, ...]:
    """Three processes, each downstream of some before it: chains, diamonds, and any other graph of three."""
    entries = []
    for position, name in enumerate(PROCESSES):
        sources = (*FEEDS, *PROCESSES[:position])
        count = draw(st.sampled_from([3, 3, 2, 1]))
        entries.append(process(name, *(draw(_step(each, sources)) for each in STEPS[:count])))
    return tuple(entries)


@st.composite
def _step(draw: st.DrawFn, name: str, sources: Sequence[str]) -> StepEntry:
    read = draw(st.lists(st.sampled_from(sources), unique=True, max_size=2))
    optional = draw(st.lists(st.sampled_from(sources), unique=True, max_size=1)) if draw(st.booleans()) else []
    both = {*read, *optional}
    return step(
        name,
        *(each for each in read if each not in optional),
        optional=tuple(optional),
        feeds=tuple(each if each in FEEDS else each + OUT for each in sorted(both)),
        recoverable=draw(st.sampled_from([True, True, False])),
    )


@dataclass(frozen=True)
class Answer:
    """What a call should answer: a value, or the code of an error."""

    value: object = None
    code: str | None = None


class JobsMachine(RuleBasedStateMachine):
    """Commands on jobs, in any order and however wrong.

    Args:
        ledgers: empty ones.
    """

    def __init__(self, ledgers: Sequence[Calls]) -> None:
        super().__init__()
        self.ledgers = ledgers
        self.entries: tuple[ProcessEntry, ...] = ()
        self.model = Model({})

    @initialize(entries=pipelines())
    def register(self, entries: tuple[ProcessEntry, ...]) -> None:
        self.entries = entries
        self._register(entries)

    @rule(name=processes, is_whole=st.booleans())
    def change_the_config_repo(self, name: str, is_whole: bool) -> None:  # noqa: FBT001 - drawn
        """The last step of a process goes, or all are there again."""
        live = {each.site.name: each for each in self.entries} | self.model.processes
        whole = next(each for each in self.entries if each.site.name == name)
        live[name] = whole if is_whole else replace(whole, steps=whole.steps[:-1] or whole.steps)
        self._register(tuple(live[each] for each in PROCESSES))

    @rule(name=st.sampled_from(FEEDS), marking=markings, key=keys)
    def enqueue(self, name: str, marking: str | None, key: str | None) -> None:
        of = instance(name, key) if key else None

        def call(calls: Calls, _places: Places) -> object:
            enqueued = calls.enqueue(name, f"/in/{number}", marking=marking, of=of)
            return enqueued.marking

        number = len(self.model.batches)
        self._compare(lambda: self.model.batches[self.model.enqueue(name, marking, key)].marking, call)

    @rule(place=numbers)
    def enqueue_again(self, place: int) -> None:
        from_outside = [at for at, each in enumerate(self.model.batches) if each.producer in FEEDS]
        if not from_outside:
            return
        number = from_outside[place % len(from_outside)]
        name = self.model.batches[number].producer or ""

        def call(calls: Calls, places: Places) -> object:
            calls.enqueue(name, f"/in/{number}", batch_id=places.batch_id(number))
            return None

        self._compare(lambda: self.model.enqueue_again(number), call)

    @rule(name=processes, key=keys, most=limits, feeds=st.lists(st.sampled_from(READ), max_size=2))
    def init_job_of_anything(self, name: str, key: str | None, most: int | None, feeds: list[str]) -> None:
        self._init(name, key, most, feeds)

    @rule(name=processes, key=keys, most=limits)
    def init_job(self, name: str, key: str | None, most: int | None) -> None:
        """With the inputs that the process reads."""
        self._init(name, key, most, sorted({feed for each in self.model.steps(name) for feed in each.feeds}))

    @rule(name=processes, key=keys, of=steps, what=st.sampled_from(["init", "good", "bad", "halt", "term"]))
    def call_anything(self, name: str, key: str | None, of: str, what: str) -> None:
        self._call(name, key, of, what)

    @precondition(lambda self: self.model.active())
    @rule(place=numbers, position=numbers, what=st.sampled_from(["init", "init", "good", "bad", "halt", "term"]))
    def call_for_a_job_that_runs(self, place: int, position: int, what: str) -> None:
        run = self.model.active()[place % len(self.model.active())]
        live = self.model.steps(run.process)
        self._call(run.process, self._key(run), live[position % len(live)].name, what)

    @rule(name=processes, key=keys, most=limits, failing=st.lists(positions, min_size=1, max_size=3))
    def work(self, name: str, key: str | None, most: int | None, failing: list[int]) -> None:
        """What is due in a job, until a step fails or all are done; again and again: blind chance hardly finds that."""
        for position in failing:
            self.init_job(name, key, most)
            self._work(name, key, position)

    @rule(place=numbers, what=st.sampled_from(["abort", "suspend", "resume", "order", "force"]))
    def command(self, place: int, what: str) -> None:
        """What others do to a job: kill it, suspend it, or order it once more."""
        if not self.model.runs:
            return
        number = place % len(self.model.runs)

        def call(calls: Calls, places: Places) -> object:
            _command(calls, places.run_id(number), what)
            return None

        self._compare(lambda: _model_command(self.model, number, what), call)

    def _register(self, entries: Sequence[ProcessEntry]) -> None:
        self.model.processes = {each.site.name: each for each in entries}
        for calls in self.ledgers:
            calls.register(*(feed(each) for each in FEEDS), *entries)

    def _init(self, name: str, key: str | None, most: int | None, feeds: Sequence[str]) -> None:
        wanted = [] if key is None else [(each, at) for each in feeds for at in KEYS]
        limit = most if key is None else None
        inputs = [instance(each, at) for each, at in wanted]
        self._compare(
            lambda: self.model.init(name, key, limit, wanted),
            lambda calls, _: calls.init(name, key, most=limit, inputs=inputs),
        )

    def _work(self, name: str, key: str | None, failing: int) -> None:
        running = [each for each in self.model.active() if (each.process, self._key(each)) == (name, key)]
        due = self.model.due(self.model.runs.index(running[0])) if running else ()
        for position, of in enumerate(due):
            self._call(name, key, of, "init")
            self._call(name, key, of, "bad" if position == failing else "good")
        if running:
            self._call(name, key, "", "term" if failing < len(due) else "halt")

    def _call(self, name: str, key: str | None, of: str, what: str) -> None:
        if what not in {"halt", "term"} and not self._ever_had(name, of):
            return
        self._compare(
            lambda: _ask_model(self.model, name, key, of, what), lambda calls, _: _ask(calls, name, key, of, what)
        )

    def _key(self, run: Run) -> str | None:
        return None if run.mode is JobMode.QUEUE else run.key

    def _ever_had(self, name: str, of: str) -> bool:
        return any(each.site.name == name and of in [one.name for one in each.steps] for each in self.entries)

    def _compare(self, by_model: Callable[[], object], by_ledger: Callable[[Calls, Places], object]) -> None:
        answer = _answer(by_model)
        for calls in self.ledgers:
            places = calls.ledger.read(Places.of)
            got = _answer(lambda calls=calls, places=places: by_ledger(calls, places))  # type: ignore[misc]
            assert _in_places(calls, got) == answer
            assert seen(calls.ledger) == expected(self.model)


def _answer(call: Callable[[], object]) -> Answer:
    try:
        return Answer(value=call())
    except Refused as refused:
        return Answer(code=str(refused))
    except FeedctlError as error:
        return Answer(code=getattr(error, "code", type(error).__name__))


def _in_places(calls: Calls, answer: Answer) -> Answer:
    """Return what a ledger tells about a job that started, with the model's numbers."""
    reported = answer.value
    if not isinstance(reported, StartedJob):
        return answer
    places = calls.ledger.read(Places.of)
    return Answer(
        value=Started(
            attempt=reported.run.attempt,
            is_rerun=reported.is_rerun,
            target=places.batches[reported.target_batch_id],
            marking=reported.target_marking,
            due=reported.steps_to_run,
            sources={each.name: [places.batches[one.batch_id] for one in each.batches] for each in reported.steps},
        )
    )


def _ask_model(model: Model, name: str, key: str | None, of: str, what: str) -> object:
    if what == "halt":
        return model.halt(name, key)
    if what == "term":
        model.term(name, key)
    elif what == "init":
        model.init_step(name, of, key)
    else:
        model.end_step(name, of, key, is_good=what == "good")
    return None


def _ask(calls: Calls, name: str, key: str | None, of: str, what: str) -> object:
    if what == "halt":
        halted = calls.halt(name, key, outputs=[] if key is None else [instance(name + OUT, key)])
        return halted.marking, halted.archived
    if what == "term":
        calls.term(name, key)
    else:
        {"init": calls.init_step, "good": calls.halt_step, "bad": calls.term_step}[what](name, of, key)
    return None


def _model_command(model: Model, number: int, what: str) -> None:
    if what in {"order", "force"}:
        model.order_again(number, is_forced=what == "force")
    else:
        {"abort": model.abort, "suspend": model.suspend, "resume": model.resume}[what](number)


def _command(calls: Calls, run_id: int, what: str) -> None:
    if what in {"order", "force"}:
        run = calls.ledger.read(lambda tx: queries.get(tx, run_id))
        calls.order_again(run, is_forced=what == "force")
    elif what == "abort":
        calls.abort(run_id)
    elif what == "suspend":
        calls.ledger.write(lambda tx: status.change(tx, run_id, RunStatus.SUSPENDED))
    else:
        calls.ledger.write(lambda tx: status.resume(tx, run_id))
