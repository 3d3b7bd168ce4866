"""A file that gets the result, for places where exit code and output are lost."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.result_store import result_place
from toolkit.cli.streams import encoded
from toolkit.el import CanonicalPath, without_credentials
from toolkit.errors import Failed, InvalidInput
from toolkit.storage import FileKind, FileSystem, NotFound, PermissionDenied, StorageError, WrongKind, find_status

RESULT_FILE = "--result-file"


class BadResultFile(InvalidInput):
    """A result file that cannot be written; found out before anything is touched.

    Args:
        place: as the user gave it.
        why: what is wrong with it.
        option: that names it.
    """

    def __init__(self, *, place: str, why: str, option: str = RESULT_FILE) -> None:
        self.place, self.why, self.option = place, why, option
        todo = "give a path, or a URI (file:, hdfs:, s3a: ...), in a directory that exists"
        super().__init__(f"{option} {place}: {why}; {todo}")


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
        place: on any store that feedctl has an adapter for.
        system: that store.
        option: that names it.
    """

    place: CanonicalPath
    system: FileSystem
    option: str = RESULT_FILE

    @classmethod
    def parse(cls, text: str, repo: RepoRequest, option: str = RESULT_FILE) -> ResultFile:
        """The file that an option names; its store is looked at now, before anything is touched.

        Args:
            text: a path on this machine, or a URI.
            repo: the config repo; its clusters know how their stores are reached.
            option: the option.

        Raises:
            InvalidInput: no store that can be written to, or no directory to write into.
            Unavailable: the store does not answer.
        """
        place = result_place(_place(text, option), repo)
        file = cls(place=place.path, system=place.opened(), option=option)
        try:
            file.refuse_unusable(text)
        except (PermissionDenied, WrongKind) as error:
            raise BadResultFile(place=text, why=str(error), option=option) from error
        return file

    def refuse_unusable(self, text: str) -> None:
        """Find out what can be known without writing; a store without directories has at least a root, its bucket.

        Args:
            text: as the user named the file.

        Raises:
            BadResultFile: it cannot be written there.
            StorageError: the store refuses, or does not answer.
        """
        has_directories = self.system.capabilities.directories
        parent = self.place.parent if has_directories else replace(self.place, path="/")
        if not _is_directory(self.system, parent):
            why = f"{parent} is no {'directory' if has_directories else 'bucket'}"
            raise BadResultFile(place=text, why=why, option=self.option)
        if self.place.scheme == "file" and not os.access(parent.path, os.W_OK | os.X_OK):
            why = f"the user of this run may not write into {parent}"
            raise BadResultFile(place=text, why=why, option=self.option)
        if _is_directory(self.system, self.place):
            raise BadResultFile(place=text, why="it is a directory", option=self.option)

    def write(self, pieces: Iterable[str]) -> None:
        """Write the result, which is whole lines.

        Raises:
            ResultFileNotWritten: it could not be written; one that was there before is unchanged.
        """
        try:
            # Stores send each chunk by itself, and a result has a piece for each item.
            self.system.write(self.place, [b"".join(map(encoded, pieces))])
        except StorageError as error:
            raise ResultFileNotWritten(place=self.place, reason=str(error)) from error


def _is_directory(system: FileSystem, path: CanonicalPath) -> bool:
    """A link to a directory is one as well: what is below the link can be written."""
    if path.scheme == "file" and Path(path.path).is_symlink():
        return Path(path.path).is_dir()
    found = find_status(system, path)
    return found is not None and found.kind is FileKind.DIRECTORY


def read_file(text: str, repo: RepoRequest, option: str, most_bytes: int) -> bytes:
    """Read a file that an option names, on any store; of a longer one, one byte more than the most.

    Raises:
        InvalidInput: it cannot be read.
        Unavailable: its store does not answer.
    """
    place = result_place(_place(text, option), repo)
    try:
        with place.opened().read(place.path) as stream:
            found = bytearray()
            while len(found) <= most_bytes and (piece := stream.read(1 << 20)):
                found += piece
    except (NotFound, PermissionDenied, WrongKind) as error:
        raise UnreadableFile(option=option, why=str(error)) from error
    return bytes(found)


class UnreadableFile(InvalidInput):
    """A file that an option names and that cannot be read.

    Args:
        option: the option.
        why: what the storage said.
    """

    def __init__(self, *, option: str, why: str) -> None:
        self.option, self.why = option, why
        super().__init__(f"{option}: {why}; give the path or the URI of a file")


def _place(text: str, option: str) -> CanonicalPath:
    is_uri = "://" in text or text.startswith("file:")
    try:
        place = CanonicalPath.parse(text if is_uri else str(Path(text).absolute()), "file:///")
    except InvalidInput as error:
        raise BadResultFile(place=without_credentials(text), why=str(error), option=option) from error
    if place.path == "/":
        raise BadResultFile(place=text, why="it is a directory", option=option)
    return place
