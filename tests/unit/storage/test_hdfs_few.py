"""A few removals in one bounded call: every path has one answer, and none is begun after the call was given up."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from hdfs_native import Client

from toolkit.el import CanonicalPath
from toolkit.storage import NotDone, NotFound, PermissionDenied, Unreachable
from toolkit.storage.hdfs.few_removals import FewRemovals

PATHS = [CanonicalPath("hdfs", "ns1", f"/data/{number}") for number in range(4)]
DENIED = 'RPCError("org.apache.hadoop.security.AccessControlException", "Permission denied: user=bob")'
STANDBY = 'RPCError("org.apache.hadoop.ipc.StandbyException", "this one is on standby")'


class FakeClient:
    """Says what it was told about each path, and remembers what it was asked."""

    def __init__(self, answers: dict[str, Callable[[], bool]]) -> None:
        self.answers = answers
        self.calls: list[str] = []

    def delete(self, path: str, *, recursive: bool) -> bool:
        assert recursive
        self.calls.append(path)
        return self.answers.get(path, lambda: True)()


def _raising(text: str) -> Callable[[], bool]:
    def answer() -> bool:
        raise RuntimeError(text)

    return answer


def _removed(few: FewRemovals, client: FakeClient) -> list[object]:
    few.remove(cast("Client", client))
    return [each.error if each.error is None else type(each.error) for each in few.answered()]


def test_each_path_has_its_own_answer() -> None:
    client = FakeClient({"/data/1": lambda: False, "/data/2": _raising(DENIED)})
    assert _removed(FewRemovals(PATHS), client) == [None, NotFound, PermissionDenied, None]
    assert client.calls == [path.path for path in PATHS]


def test_behind_one_that_is_not_answered_none_is_begun() -> None:
    client = FakeClient({"/data/1": _raising(STANDBY)})
    assert _removed(FewRemovals(PATHS), client) == [None, NotDone, NotDone, NotDone]
    assert client.calls == ["/data/0", "/data/1"]


def test_a_call_that_was_given_up_begins_no_further_removal_when_it_wakes_up() -> None:
    few = FewRemovals(PATHS)

    def late() -> bool:
        few.give_up("no answer")
        return True

    client = FakeClient({"/data/1": late})
    few.remove(cast("Client", client))
    assert client.calls == ["/data/0", "/data/1"]
    assert [each.error is None for each in few.answered()] == [True, True, False, False]
    assert "no answer" in str(few.answered()[2].error)


def test_of_a_call_that_is_given_up_only_the_removal_under_way_may_still_happen() -> None:
    few = FewRemovals(PATHS)

    def hangs() -> bool:
        few.give_up("no answer")
        seen.extend(type(each.error) for each in few.answered())
        return True

    seen: list[type] = []
    few.remove(cast("Client", FakeClient({"/data/1": hangs})))
    assert seen == [type(None), Unreachable, NotDone, NotDone]
