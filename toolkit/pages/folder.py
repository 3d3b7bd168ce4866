"""Folder of pages: a page is written when it differs, as a whole, and removed only if it was written by feedctl."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolkit.errors import Failed, InvalidInput
from toolkit.foreign_json import BadJson, parse_json
from toolkit.plain_files import NotPlain, read_plain, replace_file

if TYPE_CHECKING:
    from io import BufferedWriter

MANIFEST = ".feedctl-pages"
"""File with a line of JSON for each page; the last line of a path counts."""
_PATH = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*/){0,3}[A-Za-z0-9_-][A-Za-z0-9_.-]*\.(?:html|css|js)")
_SAFE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_MANIFEST, _MOST_PAGE = 256 << 20, 64 << 20


class FolderTaken(InvalidInput):
    """Error for a folder that has files and no pages of feedctl, so that it must not be written to."""

    code = "not_a_page_folder"

    def __init__(self, *, folder: Path) -> None:
        super().__init__(f"{folder} is or has a file that `feedctl page` did not write; name a new or an empty folder")


class PagesNotWritten(Failed):
    """Error for a folder that cannot be written, or is written by another process now."""

    code = "pages_not_written"

    def __init__(self, *, folder: Path, reason: str) -> None:
        super().__init__(f"the pages in {folder} were not all written: {reason}; run the command again")


def page_name(text: str) -> str:
    """Return a file name for any text; names of entities stay as they are."""
    is_safe = _SAFE_NAME.fullmatch(text) is not None
    return text if is_safe else f"_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


class _Record(NamedTuple):
    """A page in the manifest: digests of what it was made from and of its text."""

    inputs: str
    text: str


@dataclass(kw_only=True)
class PageFolder:
    """Folder of pages that one process writes.

    Attributes:
        path: of the folder.
        written: pages that were written.
        removed: pages that were removed.
    """

    path: Path
    written: int = 0
    removed: int = 0
    _known: dict[str, _Record] = field(default_factory=dict)
    _current: dict[str, _Record] = field(default_factory=dict)
    _manifest: BufferedWriter

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[PageFolder]:
        """Open a folder, which is made if it is missing; at the end, remove the pages that were not kept.

        Raises:
            FolderTaken: it has other files, and no pages.
            PagesNotWritten: another process writes to it, or the file system refuses.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / MANIFEST).exists() and any(path.iterdir()):
                raise FolderTaken(folder=path)
            with _locked(path), os.fdopen(os.open(path / MANIFEST, _APPEND, 0o644), "ab") as manifest:
                known = dict(_records(read_plain(path / MANIFEST, _MOST_MANIFEST, follow=False)))
                folder = cls(path=path, _known=known, _manifest=manifest)
                yield folder
                folder._finish()
        except BlockingIOError as error:
            raise PagesNotWritten(folder=path, reason="another process writes them now") from error
        except OSError as error:
            raise PagesNotWritten(folder=path, reason=error.strerror or str(error)) from error

    @property
    def pages(self) -> int:
        """Number of pages that are kept."""
        return len(self._current)

    def keep(self, path: str, inputs: str, *below: str) -> bool:
        """Keep a page that was made from these inputs; return False if there is none, so that it has to be written.

        Args:
            path: of the page.
            inputs: digest of what it was made from.
            below: folders, each with a slash at its end, of further pages that are made together with it.
        """
        record = self._known.get(path)
        if record is None or not inputs or record.inputs != inputs:
            return False
        paths = [path, *(each for folder in below for each in self._by_folder.get(folder, ()))]
        if not all((self.path / each).is_file() for each in paths):
            return False
        self._current.update((each, self._known[each]) for each in paths)
        return True

    def has(self, path: str) -> bool:
        """Return whether a page was kept or written."""
        return path in self._current

    @cached_property
    def _by_folder(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._known:
            found.setdefault(path[: path.rfind("/") + 1], []).append(path)
        return found

    def write(self, path: str, text: str, inputs: str = "") -> None:
        """Write a page, unless this text is there already.

        Args:
            path: from the root of the pages; its folder is made.
            text: of the page.
            inputs: digest of what it was made from.

        Raises:
            FolderTaken: a file is there that feedctl did not write.
            OSError: it cannot be written, or lies in a folder that is a link.
        """
        content = text.encode("utf-8", "replace")
        record, place = _Record(inputs, hashlib.sha256(content).hexdigest()), self.path / path
        found = _digest_of(place)
        if found != record.text:
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.parent.resolve().is_relative_to(self.path.resolve()):
                raise NotPlain(path=place.parent, found="is a link to another folder")
            if found and path not in self._known:
                raise FolderTaken(folder=place)
            self._note(path, record._replace(inputs=""))  # so that the next run knows the page if this one is killed
            replace_file(place, content)
            self.written += 1
        self._note(path, record)
        self._current[path] = record

    def _note(self, path: str, record: _Record) -> None:
        if record != self._known.get(path):
            self._manifest.write(_line(path, record))
            self._manifest.flush()

    def _finish(self) -> None:
        """Remove the pages that were not kept and write the manifest anew if it has other lines.

        A file that was changed since feedctl wrote it stays.
        """
        for path in sorted(self._known.keys() - self._current.keys()):
            place = self.path / path
            is_below = place.parent.resolve().is_relative_to(self.path.resolve())
            if is_below and _digest_of(place) == self._known[path].text:
                place.unlink()
                self.removed += 1
                with suppress(OSError):
                    place.parent.rmdir()
        if self._current != self._known:
            replace_file(self.path / MANIFEST, b"".join(_line(*each) for each in sorted(self._current.items())))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other writers of its pages; the manifest, which is replaced, cannot be the lock."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _line(path: str, record: _Record) -> bytes:
    return json.dumps([path, *record]).encode() + b"\n"


def _records(content: bytes) -> Iterator[tuple[str, _Record]]:
    """Yield the pages of a manifest; what is no page below the folder is left out, so that it is never removed."""
    for line in content.splitlines():
        with suppress(BadJson):
            match parse_json(line):
                case [str(path), str(inputs), str(text)] if _PATH.fullmatch(path):
                    yield path, _Record(inputs, text)
                case _:
                    continue


def _digest_of(path: Path) -> str:
    """Return the digest of a page that is there; empty: there is none."""
    try:
        return hashlib.sha256(read_plain(path, _MOST_PAGE, follow=False)).hexdigest()
    except OSError:
        return ""
