"""Items of a plan file, and what a reviewer is shown of them: what happens to each, why, and what is in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from toolkit.actions.approval import BadPlanFile
from toolkit.actions.model import D, I, T, TargetPlan, WorkItem

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemReview:
    """Facts about an item for who reviews a plan.

    Attributes:
        effect: what happens to it, in one or two words, so that items can be counted by it.
        destination: where it goes to; empty: nowhere.
        reason: why.
        content: what is in it, in words; a run that applies the file leaves the item when it differs by then. Empty:
            the item's identity tells.
        is_unknown: what is in it could not be seen, so that a run that applies a file leaves the item; not in the file.
        bytes: size of the content; None: unknown.
    """

    effect: str = ""
    destination: str = ""
    reason: str = ""
    content: str = ""
    is_unknown: bool = False
    bytes: int | None = None


@runtime_checkable
class ReviewedAction(Protocol[T, I, D]):
    """Action that tells more of its items than their identity."""

    def review(self, plan: TargetPlan[T, I, D], work: RunContext) -> Sequence[ItemReview]:
        """Return what is to be seen of each item of a plan; looks into the stores, so it is for plan files only."""
        ...


ReviewOf: TypeAlias = "Callable[[TargetPlan[Any, Any, Any]], Sequence[ItemReview]]"
"""Returns what is to be seen of each item of a plan."""


def no_review(plan: TargetPlan[T, I, D]) -> Sequence[ItemReview]:
    """Return that nothing is known of the items of a plan but their identity."""
    return [ItemReview()] * len(plan.items)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileItem:
    """Item of a plan file; a `WorkItem`. What it shows for a review does not make it another item."""

    kind: str
    instance_key: str
    uri: str
    identity: tuple[str, ...]
    shown: ItemReview = field(default=ItemReview(), compare=False)

    @classmethod
    def of(cls, item: WorkItem, shown: ItemReview = ItemReview()) -> FileItem:
        """Return an item of a plan in the form that a file has."""
        identity = tuple(str(part) for part in item.identity)
        return cls(kind=str(item.kind), instance_key=item.instance_key, uri=item.uri, identity=identity, shown=shown)

    @classmethod
    def parse(cls, found: object) -> FileItem:
        """Parse an item.

        Raises:
            BadPlanFile: it has another form.
        """
        match found:
            case {
                "kind": str(kind),
                "instance": str(key),
                "uri": str(uri),
                "identity": [*identity],
                "effect": str(effect),
                "destination": str(destination),
                "reason": str(reason),
                "content": str(content),
                "bytes": int() | None as size,
            }:
                texts = tuple(each for each in identity if isinstance(each, str))
                shown = ItemReview(effect=effect, destination=destination, reason=reason, content=content, bytes=size)
                return cls(kind=kind, instance_key=key, uri=uri, identity=texts, shown=shown)
            case _:
                raise BadPlanFile(why="an item has not the fields of an item")

    @property
    def document(self) -> dict[str, object]:
        """The item in JSON."""
        shown = self.shown
        return {
            "kind": self.kind,
            "instance": self.instance_key,
            "uri": self.uri,
            "identity": list(self.identity),
            "effect": shown.effect,
            "destination": shown.destination,
            "reason": shown.reason,
            "content": shown.content,
            "bytes": shown.bytes,
        }

    def __str__(self) -> str:
        return f"{self.kind} {self.uri}"
