"""Files of `feedctl export`: their comparison with the expected content, and their writing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path, PurePosixPath

from toolkit.errors import Failed, InvalidInput
from toolkit.plain_files import read_plain, replace_file
from toolkit.schedules.actions import Schedule
from toolkit.schedules.cron import with_block
from toolkit.schedules.files import Files, mark_in


class ForeignFiles(InvalidInput):
    """Files of other origin where generated ones belong.

    Args:
        files: their paths.
    """

    def __init__(self, *, files: Iterable[Path]) -> None:
        self.files = tuple(files)
        shown = ", ".join(map(str, self.files))
        super().__init__(f"{shown}: found what `feedctl export` has not written for this environment; move it away")


class LinkBelowFolder(InvalidInput):
    """A symbolic link below the folder of an export, which would have files elsewhere written and removed.

    Args:
        link: its path.
    """

    def __init__(self, *, link: Path) -> None:
        self.link = link
        super().__init__(
            f"{link}: found a link, expected a folder or file of the export; nothing was written; remove the link, or"
            " give the folder that it leads to by --into"
        )


class ExportNotWritten(Failed):
    """A file could not be read or written; those before it are as they should be.

    Args:
        file: its path.
        reason: what the system said.
    """

    def __init__(self, *, file: Path, reason: str) -> None:
        self.file, self.reason = file, reason
        super().__init__(f"{file}: {reason}; nothing is half written, start it again when that is right")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A file that is not what it should be.

    Attributes:
        file: its path.
        before: its text; None: it is not there.
        after: what it should be; None: it should not be there.
    """

    file: Path
    before: str | None
    after: str | None

    def diff(self) -> Iterator[str]:
        """Return the difference, as lines."""
        before, after = (text.splitlines() if text else [] for text in (self.before, self.after))
        name = str(self.file)
        old, new = os.devnull if self.before is None else name, os.devnull if self.after is None else name
        return (f"{line}\n" for line in unified_diff(before, after, old, new, lineterm=""))

    def make(self) -> None:
        """Write or remove the file, all of it or nothing.

        Raises:
            ExportNotWritten: the system refuses.
        """
        try:
            _remove(self.file) if self.after is None else _write(self.file, self.after)
        except OSError as error:
            raise ExportNotWritten(file=self.file, reason=error.strerror or str(error)) from error


def crontab_changes(schedule: Schedule, file: Path) -> tuple[Change, ...]:
    """Return the changes to a crontab, which may not exist yet.

    Raises:
        InvalidInput: the schedule cannot be said, or the marks in the file are not in order.
        ExportNotWritten: it cannot be read.
    """
    target = file.resolve()
    before = _read(target)
    after = with_block(before or "", schedule, str(file))
    return () if before == after else (Change(file=target, before=before, after=after),)


def folder_changes(files: Files, folder: Path) -> tuple[Change, ...]:
    """Return the changes to a folder: first the files to write, then the old ones to remove.

    Raises:
        LinkBelowFolder: something below the folder is a link.
        ForeignFiles: something else stands where files belong.
        ExportNotWritten: one cannot be read.
    """
    _require_no_link(folder, [*files.texts, files.schedule.environment])
    there = {name: _read(folder / name) for name in files.texts}
    foreign = [
        folder / name for name, text in there.items() if text is not None and not files.may_replace(mark_in(text))
    ]
    if foreign:
        raise ForeignFiles(files=foreign)
    written = [
        Change(file=folder / name, before=there[name], after=text)
        for name, text in files.texts.items()
        if there[name] != text
    ]
    return (*written, *_stale(files, folder))


def make(changes: Sequence[Change]) -> None:
    """Make all changes.

    Raises:
        ExportNotWritten: the system refuses one.
    """
    for each in changes:
        each.make()


def _require_no_link(folder: Path, names: Iterable[str]) -> None:
    """Refuse links on the way to files of the export; the folder itself is the user's to choose."""
    for name in sorted({part for each in names for part in _parents_and_itself(each)}):
        if (folder / name).is_symlink():
            raise LinkBelowFolder(link=folder / name)


def _parents_and_itself(name: str) -> Iterator[str]:
    yield name
    yield from (each.as_posix() for each in PurePosixPath(name).parents if each.name)


def _stale(files: Files, folder: Path) -> Iterator[Change]:
    for file in sorted((folder / files.schedule.environment).rglob("*")):
        name = file.relative_to(folder).as_posix()
        is_other = name in files.texts or file.suffix not in {".py", ".xml"} or file.is_symlink()
        text = None if is_other or not file.is_file() else _read(file)
        if text is not None and files.may_replace(mark_in(text)):
            yield Change(file=file, before=text, after=None)


def _read(file: Path) -> str | None:
    try:
        return read_plain(file, _MOST_BYTES).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ExportNotWritten(file=file, reason=error.strerror or str(error)) from error


_MOST_BYTES = 64 << 20


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, text.encode("utf-8", "surrogateescape"))


def _remove(file: Path) -> None:
    file.unlink(missing_ok=True)
    with suppress(OSError):  # there is more in it
        file.parent.rmdir()
