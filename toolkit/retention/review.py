"""Facts about the items of an eviction for who reviews it: what happens to each, why, and what is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from toolkit.actions.plan_item import ItemReview
from toolkit.el import format_instant
from toolkit.retention.plan import EVICTED, ItemKind
from toolkit.storage import Entry, FileKind, NotFound, StorageError, WrongKind
from toolkit.threads import worker_pool

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import FeedPlan, PlanItem
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

_WITH_CONTENT = frozenset({ItemKind.INSTANCE, ItemKind.STAGED, ItemKind.PARTITION_DATA})
"""Kinds of items whose files are looked at: late data in them is no part of the plan."""
_EFFECTS = {
    ItemKind.PARTITION: "dropped from the metastore",
    ItemKind.PARTITION_ENTRY: "dropped from the metastore, its data stays",
    ItemKind.QUARANTINED: "deleted from quarantine",
}
_REASONS = {
    ItemKind.PENDING_DELETE: "rest of a removal that was killed",
    ItemKind.EMPTY_DIRECTORY: "old, and nothing is in it",
    ItemKind.PARTITION_DATA: "data of the partitions before it",
    ItemKind.QUARANTINED: "its time in quarantine is over",
}


@dataclass(frozen=True, kw_only=True)
class RetentionReview:
    """Looks at the items of a plan: one listing for each instance, so it is for plan files only.

    Attributes:
        storage: the store that a path is on.
        check: called before each listing; what it raises ends the look.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]

    def of(self, plan: FeedPlan) -> list[ItemReview]:
        """Return what is to be seen of each item."""
        found: list[ItemReview] = []
        for base, same in groupby(plan.items, key=lambda item: item.base):
            found += self._of_base(list(same), plan.target, self.storage(base))
        return found

    def _of_base(self, items: Sequence[PlanItem], target: FeedTarget, system: FileSystem) -> list[ItemReview]:
        found: dict[int, ItemReview] = {}

        def look(at: int) -> None:
            self.check()
            found[at] = _review(items[at], target, system)

        with worker_pool(system.capabilities.parallel, "feedctl-listing") as threads:
            if threads is None:
                for at in range(len(items)):
                    look(at)
            else:
                threads.run_all(look, range(len(items)))
        return [found[at] for at in range(len(items))]


def _review(item: PlanItem, target: FeedTarget, system: FileSystem) -> ItemReview:
    is_unknown = False
    try:
        content, size = _content(item, system)
    except StorageError as error:
        content, size, is_unknown = f"unknown ({error.code})", None, True
    effect, destination = _EFFECTS.get(item.type, "deleted"), item.archive
    if item.type is ItemKind.PARTITION and item.files:
        effect = "deleted from the table"
    if item.archive is not None:
        effect = f"archived, then {effect}"
    elif item.quarantine is not None and item.type is not ItemKind.QUARANTINED:
        effect, destination = "moved into quarantine", item.quarantine
    age = f"older than {target.limit}: before {format_instant(target.policy.horizon)}"
    unpublished = f"never published, and {age}" if item.type is ItemKind.STAGED else ""
    return ItemReview(
        effect=effect,
        destination="" if destination is None else str(destination),
        reason=age if item.type in EVICTED else _REASONS.get(item.type, unpublished),
        content=content,
        is_unknown=is_unknown,
        bytes=size,
    )


def _content(item: PlanItem, system: FileSystem) -> tuple[str, int | None]:
    if item.files:
        size = sum(each.bytes for each in item.files)
        return _words(len(item.files), size), size
    return listed_content(item.path, system) if item.type in _WITH_CONTENT else ("", None)


def listed_content(path: CanonicalPath, system: FileSystem) -> tuple[str, int | None]:
    """Return in words how many files are at and below a path, of how many bytes, how new and which; and the bytes.

    The last word is a digest of names, sizes and times: a file that replaces another one may be as large, and not new.

    Raises:
        StorageError: it cannot be listed.
    """
    files = size = 0
    listed = hashlib.sha256()
    newest: datetime | None = None
    try:
        for each in _entries(system, path):
            if each.kind is not FileKind.DIRECTORY:
                files, size = files + 1, size + each.size
            text = f"{each.name}\0{each.kind}\0{each.size}\0{each.modified}\0"
            listed.update(text.encode(errors="surrogateescape"))
            if each.modified is not None:
                newest = each.modified if newest is None else max(newest, each.modified)
    except NotFound:
        return "nothing", None
    time = "" if newest is None else f", newest of {newest.isoformat().replace('+00:00', 'Z')}"
    which = f", listing {listed.hexdigest()[:16]}" if files else ""
    return f"{_words(files, size)}{time}{which}", size


def _words(files: int, size: int) -> str:
    return f"{files:,} file{'' if files == 1 else 's'}, {size:,} bytes"


def _entries(system: FileSystem, path: CanonicalPath) -> Iterator[Entry]:
    try:
        yield from system.list_tree(path)
    except WrongKind:  # the instance is one file
        found = system.status(path)
        yield Entry(path.name, found.kind, found.size, found.modified)
