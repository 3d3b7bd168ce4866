"""Steps of all actions' commands between their options and their exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias

from toolkit.actions.model import D, I, NoTarget, T
from toolkit.actions.progress import NoProgress
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.cli.boundary import exit_code_of, status_of
from toolkit.cli.delivery import ResultFile, ResultFileNotWritten
from toolkit.cli.option_values import BadOption
from toolkit.cli.streams import Keeps, print_result, say
from toolkit.clock import Clock, SystemClock
from toolkit.el import ElError, parse_instant
from toolkit.errors import FeedctlError, InvalidInput
from toolkit.rendering.action_result import ActionView, Detail, failure_lines, failure_text, rendered
from toolkit.rendering.progress import LoggedProgress
from toolkit.rendering.tables import ResultFormat
from toolkit.runs.stop import StopSignal, watched_signals

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.progress import Progress
    from toolkit.actions.result import ActionResult

Run: TypeAlias = "Callable[[ActionOptions, Clock, StopSignal, Progress], ActionResult[T, I, D]]"
"""An action, wired; see `toolkit.bootstrap`."""


class BadTime(InvalidInput):
    """A nominal time that is no instant.

    Args:
        why: what is wrong with it, with the text itself.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"--time {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionCommand(Generic[T, I, D]):
    """The command of an action.

    Attributes:
        name: of the action.
        run: the action.
        view: how its results are shown.
        form: of what is printed.
        file: gets the JSON form as well; None: nothing is written.
        detail: of what is printed as text.
    """

    name: str
    run: Run[T, I, D]
    view: ActionView[T, I, D]
    form: ResultFormat
    file: ResultFile | None
    detail: Detail = Detail.RANGES

    def execute(self, options: ActionOptions) -> int:
        """Run, deliver the result, and tell the exit code.

        Raises:
            FeedctlError: the run ended before it had a result.
        """
        with watched_signals(options.repo.variables) as line:
            result = self.run(options, SystemClock(), line, _progress(self.name, self.form, self.detail))
            self._deliver(result)
            for message in _messages(result):
                say(f"feedctl: {message}")
        return result.exit_code

    @contextmanager
    def failures_delivered(self) -> Iterator[None]:
        """Deliver an error of the body in the form that was asked for, then let it go on."""
        try:
            yield
        except ResultFileNotWritten:
            raise
        except FeedctlError as error:
            self._deliver_failure(error)
            raise

    def _deliver(self, result: ActionResult[T, I, D]) -> None:
        """That a killed run was killed matters more than a result file that could not be written."""
        on_terminal = self.form is ResultFormat.TEXT and sys.stdout.isatty()
        pieces = rendered(result, self.view, self.form, detail=self.detail, on_terminal=on_terminal)
        print_result(pieces, Keeps.STYLES if on_terminal else Keeps.NOTHING)
        if self.file is None:
            return
        try:
            self.file.write(rendered(result, self.view, ResultFormat.JSON))
        except FeedctlError as error:
            if result.stopped is None:
                raise
            say(f"feedctl: {error}")

    def _deliver_failure(self, error: FeedctlError) -> None:
        """Report a run that ended before it had a result; a person at a terminal gets the message alone."""
        status, code = status_of(error).value, exit_code_of(error).value
        text = failure_text(self.name, self.view.targets, error, status=status, exit_code=code)
        if self.form is not ResultFormat.TEXT:
            print_result([text])
        elif not sys.stdout.isatty():
            print_result(failure_lines(error, status))
        if self.file is not None:
            self.file.write([text])


def detail_of(*, quiet: bool, verbose: bool) -> Detail:
    """Return the detail that `--quiet` and `--verbose` ask for.

    Raises:
        BadOption: both were given.
    """
    if quiet and verbose:
        raise BadOption(option="--quiet", found="--verbose as well", expected="one of them")
    return Detail.QUIET if quiet else Detail.VERBOSE if verbose else Detail.RANGES


def nominal_time_of(text: str) -> datetime:
    """The nominal time.

    Raises:
        BadTime: the text is no instant.
    """
    try:
        return parse_instant(text)
    except ElError as error:
        raise BadTime(why=str(error)) from error


def _messages(result: ActionResult[T, I, D]) -> Iterator[str]:
    """Yield the messages for standard error."""
    ending = result.stopped or result.refusal
    if ending is not None:
        yield str(ending)
    for target in result.targets:
        if target.plan.refused is not None:
            yield target.plan.refused.message
        # What is not implemented is in the result, and not a warning every night.
        if target.plan.skipped is not None and not isinstance(target.plan.target, NoTarget):
            yield f"{target.plan.label} was skipped: {target.plan.skipped.message}"


def _progress(what: str, form: ResultFormat, detail: Detail) -> Progress:
    """A bar, when a person looks at the errors of a run whose result is for people; else lines in the log."""
    if detail is Detail.QUIET:
        return NoProgress()
    if form is not ResultFormat.TEXT or not sys.stderr.isatty():
        return LoggedProgress(what=what)
    from toolkit.rendering.terminal_progress import TerminalProgress

    return TerminalProgress(what=what)
