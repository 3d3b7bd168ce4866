"""A plan file for people: as text, and as markdown for a pull request. All of its texts may come from anybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.printable import on_one_line
from toolkit.rendering.markdown import code, details, prose, table

if TYPE_CHECKING:
    from toolkit.actions.plan_file import FileItem, FilePlan, PlanFile

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
        yield from (f"  {' '.join(part for part in _columns(each, plan) if part)}" for each in plan.items)
    yield f"plan {file.digest}"


def plan_markdown(file: PlanFile) -> Iterator[str]:
    """Yield the plan as markdown: a summary, and the items of each target to unfold."""
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
    }
    yield from table(("", ""), [(name, code(value, _WHOLE)) for name, value in facts.items()])
    yield ""
    for plan in file.plans:
        yield f"### {prose(_label(plan))}"
        yield ""
        yield prose(_counted(plan))
        yield ""
        yield from (f"- {prose(note)}" for note in plan.notes)
        yield ""
        rows = [tuple(code(part, _WHOLE) for part in _columns(each, plan)) for each in plan.items]
        if rows:
            yield from details("items", table(("kind", "instance", "place", "also"), rows))


def _label(plan: FilePlan) -> str:
    target = plan.target
    source = f" from {target.counterpart}" if target.counterpart else ""
    return f"{plan.label}{source}, {target.instance_key}"


def _counted(plan: FilePlan) -> str:
    counts = Counter(each.kind for each in plan.items)
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items())) or "nothing to do"


def _columns(item: FileItem, plan: FilePlan) -> tuple[str, str, str, str]:
    """Return the kind, the instance, the place, and what else makes the item what it is."""
    shown = {*item.kind.split(":"), item.instance_key, item.uri, *plan.sort_key}
    return item.kind, item.instance_key, item.uri, " ".join(each for each in item.identity if each not in shown)
