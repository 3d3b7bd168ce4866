"""Names on stores that have keys: one name can be an object and the beginning of other keys (a "directory")."""

from __future__ import annotations

from toolkit.storage import FileKind


class SeenTwice:
    """Tells, name by name of one listing, whether a directory's name was an object's before.

    Keys are sorted, so that between an object ``a`` and the directory ``a/`` come only names that begin with ``a``:
    few have to be remembered.
    """

    def __init__(self) -> None:
        self._objects: list[str] = []

    def __call__(self, name: str, kind: FileKind) -> bool:
        """Whether the name was there before; to be asked in the listing's order."""
        while self._objects and not name.startswith(self._objects[-1]):
            self._objects.pop()
        if kind is FileKind.FILE:
            self._objects.append(name)
            return False
        return name in self._objects
