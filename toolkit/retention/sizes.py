"""Sizes of plans, computed only when a limit bounds bytes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice
from typing import TYPE_CHECKING

from toolkit.retention.plan import FORGOTTEN, ItemKind
from toolkit.storage import NotFound, StorageError
from toolkit.threads import WorkerPool, worker_pool

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import FeedPlan, PlanItem
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)
_WEIGHTLESS = FORGOTTEN | {ItemKind.EMPTY_DIRECTORY, ItemKind.QUARANTINED}
"""A purge is in no limit of bytes: its data counted when they were evicted."""
_AHEAD = 256
"""So many are asked for before the sum is looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """Sizes of plans, as far as they are known.

    Attributes:
        excess: what is too much, in words; None: what could be weighed is within the limit.
        unknown: why a feed could not be weighed, by its label, when others could.
    """

    excess: str | None = None
    unknown: Mapping[str, StorageError] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SizeCheck:
    """Weighs plans: asked only when `max_delete` bounds bytes, since each instance costs a call.

    Attributes:
        storage: the store that a path is on.
        check: called before each few calls; what it raises ends the weighing.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]

    def of(self, plans: Iterable[FeedPlan], limit: int) -> Sizes:
        """Return the excess, and the feeds of unknown size; those do not stop the others.

        Args:
            plans: of all feeds of the run.
            limit: bytes.
        """
        total, unknown, is_any_known = 0, dict[str, StorageError](), False
        for plan in plans:
            before = total
            try:
                for size in self._sizes(plan):
                    total += size
                    if total > limit:
                        return Sizes(excess=f"at least {total:,} bytes")
            except StorageError as error:
                _LOG.warning('event=weighing_failed code=%s path="%s"', error.code, error.path)
                unknown[plan.label], total = error, before
            else:
                is_any_known = is_any_known or bool(plan.items)
        if unknown and not is_any_known:
            # An unknown size may be any; so nothing is removed before a user has looked.
            return Sizes(excess=f"an unknown number of bytes ({next(iter(unknown.values()))})")
        return Sizes(unknown=unknown)

    def _sizes(self, plan: FeedPlan) -> Iterator[int]:
        yield from (file.bytes for item in plan.items for file in item.files)
        for base, of_base in groupby(_pieces(plan), key=lambda piece: piece[1]):
            system = self.storage(base)
            with worker_pool(system.capabilities.parallel, "feedctl-listing") as threads:
                paths = (path for path, _ in of_base)
                while ahead := list(islice(paths, _AHEAD)):
                    self.check()
                    yield from _weights(system, ahead, threads)


def _weights(system: FileSystem, paths: Sequence[CanonicalPath], threads: WorkerPool | None) -> Iterator[int]:
    if threads is None:
        return (_weight(system, path) for path in paths)
    answers = [threads.submit(partial(_weight, system, path)) for path in paths]
    return (answer.result() for answer in answers)


def _weight(system: FileSystem, path: CanonicalPath) -> int:
    try:
        return system.content_summary(path).size
    except NotFound:
        return 0


def _pieces(plan: FeedPlan) -> Iterator[tuple[CanonicalPath, CanonicalPath]]:
    """Yield the paths to weigh with their bases: whole directories where they go whole; an empty one has no size."""
    begin = 0
    for subtree in plan.detail.subtrees:
        yield from _each(plan.items[begin : subtree.begin])
        yield subtree.root, plan.items[subtree.begin].base
        begin = subtree.end
    yield from _each(plan.items[begin:])


def _each(items: Iterable[PlanItem]) -> Iterator[tuple[CanonicalPath, CanonicalPath]]:
    return ((item.path, item.base) for item in items if item.type not in _WEIGHTLESS)
