"""Which directories of a plan go as a whole (DESIGN section 7): only those that are known to hold nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.retention.plan import PlanItem, Subtree, names_text

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.entities import LocationType

FEWEST, MOST = 2, 5_000
"""So many instances go with one directory: one goes by itself as well, and of too many nobody sees how far it is."""


@dataclass(frozen=True, slots=True)
class WholeRange:
    """A directory that was seen to hold nothing but the instances from `begin` to before `end`, as they were found."""

    root: CanonicalPath
    location: LocationType
    begin: int
    end: int


def subtrees(wholes: Sequence[WholeRange], stays: Sequence[int], items: Sequence[PlanItem]) -> tuple[Subtree, ...]:
    """The topmost directories all of whose instances go, in the order of the items.

    Args:
        wholes: directories in the order in which a walk leaves them: what is inside one comes before it.
        stays: positions of the found instances that stay, rising.
        items: of the plan of one feed, sorted.
    """
    found = (_subtree(whole, items) for whole in _topmost(wholes, stays))
    return tuple(sorted((each for each in found if each is not None), key=lambda each: each.begin))


def _topmost(wholes: Sequence[WholeRange], stays: Sequence[int]) -> Iterator[WholeRange]:
    """Backwards, a directory comes before what is inside it, and that is passed over once the directory is taken."""
    taken_from: int | None = None
    for whole in reversed(wholes):
        if taken_from is not None and whole.begin >= taken_from:
            continue
        do_all_go = bisect_left(stays, whole.begin) == bisect_left(stays, whole.end)
        if do_all_go and FEWEST <= whole.end - whole.begin <= MOST:
            taken_from = whole.begin
            yield whole


def _subtree(whole: WholeRange, items: Sequence[PlanItem]) -> Subtree | None:
    """Where the directory's instances are among the items; None when something else of the plan is in it as well."""
    first_inside = (whole.location, f"{names_text(whole.root)}\0")
    begin = bisect_left(items, first_inside, key=lambda item: (item.location, names_text(item.path)))
    end = begin + whole.end - whole.begin
    inside = [0 <= at < len(items) and items[at].path.is_within(whole.root) for at in (begin - 1, begin, end - 1, end)]
    return Subtree(root=whole.root, begin=begin, end=end) if inside == [False, True, True, False] else None
