"""Explanation of one instance: every answer is that of the plan, with the rule's numbers and place."""

from __future__ import annotations

import pytest

from tests.unit.retention.feeds import FeedText, context_on, days, gone, resolved, retention, run
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from tests.unit.retention.object_memory import ObjectMemory
from toolkit.el import CanonicalPath, NotAnInstance, parse_instant
from toolkit.entities import Hold
from toolkit.retention.explain import Explainer, Explanation, RetentionDecision, of_settled
from toolkit.runs.stop import NeverStopped
from toolkit.storage import FileKind, NotFound


def _system(*paths: str) -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put(*paths)
    return system


def _explainer(system: MemoryFileSystem, feed: FeedText, *holds: Hold, refusal: str | None = None) -> Explainer:
    (target,) = resolved(system, [feed], holds=holds).to_do
    plan = retention().plan(target, context_on(system, NeverStopped()))

    def kind_at(path: CanonicalPath) -> FileKind | None:
        try:
            return system.status(path).kind
        except NotFound:
            return None

    return Explainer(plan=plan, place_of=lambda _, key: f"<{key}>", kind_at=kind_at, refusal=refusal)


def _of_path(system: MemoryFileSystem, path: str, feed: FeedText | None = None, *holds: Hold) -> Explanation:
    return _explainer(system, feed or FeedText(), *holds).of_path(CanonicalPath.parse(f"file://{path}"))


OLD = (
    "its time 2026-03-01T00:00Z is before the horizon 2026-03-10T12:00Z, which is 2026-03-20T12:00Z less the limit "
    "days(10) (<limit>)"
)


@pytest.mark.parametrize("path", ["/data/clicks/2026/03/01", "/data/clicks/2026/03/01/part"])
def test_what_goes_is_told_with_the_rule_its_numbers_and_its_place(path: str) -> None:
    found = _of_path(_system(*days(1, 20)), path)
    assert (found.decision, found.reason, found.why, found.instance) == (
        RetentionDecision.GOES,
        "old",
        OLD,
        "2026-03-01T00:00Z",
    )
    assert str(found.path) == "file:///data/clicks/2026/03/01"


def test_what_is_too_young_stays() -> None:
    found = _of_path(_system(*days(1, 20)), "/data/clicks/2026/03/20")
    assert (found.decision, found.reason, found.instance) == (RetentionDecision.STAYS, "too_young", "2026-03-20T00:00Z")
    assert "is not before the horizon 2026-03-10T12:00Z" in found.why


@pytest.mark.parametrize(
    ("feed", "holds", "reason", "part"),
    [
        (
            FeedText(keep_last=3),
            (),
            "keep_last",
            "among the newest 3 (keep_last, <keep_last>); but for that it would go",
        ),
        (
            FeedText(),
            (Hold(feed="clicks", reason="audit 7"),),
            "hold",
            "on hold: audit 7 (holds.yaml, or `feedctl hold",
        ),
        (
            FeedText(cut_off="days(30)"),
            (),
            "late_window",
            "late data may still come: cut-off days(30) (late_arrival, <late_arrival.cut_off>)",
        ),
    ],
)
def test_what_is_old_enough_and_stays_is_told_with_what_keeps_it(
    feed: FeedText, holds: tuple[Hold, ...], reason: str, part: str
) -> None:
    system = _system(*days(1, 20))
    found = _of_path(system, "/data/clicks/2026/03/01/part", feed, *holds)
    assert (found.decision, found.reason, found.instance) == (RetentionDecision.STAYS, reason, "2026-03-01T00:00Z")
    assert part in found.why
    assert OLD in found.why


def test_a_hold_file_holds_whatever_is_asked() -> None:
    system = _system(*days(1, 20))
    system.files["/data/clicks/.feedctl-hold"] = b"case 12"
    found = _of_path(system, "/data/clicks/2026/03/01")
    assert (found.decision, found.reason) == (RetentionDecision.STAYS, "hold_file")
    assert (found.why, found.notes) == ("on hold by file:///data/clicks/.feedctl-hold: case 12", ())


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/data/clicks/2026/03/notes", "name 5 is 'notes', expected '${DAY}'"),
        ("/data/clicks/2026/13/01", "name 4 is '13', expected '${MONTH}'"),
        ("/data/clicks/2026/02/30", "'2026/02/30' names a date that does not exist in UTC"),
        (
            "/data/clicks/2026/03",
            "has 4 names, the template has 5; 2 instances in it go, and it with them if that leaves it empty",
        ),
        ("/data/clicks", "is the base of the feed; 2 instances in it go"),
    ],
)
def test_what_is_no_instance_stays_and_is_told_why(path: str, part: str) -> None:
    system = _system(
        *days(1, 2, 20), "/data/clicks/2026/03/notes", "/data/clicks/2026/13/01/x", *days(30, month="2026/02")
    )
    found = _of_path(system, path)
    assert (found.decision, found.reason, found.instance) == (RetentionDecision.STAYS, "not_conforming", "")
    assert found.why.startswith("it is no instance of /data/clicks/${YEAR}/${MONTH}/${DAY}: ")
    assert part in found.why


def test_a_link_in_an_instances_place_stays() -> None:
    system = _system(*days(2))
    system.links.add("/data/clicks/2026/03/01")
    found = _of_path(system, "/data/clicks/2026/03/01")
    assert (found.decision, found.why) == (RetentionDecision.STAYS, "it is a symlink, and no directory or file")


def test_nothing_is_there() -> None:
    assert _of_path(_system(*days(1)), "/data/clicks/2026/03/02").decision is RetentionDecision.ABSENT


