"""Output of an instance's steps: printed from their logs, also while these grow."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.cli.flags import AnswerFlags
from toolkit.cli.instance_answers import answer
from toolkit.cli.instance_options import InstanceFlags
from toolkit.cli.option_values import BadOption, MissingOption
from toolkit.cli.options import OutputFormat
from toolkit.errors import InvalidInput
from toolkit.ledger.database import Ledger
from toolkit.ledger.identity import identity_of
from toolkit.ledger.jobs.rows import StepRun
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import RunStatus
from toolkit.management.locations import ManagedEntity, RequestedRange
from toolkit.management.questions import InstanceLogs, instance_logs
from toolkit.management.rows import View
from toolkit.programs.log_folder import require_own_folder
from toolkit.programs.step_log import (
    NoLogName,
    NoPlaceForLogs,
    StepLog,
    StepRunName,
    log_directory,
    step_log,
)
from toolkit.runs.owner import ProcessTable
from toolkit.variables import process_variables

_LOOK_SECONDS = 0.5
_LONGEST_LINE = 1 << 16


class NoSuchStep(InvalidInput):
    """No attempt of the instance began a step of that name."""

    def __init__(self, *, name: str, step: str | None) -> None:
        what = "a step" if step is None else f"the step {step}"
        super().__init__(f"no recorded attempt of {name} at that time began {what}; `feedctl instance logs` lists them")


def print_step_logs(which: InstanceFlags, repo: AnswerFlags) -> None:
    """Print the logs of the newest attempt of an instance, or of all its attempts, step by step.

    Args:
        which: the instance, its step or all, and whether to go on until nothing of it runs any more.
        repo: the config repo.

    Raises:
        NoSuchStep: there is nothing to print, and nothing runs that could say more.
        MissingOption: the instance is not said by `--time`.
        BadOption: a range, or another form than text, is asked for.
        InvalidInput, LedgerUnavailable: see `instance_answers.answer`.
    """
    _require_fitting(which, repo.output)
    texts = LogTexts(step=which.step, write=_write, host=ProcessTable().host, base=_base())

    def show(ledger: Ledger, managed: ManagedEntity, requested_range: RequestedRange, view: View) -> None:
        texts.ledger = identity_of(ledger)
        while texts.show(instance_logs(ledger, managed, requested_range, view)) and which.follow:
            time.sleep(_LOOK_SECONDS)

    answer(which, repo, show)
    if not texts.has_some:
        raise NoSuchStep(name=which.name, step=which.step)


def _require_fitting(which: InstanceFlags, output: OutputFormat) -> None:
    """Refuse what does not go with printing logs."""
    if which.time is None:
        raise MissingOption(option="--time", command="instance logs")
    if output is not OutputFormat.TEXT:
        raise BadOption(option="--output", found=output.value, expected="text: logs are printed as they are")


def _base() -> Path | None:
    try:
        return log_directory(process_variables())
    except NoPlaceForLogs:
        return None


def _write(text: str) -> None:
    print(text, end="", flush=True)


@dataclass(kw_only=True)
class LogTexts:
    """The texts of the steps' logs, each once, however often one looks.

    Attributes:
        step: only logs of this one; None: all.
        write: takes the text, in whole lines where there are some: who makes it printable must see them as a whole.
        host: the name of this machine.
        base: the directory of all logs; None: the environment does not say.
        ledger: the identity of the ledger, which is in the paths of its logs.
    """

    step: str | None
    write: Callable[[str], None]
    host: str
    base: Path | None
    ledger: str = ""
    _logs: dict[int, StepLog | None] = field(default_factory=dict)
    _rest: str = ""

    @property
    def has_some(self) -> bool:
        """True if there was a log to show."""
        return bool(self._logs)

    def show(self, found: InstanceLogs) -> bool:
        """Write what is new; whether more may come: a log is read after the ledger said whether its run is over."""
        for log in found.logs:
            for step in log.steps:
                if self.step in {None, step.step}:
                    self._show(log.run, step)
        return any(log.run.status is RunStatus.RUNNING for log in found.logs)

    def _show(self, run: Run, step: StepRun) -> None:
        if step.step_run_id not in self._logs:
            self._logs[step.step_run_id] = self._begun(run, step)
        log = self._logs[step.step_run_id]
        if log is None:
            return
        for text in log.new_text():
            self._say(text)
        if step.status is not RunStatus.RUNNING and self._rest:
            self._say("\n")

    def _say(self, text: str) -> None:
        lines, end, rest = (self._rest + text).rpartition("\n")
        if len(rest) > _LONGEST_LINE:
            lines, end, rest = lines + end + rest, "", ""
        self._rest = rest
        if lines + end:
            self.write(lines + end)

    def _begun(self, run: Run, step: StepRun) -> StepLog | None:
        """The log of a step, after a line that says whose it is; None: only a hint can be given."""
        attempt = f"attempt {run.attempt}" if step.attempt == 1 else f"attempt {run.attempt}, try {step.attempt}"
        head = f"== {run.cluster} {run.instance_key} {attempt}: step {step.step}, {step.status}"
        place = step.log_location
        own = self._own(run, step.step)
        if place is None:
            self.write(f"{head}: no log was recorded\n")
        elif own is None or place != str(own):
            self.write(f"{head}: its log is {place}{self._why_unprinted(run, place)}\n")
        elif not own.exists() and run.host not in {None, self.host}:
            self.write(f"{head}: its log is {place} on {run.host}\n")
        elif not own.exists() and step.status is not RunStatus.RUNNING:
            self.write(f"{head}: its log {place} is not there any more\n")
        else:
            if self.base is not None and own.exists():
                require_own_folder(self.base, own)
            self.write(f"{head}: {place}\n")
            return StepLog(own)
        return None

    def _own(self, run: Run, step: str) -> Path | None:
        """Return the computed path of a step's log; a row of the ledger names it, and no other file is printed."""
        if self.base is None:
            return None
        name = StepRunName(
            ledger=self.ledger,
            process=run.entity,
            cluster=run.cluster,
            instance_key=run.instance_key,
            run_id=run.run_id,
            step=step,
        )
        try:
            return step_log(self.base, name)
        except NoLogName:
            return None

    def _why_unprinted(self, run: Run, place: str) -> str:
        if not Path(place).is_absolute():
            return ""
        if run.host not in {None, self.host}:
            return f" on {run.host}"
        return f", which is not its place below {self.base}, so it is not printed"
