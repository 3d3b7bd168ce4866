"""The log of a step: where it is, and how its pieces are read (`supervisor.BoundedLog` writes them)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolkit.errors import InvalidInput

DIRECTORY_VARIABLE = "FEEDCTL_LOG_DIR"
"""Environment variable: where logs of steps go, for all processes."""

_OWNER_ONLY, _FOLDER_OWNER_ONLY = 0o600, 0o700
_CHUNK = 1 << 16
_END_BYTES = 4096
_UTF8 = codecs.getincrementaldecoder("utf-8")


class NoPlaceForLogs(InvalidInput):
    """Nothing says where the logs of steps go."""

    def __init__(self) -> None:
        super().__init__(f"no directory for the logs of steps: neither {DIRECTORY_VARIABLE} nor HOME is set")


def log_directory(environment: Mapping[str, str]) -> Path:
    """Where the logs of steps go: on this machine, since a step's engine writes it as the step speaks.

    Raises:
        NoPlaceForLogs: the environment does not say.
    """
    if given := environment.get(DIRECTORY_VARIABLE):
        return Path(given).absolute()
    if state := environment.get("XDG_STATE_HOME"):
        return Path(state).absolute() / "feedctl" / "logs"
    if home := environment.get("HOME"):
        return Path(home).absolute() / ".local" / "state" / "feedctl" / "logs"
    raise NoPlaceForLogs


def step_log(base: Path, run: tuple[str, str, str, int], step: str) -> Path:
    """The log of a step of a run.

    Args:
        base: see `log_directory`.
        run: process, cluster, instance key, and what tells its attempts apart.
        step: its name.
    """
    return base.joinpath(*map(str, run), f"{step}.log")


def private(file: Path) -> Path:
    """The same file, which is there from now on: with the directories above that were missing, for its owner alone.

    What a step says, and what it is told, may be about data that not every user of the machine may see.

    Raises:
        OSError: it cannot be made.
    """
    for directory in reversed(file.parents):
        if not directory.is_dir():
            directory.mkdir(mode=_FOLDER_OWNER_ONLY, exist_ok=True)
    file.touch(mode=_OWNER_ONLY)
    return file


class StepLog:
    """A log that may still grow; it is read once, from its beginning."""

    def __init__(self, path: Path) -> None:
        self._path, self._number, self._place = path, 0, 0
        self._decoder = _UTF8("replace")

    def new_text(self) -> Iterator[str]:
        """What came since the last call, in chunks; where old pieces are gone, a line says so.

        Raises:
            OSError: a piece cannot be read.
        """
        while True:
            yield from self._rest_of_piece()
            later = [number for number in pieces(self._path) if number > self._number]
            if not later:
                return
            yield from self._rest_of_piece()  # what was written just before the next piece was begun
            if later[0] != self._number + 1:
                yield f"\nfeedctl: {later[0] - self._number - 1} pieces of the log were dropped here\n"
            self._number, self._place = later[0], 0

    def _rest_of_piece(self) -> Iterator[str]:
        try:
            with _piece(self._path, self._number).open("rb") as piece:
                piece.seek(self._place)
                while octets := piece.read(_CHUNK):
                    self._place += len(octets)
                    yield self._decoder.decode(octets)
        except FileNotFoundError:
            return  # not yet begun, or dropped while it was read


def pieces(path: Path) -> tuple[int, ...]:
    """The numbers of a log's pieces after the first, oldest first."""
    pattern = re.compile(re.escape(path.name) + r"\.([0-9]+)")
    names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    return tuple(sorted(int(found[1]) for name in names if (found := pattern.fullmatch(name))))


def end_of(path: Path) -> str:
    """The last few thousand characters; empty: there is no log."""
    newest = _piece(path, max(pieces(path), default=0))
    try:
        with newest.open("rb") as piece:
            piece.seek(max(0, newest.stat().st_size - _END_BYTES))
            return piece.read().decode("utf-8", "replace")
    except OSError:
        return ""


def last_line(path: Path) -> str:
    """The last line that says something; empty: there is none."""
    lines = reversed(end_of(path).splitlines())
    return next((line.strip()[:300] for line in lines if line.strip()), "")


def _piece(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path
