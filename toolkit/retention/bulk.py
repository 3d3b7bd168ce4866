"""Removing many items at once by the bulk call of a store without directories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.retention.gate import STOPPED, CalledOff, Gate, Refusal
from toolkit.retention.one_by_one import Answers, answered
from toolkit.retention.removed import Removed
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.errors import Stopped
from toolkit.storage import Begun, StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.storage import FileSystem

_WORDS: Mapping[str, str] = {
    SkipReason.HELD: "the feed was put on hold",
    SkipReason.STOPPED: "the run was told to stop",
}


@dataclass(frozen=True, kw_only=True)
class Bulk:
    """Removes items in bulk.

    Attributes:
        storage: the store that a path is on.
        gate: asked before each call; the store asks the run before each request of its own.
        first: the feed's availability flag, which goes before the rest of an instance; empty: it has none.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    gate: Gate
    first: str

    def remove(self, items: Sequence[PlanItem]) -> list[Removed]:
        """Remove items of one base; one that fails is named, and the others go."""
        base = items[0].base
        refusal = self.gate.refusal(base, must_look=True)
        if refusal is not None:
            return [Removed(refusal.of(item)) for item in items]
        with self.gate.bulk(base), Begun() as begun:
            return self._remove(items, base, begun)

    def _remove(self, items: Sequence[PlanItem], base: CanonicalPath, begun: Begun) -> list[Removed]:
        system, before = self.storage(base), self.gate.effects
        answers: Answers = {}
        refusal: Refusal | None = None
        try:
            for path, error in system.delete_all([item.path for item in items], below=base, first=self.first):
                answers[path] = error
                # A hold that is found here stops the store's next change; what is under way is still answered.
                self.gate.hold(base)
        except StorageError as error:
            answers |= {item.path: error for item in items if item.path not in answers}
        except CalledOff as called_off:
            refusal = called_off.refusal
        except Stopped as stopped:
            self.gate.stop(stopped)
            refusal = STOPPED
        is_touched = self.gate.effects != before
        return [
            answered(item, answers, system, self.gate)
            if item.path in answers or refusal is None
            else _called_off(item, refusal, is_touched=is_touched and begun.may_have(item.path))
            for item in items
        ]


def _called_off(item: PlanItem, refusal: Refusal, *, is_touched: bool) -> Removed:
    """An item without an answer; nobody asks the store about each, since a run that is stopped must end soon."""
    if not is_touched:
        return Removed(refusal.of(item))
    code = refusal.code if refusal.why else "interrupted"
    why = refusal.why or _WORDS.get(refusal.code, refusal.code)
    message = f"{item.path}: called off, since {why}; it may be removed in part, which the next run sees"
    return Removed(ItemResult.failed(item, code, message), is_open=True)
