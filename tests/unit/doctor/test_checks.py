from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator

from toolkit.doctor.findings import Check, CheckResult, CheckStatus, ok, run_checks
from toolkit.el import CanonicalPath
from toolkit.errors import Failed
from toolkit.storage import PermissionDenied

_PATH = CanonicalPath("hdfs", "ns1", "/a")


class _Broken(Failed):
    def __init__(self) -> None:
        super().__init__("the lamp is out; change it")


def _check(look: Callable[[], Iterable[CheckResult]], name: str = "check", seconds: float = 5.0) -> Check:
    return Check(about="driver", name=name, look=look, seconds=seconds)


def _raising(error: Exception) -> Check:
    def look() -> Iterable[CheckResult]:
        raise error

    return _check(look)


def test_findings_come_in_the_order_of_the_checks_whichever_ends_first() -> None:
    def slow() -> Iterator[CheckResult]:
        time.sleep(0.1)
        yield ok("slow")

    found = run_checks([_check(slow, "first"), _check(lambda: [ok("1"), ok("2")], "second")])
    assert [(each.name, each.finding.found) for each in found] == [("first", "slow"), ("second", "1"), ("second", "2")]
    assert found[0].seconds >= 0.1


def test_an_error_of_ours_is_a_finding_with_its_advice_and_hides_no_other() -> None:
    found = run_checks([_raising(_Broken()), _check(lambda: [ok("fine")])])
    assert [(each.finding.status, each.finding.found, each.finding.todo) for each in found] == [
        (CheckStatus.FAILED, "the lamp is out", "change it"),
        (CheckStatus.OK, "fine", ""),
    ]


def test_an_error_of_a_store_says_its_path_and_what_the_store_said() -> None:
    (found,) = run_checks([_raising(PermissionDenied(path=_PATH, detail="user=eve"))])
    assert found.finding.found == "hdfs://ns1/a: permission denied (user=eve)"
    assert found.finding.todo.startswith("give the user of this run access")


def test_a_check_that_is_broken_itself_is_a_finding_too() -> None:
    (found,) = run_checks([_raising(KeyError("x"))])
    assert (found.finding.status, found.finding.found) == (CheckStatus.FAILED, "KeyError: 'x'")


def test_a_check_that_hangs_is_left_alone_and_the_others_are_told() -> None:
    release = threading.Event()

    def hanging() -> Iterator[CheckResult]:
        release.wait(30)
        yield ok("late")

    begun = time.monotonic()
    found = run_checks([_check(hanging, seconds=0.2), _check(lambda: [ok("fine")])])
    release.set()
    assert time.monotonic() - begun < 10
    assert [each.finding.status for each in found] == [CheckStatus.FAILED, CheckStatus.OK]
    assert found[0].finding.found == "no answer within 0.2 s"


def test_many_hanging_checks_hang_together_and_not_one_after_the_other() -> None:
    release = threading.Event()

    def hanging() -> Iterator[CheckResult]:
        release.wait(30)
        yield ok("late")

    begun = time.monotonic()
    found = run_checks([_check(hanging, seconds=1) for _ in range(32)])
    release.set()
    assert {each.finding.status for each in found} == {CheckStatus.FAILED}
    assert time.monotonic() - begun < 20, "one after the other would take 32 s"


def test_a_finding_says_what_it_is_about_or_the_check_does() -> None:
    check = Check(about="cluster a", name="feed", look=lambda: [ok("1"), ok("2", what="own")], what="clicks")
    assert [each.finding.what for each in run_checks([check])] == ["clicks", "own"]


def test_no_checks_find_nothing() -> None:
    assert run_checks([]) == ()