def test_an_undated_location_stays() -> None:
    feed = FeedText(others={"meta": "/meta"})
    found = _of_path(_system(*days(1), "/meta/x"), "/meta/x", feed)
    assert (found.decision, found.reason) == (RetentionDecision.STAYS, "undated")
    assert found.notes == ("meta: /meta has no dates and stays",)


def test_what_cannot_be_listed_is_unknown() -> None:
    system = _system(*days(1), *days(1, month="2026/01"))
    system.locked.add("/data/clicks/2026/01")
    found = _of_path(system, "/data/clicks/2026/01/01")
    assert (found.decision, found.reason) == (RetentionDecision.UNKNOWN, "permission_denied")
    (by_time,) = _explainer(system, FeedText()).of_instance(parse_instant("2026-01-01T00:00Z"))
    assert (by_time.decision, by_time.reason) == (RetentionDecision.UNKNOWN, "permission_denied")
    system.locked.add("/data/clicks")
    assert _of_path(system, "/data/clicks/2026/03/01").decision is RetentionDecision.UNKNOWN


@pytest.mark.parametrize("path", ["/data/clicks/2026/01", "/data/clicks/2026/03/.feedctl-evicting-01"])
def test_what_goes_and_is_no_instance_is_told_as_what_it_is(path: str) -> None:
    system = _system(*days(2), "/data/clicks/2026/03/.feedctl-evicting-01/x")
    system.make("/data/clicks/2026/01")
    found = _of_path(system, path)
    assert (found.decision, found.reason in {"empty_directory", "leftover"}) == (RetentionDecision.GOES, True)


@pytest.mark.parametrize("path", ["/data/clicks/2026", "/data/clicks/2026/02"])
def test_a_directory_that_goes_as_a_whole_goes(path: str) -> None:
    system = AtomicMemory()
    system.put(*days(1, 2, month="2026/01"), *days(1, 2, month="2026/02"))
    found = _of_path(system, path)
    assert (found.decision, found.reason) == (RetentionDecision.GOES, "whole_directory")
    assert found.why == "file:///data/clicks/2026 goes as a whole, with the 4 instances that are all it has"
    run(system, FeedText())
    assert not system.files


def test_an_instance_is_found_in_each_of_its_locations() -> None:
    system = _system(*days(1), "/stats/2026-03-01")
    explainer = _explainer(system, FeedText(others={"stats": "/stats/${YEAR}-${MONTH}-${DAY}"}))
    found = list(explainer.of_instance(parse_instant("2026-03-01T00:00Z")))
    assert [(each.decision, str(each.path)) for each in found] == [
        (RetentionDecision.GOES, "file:///data/clicks/2026/03/01"),
        (RetentionDecision.GOES, "file:///stats/2026-03-01"),
    ]


def test_an_instance_is_found_in_the_path_that_stands_for_several() -> None:
    explainer = _explainer(_system(*days(1)), FeedText(frequency="hours(1)"))
    (found,) = explainer.of_instance(parse_instant("2026-03-01T05:00Z"))
    assert (found.decision, found.instance) == (RetentionDecision.GOES, "2026-03-01T23:00Z")


@pytest.mark.parametrize(
    ("instant", "decision", "reason"),
    [
        ("2026-03-19T00:00Z", RetentionDecision.STAYS, "too_young"),
        ("2026-03-02T00:00Z", RetentionDecision.ABSENT, "absent"),
    ],
)
def test_an_instance_without_a_path_in_the_plan_is_young_or_absent(
    instant: str, decision: RetentionDecision, reason: str
) -> None:
    (found,) = _explainer(_system(*days(1, 19)), FeedText()).of_instance(parse_instant(instant))
    assert (found.decision, found.reason, found.instance, found.path) == (decision, reason, instant, None)


def test_what_is_no_instance_of_the_feed_is_refused() -> None:
    with pytest.raises(NotAnInstance):
        list(_explainer(_system(*days(1)), FeedText()).of_instance(parse_instant("2026-03-01T01:00Z")))


def test_a_plan_that_would_be_refused_says_so() -> None:
    system = _system(*days(1))
    explainer = _explainer(system, FeedText(), refusal="too much")
    assert explainer.of_path(CanonicalPath.parse("file:///data/clicks/2026/03/01")).notes == (
        "the run would be refused: too much",
    )


def test_the_end_of_the_validity_is_named() -> None:
    feed = FeedText(validity=("2026-01-01T00:00Z", "2026-02-01T00:00Z"))
    found = _of_path(_system(*days(21, month="2026/01")), "/data/clicks/2026/01/21", feed)
    assert "2026-02-01T00:00Z (the end of the validity) less the limit" in found.why


def test_a_feed_without_retention_stays() -> None:
    (plan,) = resolved(_system(*days(1)), [FeedText(limit=None)]).settled
    found = of_settled(plan)
    assert (found.decision, found.reason) == (RetentionDecision.STAYS, "no_retention")


@pytest.mark.parametrize("store", [MemoryFileSystem, ObjectMemory])
def test_every_answer_is_what_the_run_does(store: type[MemoryFileSystem]) -> None:
    system = store()
    system.put(*days(*range(1, 21)), *days(1, 28, month="2026/02"), "/data/clicks/2026/03/notes")
    feed, hold = FeedText(keep_last=15), Hold(feed="clicks", start=parse_instant("2026-02-28T00:00Z"), reason="x")
    explainer = _explainer(system, feed, hold)
    paths = sorted({each.removesuffix("/part") for each in system.files})
    goes = [
        each
        for each in paths
        if explainer.of_path(CanonicalPath.parse(f"file://{each}")).decision is RetentionDecision.GOES
    ]
    assert goes == gone(run(system, feed, holds=[hold]))
    assert goes
