"""Contents of an instance on either side, and the files that have to be copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el import EPOCH, is_name
from toolkit.replication.targets import CopyReason
from toolkit.storage import OWN_PREFIX, FileKind, NotFound

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.el.segment import Segment
    from toolkit.ledger.manifests import Manifest, ManifestFile
    from toolkit.replication.targets import CopyRules
    from toolkit.storage import FileSystem
    from toolkit.transfer.trees import Tree, TreeFile


def selected(system: FileSystem, root: CanonicalPath, parts: Sequence[Segment]) -> Iterator[CanonicalPath]:
    """The directories below an instance that a partition expression selects; without one the instance itself."""
    if not parts:
        yield root
        return
    try:
        found = [entry.name for entry in system.list(root) if entry.kind is FileKind.DIRECTORY]
    except NotFound:
        return
    for name in found:
        is_data = is_name(name) and not name.startswith(OWN_PREFIX)
        if is_data and parts[0].match(name) is not None:
            yield from selected(system, root.child(name), parts[1:])


class UnitDifference(NamedTuple):
    """Difference between the two sides of a unit.

    Attributes:
        copied: names that the target has not, or not like that, each with the reason.
        extra: names that only the target has.
    """

    copied: Mapping[str, CopyReason]
    extra: frozenset[str]


def difference(
    wanted: Tree, present: Tree | None, rules: CopyRules, step: timedelta, recorded: Manifest | None = None
) -> UnitDifference:
    """Compare by kind and size, and by time: that which the ledger has of the source's file, else that of the target's.

    Args:
        wanted: at the source.
        present: at the target.
        rules: with ``overwrite`` nothing is the same; with ``rehash`` all that may be is a `CopyReason.DIGEST`, until
            it was read.
        step: to which the target's store keeps times.
        recorded: what the ledger has of the unit; None: nothing.
    """
    there: Tree = present or {}
    copied: dict[str, CopyReason] = {}
    for name, entry in wanted.items():
        reason = _reason(entry, there.get(name), rules)
        if reason is None and entry.kind is FileKind.FILE:
            reason = (
                _reason_by_time(entry, there[name], step)
                if recorded is None
                else _reason_by_record(entry, recorded.get(name))
            )
        if reason is not None:
            copied[name] = reason
    return UnitDifference(copied, frozenset(there) - frozenset(wanted))


def _reason(wanted: TreeFile, present: TreeFile | None, rules: CopyRules) -> CopyReason | None:
    """Why a name is copied, whatever its time; None: that does not say."""
    if present is None or wanted.kind is not present.kind:
        return CopyReason.NEW
    if rules.overwrite:
        return CopyReason.OVERWRITE
    if wanted.size != present.size:
        return CopyReason.SIZE
    return CopyReason.DIGEST if rules.rehash and wanted.kind is FileKind.FILE else None


def _reason_by_record(wanted: TreeFile, known: ManifestFile | None) -> CopyReason | None:
    if known is None:
        return CopyReason.UNRECORDED
    return None if known.modified == wanted.modified else CopyReason.TIME


def _reason_by_time(wanted: TreeFile, present: TreeFile, step: timedelta) -> CopyReason | None:
    if wanted.modified is None or present.modified is None:
        return None
    return CopyReason.NEWER if _steps(present.modified, step) < _steps(wanted.modified, step) else None


def _steps(moment: datetime, step: timedelta) -> int:
    return (moment - EPOCH) // step
