"""What is in an instance on either side, and what of it has to be copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el import is_name
from toolkit.storage import FileKind, NotFound

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.el.segment import Segment
    from toolkit.replication.targets import CopyRules
    from toolkit.storage import FileSystem
    from toolkit.transfer.trees import Tree, TreeFile


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def selected(system: FileSystem, root: CanonicalPath, parts: Sequence[Segment]) -> Iterator[CanonicalPath]:
    """The directories below an instance that a partition expression selects; without one the instance itself."""
    if not parts:
        yield root
        return
    try:
        names = [entry.name for entry in system.list(root) if entry.kind is FileKind.DIRECTORY and is_name(entry.name)]
    except NotFound:
        return
    for name in names:
        if parts[0].match(name) is not None:
            yield from selected(system, root.child(name), parts[1:])


class Difference(NamedTuple):
    """What tells two sides of a unit apart.

    Attributes:
        copied: names that the target has not, or not like that.
        extra: names that only the target has.
    """

    copied: frozenset[str]
    extra: frozenset[str]


def difference(wanted: Tree, present: Tree | None, rules: CopyRules, step: timedelta) -> Difference:
    """Compare by kind, size and time: a file of the same size that is not older than the source's is the same.

    Args:
        wanted: at the source.
        present: at the target.
        rules: with ``overwrite`` nothing is the same.
        step: to which the target's store keeps times.
    """
    if present is None or rules.overwrite:
        return Difference(frozenset(wanted), frozenset(present or ()) - frozenset(wanted))
    copied = frozenset(name for name, entry in wanted.items() if not _is_same(entry, present.get(name), step))
    return Difference(copied, frozenset(present) - frozenset(wanted))


def _is_same(wanted: TreeFile, present: TreeFile | None, step: timedelta) -> bool:
    if present is None or (wanted.kind, wanted.size) != (present.kind, present.size):
        return False
    if wanted.modified is None or present.modified is None:
        return True
    return _steps(present.modified, step) >= _steps(wanted.modified, step)


def _steps(moment: datetime, step: timedelta) -> int:
    return (moment - _EPOCH) // step
