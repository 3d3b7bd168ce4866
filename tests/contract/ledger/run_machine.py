"""Random commands, given to a model and to real ledgers, which must answer alike and end alike."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.contract.ledger.run_commands import RunCommands
from tests.contract.ledger.run_model import SECONDS, Name, Refusal, RunModel, Wanted
from toolkit.errors import FeedctlError
from toolkit.ledger.vocabulary import LeaseMode, RequestKind, RunStatus

INSTANCES = st.sampled_from(["2026-03-20T12:00Z", "2026-03-20T13:00Z", "2026-03-20T14:00Z"])
RESOURCES = st.sampled_from(["a", "b"])
WANTED = st.dictionaries(RESOURCES, st.sampled_from(LeaseMode)).map(lambda each: tuple(each.items()))
PICKS = st.integers(0, 1000)


class RunMachine(RuleBasedStateMachine):
    """Commands that a model and ledgers get; the ledgers are new.

    Args:
        ledgers: each behind the commands of the model.
    """

    def __init__(self, ledgers: Sequence[RunCommands]) -> None:
        super().__init__()
        self._model, self._ledgers, self._agree = RunModel(), ledgers, True

    @rule(instance=INSTANCES, wanted=WANTED)
    def start(self, instance: str, wanted: Wanted) -> None:
        self._all("start", instance, wanted)

    @rule(instance=INSTANCES, resource=RESOURCES)
    def start_alone(self, instance: str, resource: str) -> None:
        self._all("start", instance, ((resource, LeaseMode.EXCLUSIVE),))

    @precondition(lambda self: self._model.attempts)
    @rule(pick=PICKS, to=st.sampled_from(RunStatus))
    def change(self, pick: int, to: RunStatus) -> None:
        self._all("change", self._newest_or_any(pick), to)

    @rule(instance=INSTANCES, command=st.sampled_from(["queue_again", "queue_again_forced", "skip", "suspend_ahead"]))
    def order(self, instance: str, command: str) -> None:
        if command.startswith("queue_again"):
            self._all("queue_again", instance, is_forced=command.endswith("forced"))
        else:
            self._all(command, instance)

    @precondition(lambda self: self._model.attempts)
    @rule(pick=PICKS)
    def resume(self, pick: int) -> None:
        self._all("resume", self._newest_or_any(pick))

    @precondition(lambda self: self._model.attempts)
    @rule(pick=PICKS, wanted=WANTED)
    def take(self, pick: int, wanted: Wanted) -> None:
        self._all("take", self._newest_or_any(pick), wanted)

    @precondition(lambda self: self._model.attempts)
    @rule(pick=PICKS)
    def renew(self, pick: int) -> None:
        self._all("renew", self._newest_or_any(pick))
        self._all("is_owned", self._newest_or_any(pick))

    @precondition(lambda self: self._model.attempts)
    @rule(pick=PICKS, kind=st.sampled_from([None, *RequestKind]))
    def ask(self, pick: int, kind: RequestKind | None) -> None:
        if kind is None:
            self._all("release", self._newest_or_any(pick))
        else:
            self._all("ask", self._newest_or_any(pick), kind)

    @rule(seconds=st.sampled_from([1.0, SECONDS / 2, SECONDS - 1, SECONDS]))
    def forward(self, seconds: float) -> None:
        self._all("forward", seconds)

    @rule(command=st.sampled_from(["switch", "suspend_entity"]), on=st.sampled_from([False, False, False, True]))
    def rest(self, command: str, *, on: bool) -> None:
        self._all(command, on=on)

    @rule(count=st.integers(0, 3), to=st.integers(0, 8))
    def happen(self, count: int, to: int) -> None:
        self._all("append", count)
        self._all("advance", to)

    def teardown(self) -> None:
        """What is stored in the end is the same, too."""
        if not self._agree:
            return  # said already
        for ledger in self._ledgers:
            assert ledger.contents() == self._model.contents()

    def _newest_or_any(self, pick: int) -> Name:
        """The newest attempt of an instance more often than an old one, which little can be done with."""
        known = sorted(self._model.attempts)
        attempts = self._model.attempts[known[pick % len(known)]]
        return attempts[pick % len(attempts) if pick % 5 == 0 else -1].name

    def _all(self, command: str, *values: object, **named: object) -> None:
        before = copy.deepcopy(self._model)
        expected = _outcome(self._model, command, values, named)
        if isinstance(expected, Refusal):
            self._model = before
        self._agree = False
        for ledger in self._ledgers:
            assert _output(_outcome(ledger, command, values, named)) == _output(expected)
        self._agree = True


def _outcome(of: RunModel | RunCommands, command: str, values: tuple[object, ...], named: dict[str, object]) -> object:
    try:
        result: object = getattr(of, command)(*values, **named)
    except (Refusal, FeedctlError) as refusal:
        return refusal
    return result


def _output(outcome: object) -> object:
    """An error stands for its code."""
    return getattr(outcome, "code", outcome)
