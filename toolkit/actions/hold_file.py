"""Hold files: a file of a fixed name in a directory of a feed keeps everything of the feed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.hold_watch import HOLD_FILE
from toolkit.storage import FileKind, NotFound

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

_MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class HoldFile:
    """A file that keeps everything of a feed.

    Attributes:
        path: of the file.
        text: what it says, or what has to be said of it; may be empty.
    """

    path: CanonicalPath
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.text else str(self.path)

    @property
    def as_reason(self) -> str:
        """The reason for which an instance stays."""
        return f"file hold {self}"

    def note(self, number: int, *, is_complete: bool = True) -> str:
        """Return in words what the hold file keeps.

        Args:
            number: so many instances would go without it.
            is_complete: all that would go was seen.
        """
        if not number:
            return f"on hold by {self}"
        would = "1 instance would go but is" if number == 1 else f"{number:,} instances would go but are"
        return f"{'' if is_complete else 'at least '}{would} held by {self.as_reason}"


def hold_file_in(bases: Iterable[CanonicalPath], storage: Callable[[CanonicalPath], FileSystem]) -> HoldFile | None:
    """Return the first hold file in some directories, or None if there is none.

    Args:
        bases: the directories.
        storage: the store that a path is on.

    Raises:
        StorageError: one of them cannot be looked into, so its holds are unknown.
    """
    for base in dict.fromkeys(bases):
        system, path = storage(base), base.child(HOLD_FILE)
        try:
            kind = system.status(path).kind
        except NotFound:
            continue
        # Reading anything but a file may never end; its name is enough of a hold.
        return HoldFile(path, _text(system, path) if kind is FileKind.FILE else f"it is a {kind}")
    return None


def _text(system: FileSystem, path: CanonicalPath) -> str:
    with system.read(path) as stream:
        return " ".join(stream.read(_MOST_TEXT).decode(errors="replace").split())
