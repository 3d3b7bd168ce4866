"""How many bytes a plan removes: asked only when `max_delete` bounds them, since each instance costs a call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from typing import TYPE_CHECKING

from toolkit.retention.listing_threads import ListingThreads, listing_threads
from toolkit.retention.plan import ItemKind
from toolkit.storage import NotFound, StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import FeedPlan, PlanItem
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

_AHEAD = 256
"""So many are asked for before the sum is looked at."""


@dataclass(frozen=True, kw_only=True)
class Scales:
    """Weighs plans.

    Attributes:
        storage: the store that a path is on.
        check: called before each few calls; what it raises ends the weighing.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]

    def overweight(self, plans: Iterable[FeedPlan], limit: int) -> str | None:
        """What is too much, in words; None: all together is known and within the limit.

        Args:
            plans: of all feeds of the run.
            limit: bytes.
        """
        total = 0
        try:
            for size in self._sizes(plans):
                total += size
                if total > limit:
                    return f"at least {total:,} bytes"
        except StorageError as error:
            # An unknown weight may be any; so nothing goes before somebody has looked.
            _LOG.warning('event=weighing_failed code=%s path="%s"', error.code, error.path)
            return f"an unknown number of bytes ({error})"
        return None

    def _sizes(self, plans: Iterable[FeedPlan]) -> Iterator[int]:
        pieces = (piece for plan in plans for piece in _pieces(plan))
        for base, of_base in groupby(pieces, key=lambda piece: piece[1]):
            system = self.storage(base)
            with listing_threads(system.capabilities.parallel) as threads:
                paths = (path for path, _ in of_base)
                while ahead := list(islice(paths, _AHEAD)):
                    self.check()
                    yield from _weights(system, ahead, threads)


def _weights(system: FileSystem, paths: Sequence[CanonicalPath], threads: ListingThreads | None) -> Iterator[int]:
    if threads is None:
        return (_weight(system, path) for path in paths)
    answers = [threads.submit(partial(_weight, system, path)) for path in paths]
    return (answer() for answer in answers)


def _weight(system: FileSystem, path: CanonicalPath) -> int:
    try:
        return system.content_summary(path).size
    except NotFound:
        return 0


def _pieces(plan: FeedPlan) -> Iterator[tuple[CanonicalPath, CanonicalPath]]:
    """What to weigh, each with its base: whole directories where they go whole. An empty directory weighs nothing."""
    begin = 0
    for subtree in plan.subtrees:
        yield from _each(plan.items[begin : subtree.begin])
        yield subtree.root, plan.items[subtree.begin].base
        begin = subtree.end
    yield from _each(plan.items[begin:])


def _each(items: Iterable[PlanItem]) -> Iterator[tuple[CanonicalPath, CanonicalPath]]:
    return ((item.path, item.base) for item in items if item.kind is not ItemKind.EMPTY_DIRECTORY)
