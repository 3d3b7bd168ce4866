"""Groups of processes that share Spark applications: each process exists, and is in one group."""

from collections.abc import Collection, Iterator, Sequence

from toolkit.entities.nearest import suggestion
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind


def session_findings(groups: Sequence[Sequence[str]], processes: Collection[str]) -> Iterator[Violation]:
    """Yield the findings about `shared_sessions` of `repo.yaml`.

    Args:
        groups: of names.
        processes: names of all processes, also of those that have problems of their own.
    """
    found_in: dict[str, int] = {}
    for number, group in enumerate(groups, start=1):
        for index, name in enumerate(group):
            message, hint = "", ""
            if name not in processes:
                message = f"found the process {name!r}, expected one under {Kind.PROCESS.folder}/"
                hint = suggestion(name, processes)
            elif name in found_in:
                message = f"the process {name} is in the groups {found_in[name]} and {number}, expected one group"
                hint = "keep it in one of them, or make one group of both"
            found_in.setdefault(name, number)
            if message:
                pointer = ("shared_sessions", number - 1, index)
                yield Violation(pointer=pointer, rule="bad-session-group", message=message, hint=hint)
