"""Fields of a late check's result besides those of any process run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.ledger.fingerprints import changes
from toolkit.process_runner.targets import ProcessTarget
from toolkit.rendering.action_result import Document
from toolkit.rendering.process import PROCESS_VIEW
from toolkit.runs.recorder import message_text

if TYPE_CHECKING:
    from toolkit.process_runner.late_checks import CheckedInstance, LateInput
    from toolkit.process_runner.targets import InstanceResult


def _instance(result: InstanceResult) -> Document:
    found = _late(result)
    return {**PROCESS_VIEW.target_document(result), "late": None if found is None else _document(found)}


def _late(result: InstanceResult) -> CheckedInstance | None:
    target = result.plan.target
    return target.late if isinstance(target, ProcessTarget) else None


def _document(found: CheckedInstance) -> Document:
    return {
        "check": None if found.due.due_at is None else format_instant(found.due.due_at),
        "is_last": found.due.is_last,
        "cause": found.cause,
        "inputs": [_input(each) for each in found.late],
    }


def _input(each: LateInput) -> Document:
    before = each.read.fingerprint
    named = changes(before, each.now)
    files = {} if named is None else {"added": named.added, "changed": named.changed, "removed": named.removed}
    return {
        "input": each.read.input,
        "feed": each.read.feed,
        "instance": each.read.instance_key,
        "path": each.read.uri,
        "files": each.now.files - before.files,
        "bytes": each.now.size - before.size,
        **{what: [message_text(name) for name in names] for what, names in files.items()},
    }


def _lines(result: InstanceResult) -> Iterator[str]:
    found = _late(result)
    if found is not None:
        yield f"late data: {found.cause}"
    yield from PROCESS_VIEW.target_lines(result)


LATE_CHECK_VIEW = replace(PROCESS_VIEW, target_document=_instance, target_lines=_lines)
