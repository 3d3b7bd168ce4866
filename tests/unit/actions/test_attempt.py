"""Result of an item after an error in the middle of an effect: one rule for every action."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.actions.fake_action import BASE, Mark, StatusStore, context
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.guard import HELD, CalledOff
from toolkit.catalog.errors import MetastoreUnreachable
from toolkit.el import CanonicalPath
from toolkit.errors import FeedctlError, Unavailable
from toolkit.result import Outcome
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import NeverStopped
from toolkit.storage import PermissionDenied, StorageError, Unreachable

MARK = Mark(entity="clicks", number=1)


@pytest.mark.parametrize(
    ("error", "outcome", "code", "message", "is_unknown"),
    [
        (CalledOff(refusal=HELD), Outcome.SKIPPED, "held", "", False),
        (Stopped(reason="received SIGTERM"), Outcome.FAILED, "interrupted", "received SIGTERM; the next run", True),
        (Unreachable(path=BASE), Outcome.FAILED, "unreachable", "marks", True),
        (PermissionDenied(path=BASE), Outcome.FAILED, "permission_denied", "marks", False),
        (MetastoreUnreachable(about="x"), Outcome.FAILED, "unreachable", "", True),
        (Unavailable("no executors"), Outcome.FAILED, "unreachable", f"{MARK.uri}: no executors", True),
    ],
)
def test_an_error_of_an_effect_becomes_the_result_of_its_item(
    error: FeedctlError, outcome: Outcome, code: str, message: str, *, is_unknown: bool
) -> None:
    work = replace(context(NeverStopped()), stores=lambda _: StatusStore())

    def effect() -> None:
        raise error

    failed = attempted(work, effect, failures=(StorageError, MetastoreUnreachable))
    assert isinstance(failed, FailedAttempt)
    result = failed.of(MARK)
    assert (result.outcome, result.code, message in result.message) == (outcome, code, True)
    assert (result.code in UNKNOWN) is is_unknown
    assert (work.guard.stopped is not None) is isinstance(error, Stopped)
    assert failed.was_stopped is isinstance(error, CalledOff | Stopped)


def test_an_effect_that_came_to_its_end_gives_its_result_and_a_bug_is_raised() -> None:
    work = context(NeverStopped())
    assert attempted(work, lambda: 7, failures=(StorageError,)) == 7
    with pytest.raises(ZeroDivisionError):
        attempted(work, lambda: 1 / 0, failures=(StorageError,))


def test_the_store_that_does_not_answer_is_left_alone_from_then_on() -> None:
    """Return an error of a copy, whose path may be on the source's store."""
    store, source = StatusStore(), CanonicalPath.parse("s3://logs/clicks")

    def silent(_: object) -> None:
        raise Unreachable(path=source)

    store.before = silent
    work = replace(context(NeverStopped()), stores=lambda _: store)

    def effect() -> None:
        raise Unreachable(path=source)

    attempted(work, effect, failures=(StorageError,))
    assert (work.guard.is_silent(source), work.guard.is_silent(BASE)) == (True, False)
