"""Errors of executors."""

from __future__ import annotations

from toolkit.errors import Unavailable

_ENVIRONMENT = (
    "the executors need feedctl and its packages: give the packed environment with --archives and name its Python in "
    "PYSPARK_PYTHON (docs/guide.md, Running on a cluster)"
)
_SIGNS = ("No module named", "Cannot run program", "PYTHON_VERSION_MISMATCH", "minor versions", "feedctl-")


class NoSpark(Unavailable):
    """Spark's context cannot be made.

    Args:
        why: what Spark, or Python, said.
    """

    code = "no_spark"

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"Spark cannot be used: {why}; start the entrypoint with spark-submit, and see its log")


class NoExecutors(Unavailable):
    """No executor took any of the tasks for too long.

    Args:
        seconds: so long nothing went on.
        open_tasks: so many tasks were not over.
    """

    code = "no_executors"

    def __init__(self, *, seconds: float, open_tasks: int) -> None:
        self.seconds, self.open_tasks = seconds, open_tasks
        super().__init__(
            f"no executor took any of {open_tasks} tasks for {seconds:.0f} s; "
            "look whether the cluster has room for this application, then run again"
        )


class TasksFailed(Unavailable):
    """Spark gave the tasks up; what was not answered may have happened.

    Args:
        why: Spark's message, shortened.
    """

    code = "tasks_failed"

    def __init__(self, *, why: str) -> None:
        self.why = why
        hint = f"; {_ENVIRONMENT}" if any(sign in why for sign in _SIGNS) else "; run again, and see Spark's log"
        super().__init__(f"the executors failed: {why}{hint}")
