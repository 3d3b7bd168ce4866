"""In what two tables differ: as JSON, as text for people, and as an exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.hive.table_diff import DiffKind
from toolkit.rendering.action_result import MOST_LINES, Document
from toolkit.result import ExitCode

if TYPE_CHECKING:
    from toolkit.hive.table_diff import TableDiff


def diff_exit(found: TableDiff) -> ExitCode:
    """4: something differs; 1: the state of something is unknown; 0: all is equal."""
    kinds = {each.kind for each in found.differences}
    if kinds - {DiffKind.UNKNOWN}:
        return ExitCode.PARTIAL
    return ExitCode.FAILED if kinds else ExitCode.DONE


def diff_document(feed: str, first: str, second: str, found: TableDiff) -> Document:
    """Return the whole difference."""
    return {
        "feed": feed,
        "clusters": [first, second],
        "exit_code": diff_exit(found).value,
        "partitions": found.partitions,
        "files": found.files,
        "counts": {kind.value: number for kind, number in _counts(found).items()},
        "differences": [
            {"kind": each.kind.value, "partition": each.partition, "reasons": list(each.reasons)}
            for each in found.differences
        ],
    }


def diff_lines(feed: str, first: str, second: str, found: TableDiff) -> Iterator[str]:
    """The first differences by name, and how many there are."""
    for each in found.differences[:MOST_LINES]:
        reasons = f"  ({'; '.join(each.reasons)})" if each.reasons else ""
        yield f"{each.kind:<10} {each.partition or 'the table'}{reasons}"
    left_out = len(found.differences) - MOST_LINES
    if left_out > 0:
        yield f"... {left_out:,} more; --output json names all"
    counted = ", ".join(f"{number:,} {kind}" for kind, number in _counts(found).items() if number) or "no difference"
    compared = f"{found.partitions:,} partitions and {found.files:,} files compared"
    yield f"{feed}: {second} against {first}: {counted}; {compared}"


def _counts(found: TableDiff) -> dict[DiffKind, int]:
    counts = Counter(each.kind for each in found.differences)
    return {kind: counts[kind] for kind in DiffKind}
