"""The changes of a snapshot mirror, as a dry run shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from toolkit.mirror.changes import MirrorStep

if TYPE_CHECKING:
    from toolkit.mirror.model import MirrorPlan


class _Change(NamedTuple):
    action: str
    path: str
    origin: str | None = None
    bytes: int | None = None

    @property
    def text(self) -> str:
        size = "" if self.bytes is None else f" ({self.bytes:,} bytes)"
        return f"{self.action} {f'{self.origin} to ' if self.origin else ''}{self.path}{size}"


def mirror_document(plan: MirrorPlan) -> dict[str, object]:
    """Return a plan for JSON."""
    state = plan.state
    actions = [each._asdict() for each in _changes(plan)]
    return {"snapshot": state.snapshot, "base": state.base or None, "work": state.work.value, "actions": actions}


def mirror_lines(plan: MirrorPlan) -> Iterator[str]:
    """Yield a summary of a plan, then a line for each change."""
    state, changes = plan.state, list(_changes(plan))
    since = f"since {state.base}" if state.base else "of the target as it is"
    yield f"mirror: {len(changes):,} changes {since}, {plan.bytes:,} bytes to copy ({state.work})"
    yield from (each.text for each in changes)


def _changes(plan: MirrorPlan) -> Iterator[_Change]:
    """Yield the changes of data; attributes of what is copied or made go with it."""
    modified = plan.moved - {each.origin for each in plan.operations if each.step is MirrorStep.MOVE}
    origins = {each.path: each.origin for each in plan.operations if each.step is MirrorStep.PLACE}
    made = {each.path for each in plan.operations if each.step is MirrorStep.MAKE}
    for step, path, origin, entry in plan.operations:
        if step is MirrorStep.COPY and entry is not None:
            is_new = origins.get(path) not in modified and path not in plan.removed
            yield _Change("copy" if is_new else "replace", path, bytes=entry.size)
        elif step is MirrorStep.OUT and path in plan.removed - plan.placed:
            yield _Change("remove", path)
        elif step is MirrorStep.MOVE:
            yield _Change("rename", path, origin)
        elif step is MirrorStep.MAKE:
            yield _Change("mkdir", path)
        elif step is MirrorStep.ATTRIBUTES and path not in made:
            yield _Change("attributes", path)
