"""Other machines that work for a run: Spark executors behind a port that knows neither Spark nor deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")

Work: TypeAlias = Callable[[Task, int], Iterable[Answer]]
"""Work of a machine on a task: a function of a module, so that it can be sent, as can tasks and answers.

Its second argument counts the attempts at the same task from 0: a machine that died may have done all of it but answer.
"""

FILE_BYTES = 256 * 1024
"""A file costs as much as so many bytes besides its own: opening, closing and naming it."""


class ExecutorPool(Protocol):
    """Machines that work on tasks at once. An adapter needs nothing of this package: it knows no task from another."""

    @property
    def parallel(self) -> int:
        """Return the number of tasks that run at once; at least 1."""
        ...

    def run(self, work: Work[Task, Answer], tasks: Sequence[Task], *, check: Callable[[], None]) -> Iterator[Answer]:
        """Work on tasks, each by itself; a task that its machine lost is tried again, as attempt 1, 2 and so on.

        Called from any thread of this process, and by one at a time. All answers of one task come from one attempt
        at it; two attempts at the same task never run at once by intention (no speculation).

        Args:
            work: is called on the other machines, once for each attempt at a task.
            tasks: small values; each may take minutes.
            check: called here at least once a second while tasks are under way. What it raises cancels them: none
                begins any more, those under way are ended as far as that can be done, and the error goes on to the
                caller. Closing the iterator cancels them too.

        Yields:
            The answers, in any order, as soon as they are known here; at the latest when all tasks are over.

        Raises:
            Unavailable: the machines are lost, or a task failed too often. What was not answered may have happened.
        """
        ...
