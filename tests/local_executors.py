"""An `ExecutorPool` without other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from typing_extensions import override

from toolkit.transfer.port import Answer, ExecutorPool, Task, Work


@dataclass(frozen=True, kw_only=True)
class LocalExecutorPool(ExecutorPool):
    """Works on one task after the other in this process."""

    parallel: int = 1

    @override
    def run(self, work: Work[Task, Answer], tasks: Sequence[Task], *, check: Callable[[], None]) -> Iterator[Answer]:
        for task in tasks:
            check()
            yield from work(task, 0)
