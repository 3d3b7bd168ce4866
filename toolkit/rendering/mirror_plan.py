"""The changes of a mirror, as a dry run shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.mirror.diff import MirrorDiff


def mirror_document(diff: MirrorDiff) -> dict[str, object]:
    """Return the changes for JSON."""
    return {**diff.facts, "actions": [each._asdict() for each in diff.changes()]}


def mirror_lines(diff: MirrorDiff) -> Iterator[str]:
    """Yield a summary of the changes, then a line for each."""
    changes = list(diff.changes())
    yield f"mirror: {len(changes):,} changes {diff.basis}"
    yield from (each.text for each in changes)
