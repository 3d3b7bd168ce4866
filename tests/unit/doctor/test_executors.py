from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from toolkit.doctor.executors import ExecutorFacts, ExecutorTask, Place, executor_facts, executor_findings
from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.machine import compared_versions
from toolkit.el import CanonicalPath
from toolkit.storage import StorageSpec

_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")
_TASK = ExecutorTask(places=(), seconds=1)
_HERE = {"Python": "3.11.7", "feedctl": "1.0", "botocore": "1.2"}


@dataclass
class _Machines:
    """Executors that answer what they are told to; None: they do the work here."""

    answers: Sequence[ExecutorFacts] | None = None
    parallel: int = 2

    def run(
        self, work: Callable[[_Task, int], Iterable[_Answer]], tasks: Sequence[_Task], *, check: Callable[[], None]
    ) -> Iterator[_Answer]:
        check()
        if self.answers is not None:
            yield from self.answers  # type: ignore[misc]  # this fake answers one kind of work
            return
        for task in tasks:
            yield from work(task, 0)

    def close(self) -> None:
        """Nothing is held."""


def _facts(host: str, process: int = 1, error: str = "", **versions: str) -> ExecutorFacts:
    return ExecutorFacts(host=host, process=process, versions={**_HERE, **versions}, errors={"up": error})


def _found(*answers: ExecutorFacts) -> list[CheckResult]:
    return list(executor_findings(lambda: _Machines(answers), _TASK, lambda: _HERE))


def test_executors_with_the_drivers_versions_are_as_they_should_be() -> None:
    versions, store = _found(_facts("a", 1), _facts("a", 2), _facts("a", 2))
    assert (versions.status, versions.what) == (CheckStatus.OK, "a")
    assert versions.found.startswith("2 executors with Python 3.11.7, feedctl 1.0")
    assert (store.status, store.what) == (CheckStatus.OK, "a: write of up")


def test_another_feedctl_is_a_failure_and_another_package_a_warning() -> None:
    other_feedctl, _, other_package, _ = _found(_facts("a", feedctl="0.9"), _facts("b", botocore="1.1"))
    assert (other_feedctl.status, other_package.status) == (CheckStatus.FAILED, CheckStatus.WARNING)
    assert other_feedctl.found == "1 executor with feedctl 0.9 (driver: 1.0)"


def test_one_executor_of_a_host_that_differs_is_enough() -> None:
    versions, _ = _found(_facts("a", 1), _facts("a", 2, Python="3.12.1"))
    assert versions.status is CheckStatus.WARNING


def test_a_store_that_a_host_does_not_reach_is_a_failure() -> None:
    _, store = _found(_facts("a", 1), _facts("a", 2, error="no answer within 1 s"))
    assert (store.status, store.found) == (CheckStatus.FAILED, "no answer within 1 s")


def test_an_executor_tells_its_versions_and_what_it_reaches(tmp_path: Path) -> None:
    path = CanonicalPath.parse(str(tmp_path), "file:///")
    spec = StorageSpec(scheme="file")
    below_file = path.child("file").child("x")
    path_of_file = Path(path.child("file").path)
    path_of_file.write_text("x")
    places = (Place(cluster="up", path=path, spec=spec), Place(cluster="new", path=below_file, spec=spec))
    (facts,) = executor_facts(ExecutorTask(places=places, seconds=5), 0)
    assert facts.errors == {"up": "", "new": ""}
    assert (facts.versions, facts.process) == (compared_versions(), os.getppid())


def test_a_dead_store_is_told_from_the_executor() -> None:
    path = CanonicalPath("webhdfs", "127.0.0.1:1", "/")
    place = Place(cluster="dead", path=path, spec=StorageSpec(scheme="webhdfs", authority="127.0.0.1:1", user="x"))
    found = list(executor_findings(_Machines, ExecutorTask(places=(place,), seconds=5)))
    assert [each.status for each in found] == [CheckStatus.OK, CheckStatus.FAILED]
    assert "does not answer" in found[1].found
