"""The words that the text and the markdown form of a change of the config repo share."""

from __future__ import annotations

import json

from toolkit.el import format_instant
from toolkit.entities.documents import Value
from toolkit.linter.entity_diff import EntityDiff


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 entity``, ``2 entities``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def headline(diff: EntityDiff) -> str:
    """The figures in one line."""
    comparison = diff.comparison
    if diff.is_empty:
        return "no difference"
    kinds = (("added", comparison.added), ("changed", comparison.changed), ("removed", comparison.removed))
    parts = [(len(changes), what) for what, changes in kinds if changes]
    entities = ", ".join(
        f"{counted(number, 'entity', 'entities')} {what}" if first else f"{number:,} {what}"
        for first, (number, what) in zip((True, False, False), parts, strict=False)
    )
    downstream = f", {len(comparison.downstream):,} downstream" if comparison.downstream else ""
    return (entities or "no entity is different") + downstream


def danger(diff: EntityDiff) -> str:
    """What the next run of retention deletes more; empty for nothing."""
    if not diff.more_evictable:
        return ""
    verb = "becomes" if diff.more_evictable == 1 else "become"
    return f"{counted(diff.more_evictable, 'more instance')} {verb} evictable at the next run of retention"


def compared(diff: EntityDiff) -> str:
    """What was compared with what."""
    environment = "no environment" if diff.environment is None else f"environment {diff.environment}"
    dirty = " with uncommitted changes" if diff.snapshot.dirty else ""
    base, now = _short(diff.base.value), _short(diff.snapshot.value)
    return f"{diff.ref} ({base}) compared with {now}{dirty}, {environment}, at {format_instant(diff.time)}"


def value_text(value: Value, absent: str = "-") -> str:
    """A value of a document on one line."""
    if value is None:
        return absent
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(snapshot: str) -> str:
    return snapshot[: len("sha256:") + 12] if snapshot.startswith("sha256:") else snapshot[:12]
