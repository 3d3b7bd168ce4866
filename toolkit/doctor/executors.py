"""Checks that Spark's executors have what the driver has, and reach what it reaches."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.doctor.findings import CheckResult, failed, ok, warning
from toolkit.doctor.machine import compared_versions
from toolkit.errors import FeedctlError
from toolkit.storage import NotFound, StorageSpec, open_file_system
from toolkit.storage.calls import BoundedCalls, NoAnswer

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.transfer.port import ExecutorPool

_STAY_SECONDS = 0.5
"""So long a task keeps its core busy at least, so that no core takes two and leaves another host unseen."""

_MUST_BE_ALIKE = frozenset({"feedctl"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A store that executors must reach.

    Attributes:
        cluster: whose end point it is.
        path: of the end point.
        spec: opens the store.
    """

    cluster: str
    path: CanonicalPath
    spec: StorageSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutorTask:
    """Task of an executor."""

    places: tuple[Place, ...]
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutorFacts:
    """Answer of one executor.

    Attributes:
        host: its machine.
        process: number of the process that starts its Python workers.
        versions: by package.
        errors: by cluster, why its store can't be reached from there; empty texts: it can.
    """

    host: str
    process: int
    versions: Mapping[str, str]
    errors: Mapping[str, str]


def executor_facts(task: ExecutorTask, attempt: int) -> Iterable[ExecutorFacts]:
    """Yield what this executor has installed and can reach."""
    del attempt
    begun = time.monotonic()
    errors = {place.cluster: _error_at(place, task.seconds) for place in task.places}
    time.sleep(max(0.0, begun + _STAY_SECONDS - time.monotonic()))
    yield ExecutorFacts(host=socket.gethostname(), process=os.getppid(), versions=compared_versions(), errors=errors)


def executor_findings(
    machines: Callable[[], ExecutorPool],
    task: ExecutorTask,
    here: Callable[[], Mapping[str, str]] = compared_versions,
) -> Iterator[CheckResult]:
    """Yield one finding for the versions of each executor host, and one for each store from there.

    Args:
        machines: makes the executors ready, which takes seconds.
        task: what they are asked.
        here: the versions of the driver.

    Raises:
        NoSpark: there is no Spark.
        NoExecutors: none of them took a task.
        TasksFailed: they could not work; usually feedctl is not there.
    """
    ready = machines()
    answers = list(ready.run(executor_facts, [task] * ready.parallel, check=_no_check))
    for host in sorted({answer.host for answer in answers}):
        on_host = [answer for answer in answers if answer.host == host]
        yield _versions_finding(host, on_host, here())
        yield from _store_findings(host, on_host)


def _no_check() -> None:
    """Nothing stops the job but its own time limit."""


def _versions_finding(host: str, answers: Sequence[ExecutorFacts], here: Mapping[str, str]) -> CheckResult:
    count = len({answer.process for answer in answers})
    differing = {
        f"{name} {answer.versions.get(name, 'missing')} (driver: {wanted})": name
        for answer in answers
        for name, wanted in here.items()
        if answer.versions.get(name) != wanted
    }
    executors = f"{count} executor{'s' if count > 1 else ''}"
    if not differing:
        listed = ", ".join(f"{name} {found}" for name, found in here.items())
        return ok(f"{executors} with {listed}, as the driver", what=host)
    todo = "give driver and executors the same environment, for example the packed one with --archives"
    kind = failed if _MUST_BE_ALIKE & set(differing.values()) else warning
    return kind(f"{executors} with {', '.join(sorted(differing))}", todo=todo, what=host)


def _store_findings(host: str, answers: Sequence[ExecutorFacts]) -> Iterator[CheckResult]:
    for cluster in sorted({cluster for answer in answers for cluster in answer.errors}):
        errors = sorted({answer.errors[cluster] for answer in answers if answer.errors.get(cluster)})
        what = f"{host}: write of {cluster}"
        if errors:
            yield failed(
                errors[0], todo="let that host reach the store, with the same settings and identity", what=what
            )
        else:
            yield ok("answers from there", what=what)


def _error_at(place: Place, seconds: float) -> str:
    try:
        BoundedCalls(seconds).run(lambda: open_file_system(place.spec, read_only=True, patience=0).status(place.path))
    except NotFound as error:
        return str(error) if place.path.path == "/" else ""
    except NoAnswer:
        return f"no answer within {seconds:g} s"
    except FeedctlError as error:
        return str(error)
    return ""
