"""What several rules ask of the same config repo is answered once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from toolkit.entities.repository import Repository

T = TypeVar("T")


def once(compute: Callable[[Repository], T]) -> Callable[[Repository], T]:
    """A function that remembers its last answer: rules run one after the other over one repository.

    Args:
        compute: a pure function of a repository.
    """
    last: list[tuple[Repository, T]] = []

    def answer(repository: Repository) -> T:
        if not last or last[0][0] is not repository:
            last[:] = [(repository, compute(repository))]
        return last[0][1]

    return answer
