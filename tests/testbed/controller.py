"""The process that a test bed belongs to: a run of pytest, a benchmark, a shell."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_NAME = "feedctl-testbed-"
_START_TIME = 19  # of /proc/PID/stat, counted from the field after the command's name


@dataclass(frozen=True, kw_only=True, slots=True)
class Controller:
    """A process, told from a later one with the same number by when it started.

    Args:
        pid: its number.
        started: when, in clock ticks since the machine started.
    """

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Self:
        """The process that has the number now.

        Raises:
            OSError: none has it.
        """
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return cls(pid=pid, started=int(after_name[_START_TIME]))

    @classmethod
    def this_process(cls) -> Self:
        """The one that asks."""
        return cls.of(os.getpid())

    @property
    def is_alive(self) -> bool:
        """True if it still runs."""
        try:
            return Controller.of(self.pid) == self
        except OSError:
            return False

    @property
    def address(self) -> str:
        """Address of its supervisor: an abstract socket, which at most one process has and which dies with it."""
        return f"\0{_NAME}{self.pid}-{self.started}"

    @property
    def directory(self) -> Path:
        """Return what its servers keep on the disk."""
        return Path(tempfile.gettempdir()).resolve() / f"{_NAME}{self.pid}-{self.started}"


def left_behind(place: Path) -> list[Path]:
    """The directories there whose controllers are gone; a supervisor that was killed removed nothing."""
    named = ((each, each.name.removeprefix(_NAME).split("-")) for each in place.glob(f"{_NAME}*-*"))
    return [each for each, (pid, started) in named if not Controller(pid=int(pid), started=int(started)).is_alive]
