"""Results of a verification: as JSON, as text for people, and as an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.actions.verification import BEING_COPIED, VerifyStatus
from toolkit.rendering.action_result import MOST_LINES, Document, problem_document
from toolkit.result import ExitCode

if TYPE_CHECKING:
    from toolkit.actions.verification import VerifiedInstance


def verification_exit(found: Sequence[VerifiedInstance]) -> ExitCode:
    """Return 4 for a difference, 1 if unknown, 75 for an equal unit that is being copied, 0 if all is equal."""
    if any(each.is_different for each in found):
        return ExitCode.PARTIAL
    problems = {each.problem.code for each in found if each.problem is not None}
    if problems - {BEING_COPIED} or any(each.counts.get(VerifyStatus.UNREADABLE) for each in found):
        return ExitCode.FAILED
    return ExitCode.NOT_YET if problems else ExitCode.DONE


def verification_document(feed: str, found: Sequence[VerifiedInstance]) -> Document:
    """Return the whole result."""
    return {
        "feed": feed,
        "exit_code": verification_exit(found).value,
        "files": sum(each.files for each in found),
        "bytes": sum(each.bytes for each in found),
        "instances": [_instance(each) for each in found],
    }


def _instance(found: VerifiedInstance) -> Document:
    return {
        "cluster": found.target.cluster,
        "source": found.target.counterpart,
        "instance": found.target.instance_key,
        "path": str(found.target.target),
        "files": found.files,
        "bytes": found.bytes,
        "compared_with_source": found.by_source,
        "counts": {status.value: found.counts.get(status, 0) for status in VerifyStatus},
        "differences": [
            {"path": str(each.path), "verdict": each.status.value, "message": each.message} for each in found.findings
        ],
        "problem": problem_document(found.problem),
    }


def verification_lines(feed: str, found: Sequence[VerifiedInstance]) -> Iterator[str]:
    """Yield the problems, the first files of each instance by name, and the number of compared files."""
    for each in found:
        where = f"{feed} on {each.target.cluster} {each.target.instance_key}, from {each.target.counterpart}"
        if each.problem is not None:
            yield f"{where}: {each.problem.code}: {each.problem.message}"
        if each.counts:
            counted = ", ".join(f"{number:,} {status}" for status, number in each.counts.items())
            yield f"{where}: {counted}; {each.files:,} files were compared"
            yield from (f"  {one.status:<10} {one.path}  ({one.message})" for one in each.findings[:MOST_LINES])
            left_out = sum(each.counts.values()) - MOST_LINES
            if left_out > 0:
                yield f"  ... {left_out:,} more; --output json names {len(each.findings):,}"
    if not found:
        yield f"{feed}: nothing was copied in this range, so there is nothing to compare"
        return
    well = sum(each.is_well for each in found)
    files, size, by_source = (sum(each) for each in zip(*((e.files, e.bytes, e.by_source) for e in found), strict=True))
    note = f"; {by_source:,} of them were compared with the source, since the ledger has no digest" if by_source else ""
    yield f"{well:,} of {len(found):,} instances are as they were copied; {files:,} files, {size:,} bytes read{note}"
