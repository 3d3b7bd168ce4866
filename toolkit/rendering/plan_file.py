"""A plan file for people: as text, and as markdown for a pull request. All of its texts may come from anybody."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.printable import on_one_line
from toolkit.rendering.markdown import code, details, prose, table

if TYPE_CHECKING:
    from toolkit.actions.plan_file import FilePlan, PlanFile
    from toolkit.actions.plan_item import FileItem

_DIGEST = re.compile("[0-9a-f]{64}")
_OPEN = 20
"""So many items of a target are shown without unfolding."""
_WHOLE = 1 << 20
"""Characters of a path that are shown: a reviewer has to see where it ends."""


def plan_lines(file: PlanFile) -> Iterator[str]:
    """Yield the plan as text: what it is for, each target with its items, the digest last."""
    return map(on_one_line, _lines(file))


def _lines(file: PlanFile) -> Iterator[str]:
    yield f"plan of {file.action} at {file.nominal_time}, made by {file.user} at {file.created_at}"
    yield f"environment: {file.environment or 'none'}; config repo: {file.snapshot}; {file.tool}"
    if file.refusal is not None:
        yield f"over a limit: {file.refusal}"
    for plan in file.plans:
        yield f"{_label(plan)}: {_counted(plan)}"
        yield from (f"  note: {note}" for note in plan.notes)
        yield from (f"  {_item_line(each, plan)}" for each in plan.items)
    yield f"plan {file.digest}"


def plan_markdown(file: PlanFile) -> Iterator[str]:
    """Yield the plan as markdown: a summary, and the items of each target; many of them to unfold."""
    yield f"## Plan of {prose(file.action)} at {prose(file.nominal_time)}"
    yield ""
    if file.refusal is not None:
        yield f"**Over a limit:** {prose(file.refusal)}"
        yield ""
    facts = {
        "made by": file.user,
        "made at": file.created_at,
        "environment": file.environment or "none",
        "config repo": file.snapshot,
        "made with": file.tool,
        "plan": file.digest,
        "file": file.checksum,
    }
    yield from table(("", ""), [(name, code(value, _WHOLE)) for name, value in facts.items()])
    yield ""
    for plan in file.plans:
        yield f"### {prose(_label(plan))}"
        yield ""
        yield prose(_counted(plan))
        yield ""
        yield from (f"- {prose(note)}" for note in plan.notes)
        yield from [""] if plan.notes else []
        rows = table(("item", "what happens", "content", "why", "where"), [_row(each, plan) for each in plan.items])
        if len(plan.items) > _OPEN:
            yield from details(f"{len(plan.items):,} items", rows)
        elif plan.items:
            yield from rows
            yield ""


def _label(plan: FilePlan) -> str:
    target = plan.target
    source = f" from {target.counterpart}" if target.counterpart else ""
    return f"{plan.label}{source}, {target.instance_key}"


def _counted(plan: FilePlan) -> str:
    """Return how many items there are by what happens to them, and how much that is as far as it is known."""
    counts = Counter(_effect(each) for each in plan.items)
    sizes = [each.shown.bytes for each in plan.items if each.shown.bytes is not None]
    size = f"; {sum(sizes):,} bytes" if sizes else ""
    return (", ".join(f"{number:,} {effect}" for effect, number in sorted(counts.items())) or "nothing to do") + size


def _effect(item: FileItem) -> str:
    return item.shown.effect or item.kind


def _name(item: FileItem) -> str:
    return f"{item.kind} {item.instance_key}".rstrip()


def _reason(item: FileItem, plan: FilePlan) -> str:
    """Return why; of an action that does not tell, the rest of the identity, without digests."""
    if item.shown.reason or item.shown.effect:
        return item.shown.reason
    shown = {*item.kind.split(":"), item.instance_key, item.uri, *plan.sort_key}
    return " ".join(each for each in item.identity if each not in shown and not _DIGEST.fullmatch(each))


def _item_line(item: FileItem, plan: FilePlan) -> str:
    shown = item.shown
    facts = "; ".join(part for part in (shown.content, _reason(item, plan)) if part)
    to = f" to {shown.destination}" if shown.destination else ""
    return f"{_effect(item)}: {_name(item)} {item.uri}{to}{f' ({facts})' if facts else ''}"


def _row(item: FileItem, plan: FilePlan) -> tuple[str, ...]:
    """Return the cells of an item: what it is, what happens to it, what is in it, why, and where."""
    shown = item.shown
    to = f" to {code(shown.destination, _WHOLE)}" if shown.destination else ""
    return (
        code(_name(item), _WHOLE),
        prose(_effect(item), in_cell=True),
        prose(shown.content, in_cell=True),
        prose(_reason(item, plan), in_cell=True),
        f"{code(item.uri, _WHOLE)}{to}",
    )
