"""A poll as part of the result of a pass of triggers."""

from __future__ import annotations

import json

from tests.unit.planning.entities import cluster
from toolkit.actions.model import NoTarget
from toolkit.actions.result import TargetResult
from toolkit.bootstrap.polling import poll_plans
from toolkit.ledger.events import NewEvent
from toolkit.ledger.vocabulary import EventKind
from toolkit.process_runner.targets import ProcessDetail, StepItem
from toolkit.result import Status, derive_status
from toolkit.triggers.polling import PollFailure, PollReport

DOWN = PollFailure(
    dataset="s3://bucket/orders", store="s3://bucket", code="unreachable", message="no answer", is_unavailable=True
)


def _notes(report: PollReport) -> tuple[str, ...]:
    return next(poll_plans(report, cluster())).notes


def _status(report: PollReport) -> Status:
    results: list[TargetResult[NoTarget, StepItem, ProcessDetail]]
    results = [TargetResult(plan=each) for each in poll_plans(report, cluster())]
    return derive_status(outcome for each in results for outcome in each.outcomes())


def _event(number: int, names: list[str]) -> NewEvent:
    extra = json.dumps({"poll": {"added": names, "files": len(names)}})
    return NewEvent(kind=EventKind.UPDATED, dataset=f"s3://bucket/{number}", extra=extra)


def test_a_store_that_is_down_makes_the_result_a_partial_one() -> None:
    assert _status(PollReport(polled=["x"])) is Status.SUCCEEDED
    assert _status(PollReport(polled=["x"], failures=[DOWN])) is Status.PARTIAL
    assert _status(PollReport(failures=[DOWN])) is Status.PARTIAL
    _, failed = poll_plans(PollReport(failures=[DOWN]), cluster())
    assert (failed.target.entity, failed.failed and failed.failed.code) == ("s3://bucket/orders", "unreachable")


def test_updates_that_were_found_are_named_with_their_files() -> None:
    found = _notes(PollReport(polled=["x"], events=[_event(1, ["a", "b", "c", "d"])], not_due=2))
    assert found == (
        "datasets looked at: 1, 2 not due yet; updates found: 1",
        "s3://bucket/1 is updated: added a, b, c and 1 more",
    )


def test_very_many_updates_are_counted() -> None:
    found = _notes(PollReport(events=[_event(number, ["a"]) for number in range(30)]))
    assert len(found) == 22
    assert found[-1] == "and 10 more; `feedctl event list` has them"
