"""Check that exactly the right instances are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.eviction.trees import Tree

_NAMED_IN_A_MESSAGE = 3


class WrongTree(Exception):  # noqa: N818 - named for what was found
    """What is on the store is not what should be there: the figure of a run before it is void."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What is on the store.

    Args:
        names: of the instances, sorted, by the directory that they are in.
        files: how many there are below the root.
        directories: how many there are, the root counted.
    """

    names: Mapping[str, Sequence[str]]
    files: int
    directories: int


def empty_directories(tree: Tree, numbers: range, found: Listing) -> int:
    """How many empty directories are there besides these instances, all of which are there with their file.

    Whoever evicts makes no files. So as many files as instances are one in each.

    Args:
        tree: whose instances.
        numbers: those that have to be there.
        found: every directory that ever held an instance of the tree is listed in it.

    Raises:
        WrongTree: an instance or a file is missing, or there is one too many.
    """
    expected = tree.siblings(numbers)
    for parent in found.names.keys() | expected.keys():
        _compare(parent, found.names.get(parent, ()), expected.get(parent, ()))
    if found.files != len(numbers):
        message = f"{tree.root}: {found.files} files instead of {len(numbers)}"
        raise WrongTree(message)
    return found.directories - tree.directories(numbers)


def _compare(parent: str, found: Sequence[str], expected: Sequence[str]) -> None:
    if list(found) == list(expected):
        return
    missing, more = sorted({*expected} - {*found}), sorted({*found} - {*expected})
    message = (
        f"{parent}: {len(missing)} instances are missing {missing[:_NAMED_IN_A_MESSAGE]}, "
        f"{len(more)} should not be there {more[:_NAMED_IN_A_MESSAGE]}"
    )
    raise WrongTree(message)
