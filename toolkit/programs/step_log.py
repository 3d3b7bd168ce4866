"""The log of a step: where it is, and how its pieces are read (`supervisor.BoundedLog` writes them)."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from toolkit.el import is_name
from toolkit.errors import InvalidInput
from toolkit.programs.log_folder import UnsafeLog, opened_log

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
    """Return the folder of the logs of steps: on this machine, since a step's engine writes it as the step runs.

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


class StepRunName(NamedTuple):
    """Name of a run's step that is unique on this machine, also among several ledgers.

    Attributes:
        ledger: the identity of the ledger that the run number is of.
        run_id: one attempt at the instance, in which a step runs once.
    """

    ledger: str
    process: str
    cluster: str
    instance_key: str
    run_id: int
    step: str


class NoLogName(InvalidInput):
    """A part of the path of a log is not a name."""

    def __init__(self, *, part: str) -> None:
        super().__init__(f"{part!r} cannot be a part of the path of a log: expected a name without a slash")


def step_log(base: Path, step: StepRunName) -> Path:
    """Return the path of the log of a step; its last `MARK_NAMES` names tell the step from all others.

    Args:
        base: see `log_directory`.
        step: whose log it is.

    Raises:
        NoLogName: a part is not one name, so that the path would lead elsewhere.
    """
    *folders, name = map(str, step)
    for part in (*folders, name):
        if not is_name(part):
            raise NoLogName(part=part)
    return base.joinpath(*folders, f"{name}.log")


MARK_NAMES = len(StepRunName._fields)
"""So many names of the path of a log, from its end, are the mark of its step, wherever logs go."""


def mark_of(log: Path) -> str:
    """Return what a step is known by, whatever directory logs went to when it began."""
    return "/".join([each for each in log.parts if each != "/"][-MARK_NAMES:])


def tag_of(log: Path) -> str:
    """Return what a step's applications are tagged with on YARN, which takes at most 100 lower-case characters."""
    return f"feedctl-{hashlib.sha256(os.fsencode(mark_of(log))).hexdigest()[:32]}"


_SESSIONS = "session"


def session_folder(log: Path, owner: str | None) -> Path:
    """Return the folder of the applications that a step may share.

    Args:
        log: of the step.
        owner: process that they are named after; None: that of the step.
    """
    own = log.parents[2]
    return (own if owner is None else own.parents[1] / owner / own.name) / _SESSIONS


def session_log(log: Path, token: str, owner: str | None) -> Path:
    """Return the log of an application that steps share, which is a mark of its processes as that of a step is.

    Args:
        log: of one of the steps.
        token: name that no other application of this owner on this cluster has.
        owner: see `session_folder`.
    """
    return session_folder(log, owner) / token / "host.log"


def session_tag(log: Path, owner: str | None) -> str:
    """Return the tag on YARN of all shared applications that a step may use: any machine can tell.

    Args:
        log: of the step.
        owner: see `session_folder`.
    """
    place = "/".join(session_folder(log, owner).parts[2 - MARK_NAMES :])
    return f"feedctl-{hashlib.sha256(os.fsencode(place)).hexdigest()[:32]}"


def note_session(log: Path, shared: Path) -> None:
    """Note beside a step's log the application that it runs on, before it does.

    Raises:
        OSError: it cannot be written.
    """
    name = f"{shared.parents[3].name}/{shared.parent.name}"
    private(_session_file(log)).write_text(name, encoding="utf-8")


def forget_session(log: Path) -> None:
    """Remove the note of the application, on which nothing of the step runs any more."""
    _session_file(log).unlink(missing_ok=True)


def noted_session(log: Path) -> Path | None:
    """Return the log of the application that a step ran on when its runner died; None: none is noted."""
    try:
        with os.fdopen(opened_log(_session_file(log)), encoding="utf-8", errors="replace") as file:
            owner, _, token = file.read(_END_BYTES).partition("/")
    except (OSError, UnsafeLog):
        return None
    return session_log(log, token, owner) if is_name(owner) and is_name(token) else None


def _session_file(log: Path) -> Path:
    return log.with_name(f"{log.name}.session")


def private(file: Path) -> Path:
    """The same file, which is there from now on: with the directories above that were missing, for its owner alone.

    What a step says, and what it is told, may be about data that not every user of the machine may see.

    Raises:
        OSError: it cannot be made.
    """
    for directory in reversed(file.parents):
        if not directory.is_dir():
            directory.mkdir(mode=_FOLDER_OWNER_ONLY, exist_ok=True)
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, _OWNER_ONLY))
    return file


class StepLog:
    """A log that may still grow; it is read once, from its beginning."""

    def __init__(self, path: Path) -> None:
        self._path, self._number, self._place = path, 0, 0
        self._decoder = _UTF8("replace")

    def new_text(self) -> Iterator[str]:
        """Yield the text since the last call, in chunks; a line says so where old pieces are gone.

        Raises:
            UnsafeLog: a piece is a link, or another user's.
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
            with os.fdopen(opened_log(_piece(self._path, self._number)), "rb") as piece:
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
        with os.fdopen(opened_log(newest), "rb") as piece:
            piece.seek(max(0, os.fstat(piece.fileno()).st_size - _END_BYTES))
            return piece.read().decode("utf-8", "replace")
    except (OSError, UnsafeLog):
        return ""


def last_line(path: Path) -> str:
    """The last line that says something; empty: there is none."""
    lines = reversed(end_of(path).splitlines())
    return next((line.strip()[:300] for line in lines if line.strip()), "")


def _piece(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path
