"""Where a result goes: standard output, and a file for places where exit code and output are lost."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from toolkit.cli.printing import encoded
from toolkit.el import CanonicalPath
from toolkit.errors import Failed, InvalidInput
from toolkit.storage import FileKind, NotFound, StorageError, StorageSpec, open_file_system


class BadResultFile(InvalidInput):
    """A result file that cannot be written; found out before anything is touched.

    Args:
        place: as the user gave it.
        why: what is wrong with it.
    """

    def __init__(self, *, place: str, why: str) -> None:
        self.place, self.why = place, why
        super().__init__(f"--result-file {place}: {why}; give a path, or a file: URI, in a directory that exists")


class ResultFileNotWritten(Failed):
    """The run is over, but its result could not be written to the file.

    Args:
        place: the file.
        reason: what the storage said.
    """

    def __init__(self, *, place: CanonicalPath, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"the run is over, but its result could not be written to {place}: {reason}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultFile:
    """A file that gets the JSON form of a result, all of it or nothing.

    Attributes:
        place: on a file system of this machine.
    """

    place: CanonicalPath

    @classmethod
    def parse(cls, text: str) -> ResultFile:
        """The file that `--result-file` names.

        Raises:
            BadResultFile: another scheme than `file`, or no directory to write into.
        """
        place = _place(text)
        system = open_file_system(StorageSpec(scheme="file"), read_only=True)
        if not Path(place.parent.path).is_dir():
            raise BadResultFile(place=text, why=f"{place.parent} is no directory")
        if not os.access(place.parent.path, os.W_OK | os.X_OK):
            raise BadResultFile(place=text, why=f"the user of this run may not write into {place.parent}")
        try:
            kind = system.status(place).kind
        except NotFound:
            return cls(place=place)
        if kind is FileKind.DIRECTORY:
            raise BadResultFile(place=text, why="it is a directory")
        return cls(place=place)

    def write(self, text: str) -> None:
        """Write the result.

        Raises:
            ResultFileNotWritten: it could not be written; one that was there before is unchanged.
        """
        try:
            open_file_system(StorageSpec(scheme="file")).write(self.place, [encoded(text)])
        except StorageError as error:
            raise ResultFileNotWritten(place=self.place, reason=str(error)) from error


def _place(text: str) -> CanonicalPath:
    scheme = text.partition(":")[0] if "://" in text or text.startswith("file:") else ""
    if scheme not in {"", "file"}:
        raise BadResultFile(place=text, why=f"scheme {scheme} is not supported yet")
    try:
        place = CanonicalPath.parse(text if scheme else str(Path(text).absolute()), "file:///")
    except InvalidInput as error:
        raise BadResultFile(place=text, why=str(error)) from error
    if place.path == "/":
        raise BadResultFile(place=text, why="it is a directory")
    return place
