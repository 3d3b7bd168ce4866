"""Changes that a run of a mirror would make, as a dry run shows them: the same for every type of mirrors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol


class MirrorChange(NamedTuple):
    """A change of a target.

    Attributes:
        action: ``copy``, ``remove`` and the like.
        path: below the directory of the mirror, or the name of what changes.
        origin: of a rename, the path before.
        bytes: of what is copied.
    """

    action: str
    path: str
    origin: str | None = None
    bytes: int | None = None

    @property
    def text(self) -> str:
        """The change in words."""
        size = "" if self.bytes is None else f" ({self.bytes:,} bytes)"
        return f"{self.action} {f'{self.origin} to ' if self.origin else ''}{self.path}{size}"


class MirrorDiff(Protocol):
    """Plan of a run of a mirror, of any type."""

    @property
    def facts(self) -> Mapping[str, object]:
        """Further values of the plan for JSON; the keys are in the schema of the document."""
        ...

    @property
    def basis(self) -> str:
        """The state that the target is compared with, and the amount to copy, in words."""
        ...

    def changes(self) -> Iterator[MirrorChange]:
        """Yield the changes, in the order of a run."""
        ...
