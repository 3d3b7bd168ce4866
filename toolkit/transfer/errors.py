"""Errors of copies, and of executors that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolkit.errors import Failed, Unavailable
from toolkit.storage import StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.transfer.plan import Copied

MOST_NAMED = 20
"""So many failed files of a unit are named at most."""
_NOTHING: Mapping[str, str] = MappingProxyType({})
_ENVIRONMENT = (
    "the executors need feedctl and its packages: give the packed environment with --archives and name its Python in "
    "PYSPARK_PYTHON (docs/how-to/yarn.md)"
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


class CopyDiffers(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Error for a copy whose names and sizes are not the planned ones."""

    code = "copy_differs"
    text = "the copy is not what was planned, so it was thrown away; run again"


class FilesFailed(StorageError, Failed):  # noqa: N818
    """Some files of a unit could not be copied, so that the unit was not published.

    Args:
        path: of the unit.
        failed: the results of these copies.
        copied: digests of the others, by their names in the unit, as far as all were tried.
        names: of the failed files in the unit.
    """

    code = "files_failed"
    text = "was not published"

    def __init__(
        self,
        *,
        path: CanonicalPath,
        failed: Sequence[Copied],
        copied: Mapping[str, str] = _NOTHING,
        names: Sequence[str] = (),
    ) -> None:
        self.failed, self.copied, self.names = tuple(failed), copied, frozenset(names)
        count = "1 file" if len(failed) == 1 else f"{len(failed)} files"
        more = ", ..." if len(names) > MOST_NAMED else ""
        all_of_them = f"; all: {', '.join(names[:MOST_NAMED])}{more}" if len(names) > 1 else ""
        super().__init__(path=path, detail=f"{count} failed, the first: {failed[0].message}{all_of_them}")


class NotReadAgain(FilesFailed):
    """Error for files that could not be read to their end, so that it is unknown whether two copies are the same."""

    code = "not_read_again"
    text = "could not be read again"


class NotSettled(Unreachable):
    """Error for a unit whose files were being exchanged when the store refused both to go on and to go back."""

    text = "it is aside, under a name of feedctl's own, and the store refuses to put it back; the next run tries again"
