"""What the command of retention does between its options and its exit code."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.bootstrap.eviction import RetentionOptions, evict
from toolkit.cli.boundary import exit_code_of, status_of
from toolkit.cli.delivery import ResultFile, ResultFileNotWritten
from toolkit.cli.streams import Keeps, print_result, say
from toolkit.clock import SystemClock
from toolkit.el import ElError, parse_instant
from toolkit.errors import FeedctlError, InvalidInput
from toolkit.rendering.progress import LoggedProgress
from toolkit.rendering.retention import one_document, render
from toolkit.rendering.retention_document import failure_document
from toolkit.rendering.tables import ResultFormat
from toolkit.runs.lifeline import lifeline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from toolkit.retention import Progress, RetentionResult


class BadTime(InvalidInput):
    """A nominal time that is no instant.

    Args:
        why: what is wrong with it, with the text itself.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"--time {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """Where the result goes, and in which form.

    Attributes:
        form: of what is printed.
        file: gets the JSON form as well; None: nothing is written.
    """

    form: ResultFormat
    file: ResultFile | None

    @classmethod
    def of(
        cls, form: ResultFormat, result_file: str | None, config_repo: str | None = None, env: str | None = None
    ) -> Delivery:
        """The delivery that the options ask for.

        Args:
            form: of what is printed.
            result_file: as for `ResultFile.parse`; None: none.
            config_repo: the same.
            env: the same.

        Raises:
            InvalidInput: the result file cannot be written.
            Unavailable: its store does not answer.
        """
        return cls(form=form, file=None if result_file is None else ResultFile.parse(result_file, config_repo, env))

    def deliver(self, result: RetentionResult) -> None:
        """Print the result, and write the file.

        Raises:
            ResultFileNotWritten: the file could not be written.
        """
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        is_styled = self.form is ResultFormat.TEXT and width is not None
        print_result(render(result, self.form, width), Keeps.STYLES if is_styled else Keeps.NOTHING)
        if self.file is not None:
            self.file.write(render(result, ResultFormat.JSON, None))

    def deliver_failure(self, error: FeedctlError) -> None:
        """Report a run that ended before it had a result; text is for people, who get the message alone."""
        document = one_document(
            failure_document(error, status=status_of(error).value, exit_code=exit_code_of(error).value)
        )
        if self.form is not ResultFormat.TEXT:
            print_result(document)
        if self.file is not None:
            self.file.write(document)


@contextmanager
def failures_delivered(delivery: Delivery) -> Iterator[None]:
    """Deliver an error of the body in the form that was asked for, then let it go on."""
    try:
        yield
    except ResultFileNotWritten:
        raise
    except FeedctlError as error:
        delivery.deliver_failure(error)
        raise


def run_retention(options: RetentionOptions, delivery: Delivery) -> int:
    """Run, deliver the result, and tell the exit code.

    Raises:
        FeedctlError: the run ended before it had a result.
    """
    with lifeline(os.environ) as line:
        result = evict(options, SystemClock(), line, _progress(delivery.form))
        _deliver(result, delivery)
        for message in _messages(result):
            say(f"feedctl: {message}")
    return result.exit_code


def _messages(result: RetentionResult) -> Iterator[str]:
    """What whoever looks at the errors alone should know."""
    ending = result.stopped or result.refusal
    if ending is not None:
        yield str(ending)
    for feed in result.feeds:
        if feed.plan.skipped is not None:
            yield f"{feed.plan.label} was skipped: {feed.plan.skipped.message}"


def nominal_time_of(text: str) -> datetime:
    """The nominal time.

    Raises:
        BadTime: the text is no instant.
    """
    try:
        return parse_instant(text)
    except ElError as error:
        raise BadTime(why=str(error)) from error


def _deliver(result: RetentionResult, delivery: Delivery) -> None:
    """That a killed run was killed matters more than a result file that could not be written."""
    try:
        delivery.deliver(result)
    except FeedctlError as error:
        if result.stopped is None:
            raise
        say(f"feedctl: {error}")


def _progress(form: ResultFormat) -> Progress:
    """A bar, when a person looks at the errors of a run whose result is for people; else lines in the log."""
    if form is not ResultFormat.TEXT or not sys.stderr.isatty():
        return LoggedProgress(what="retention")
    from toolkit.rendering.terminal_progress import TerminalProgress

    return TerminalProgress(what="retention")
