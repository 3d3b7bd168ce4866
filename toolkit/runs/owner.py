"""The process that owns a run: its mark in the ledger, by which another on the same machine sees that it is gone.

Only what is certain counts as gone: then nothing it had begun can go on, and nothing waits for its leases. A process
that may live, because it is stopped, hidden, in another container or on another machine, has until its lease expires.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from toolkit.ledger.runs.rows import Run

_ENDED = frozenset({b"Z", b"X", b"x"})
"""States of a thread that runs no instruction any more: a zombie, and one that is being put away."""
_HIGHEST_PID = 1 << 22
"""Linux gives none above (PID_MAX_LIMIT)."""
_STARTED_AT = 19
"""The place of `starttime` behind the name of the program, in /proc/PID/stat (proc_pid_stat(5))."""


class _Thread(NamedTuple):
    state: bytes
    started_at: str


@dataclass(frozen=True, kw_only=True)
class ProcessTable:
    """The processes of this machine, as far as this one sees them.

    Attributes:
        proc: the system's view of them; where there is none (macOS) nothing is ever known.
        pid: of this process.
        host: the name of this machine.
        signal: sends a process a signal.
    """

    proc: Path = Path("/proc")
    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=socket.gethostname)
    signal: Callable[[int, int], None] = os.kill

    def own_mark(self) -> str | None:
        """Return a mark of this process: the boot, the namespaces in which its number counts, its start.

        None: it cannot be known here.
        """
        place = self._place()
        if place is None:
            return None
        try:
            return f"{place} {_thread(self.proc / str(self.pid) / 'stat').started_at}"
        except OSError:
            return None

    def is_gone(self, run: Run) -> bool:
        """Return whether the process that owns a run has ended for certain, with all its threads."""
        return self.has_ended(host=run.host, pid=run.pid, mark=run.owner_mark)

    def has_ended(self, *, host: str | None, pid: int | None, mark: str | None) -> bool:
        """Return whether a process has ended for certain, with all its threads.

        Args:
            host: name of its machine.
            pid: its number.
            mark: see `own_mark`.
        """
        if mark is None or pid is None or not 0 < pid <= _HIGHEST_PID or host != self.host:
            return False
        place, _, started_at = mark.rpartition(" ")
        return bool(place) and place == self._place() and self._has_ended(pid, started_at)

    def _place(self) -> str | None:
        """Return the scope in which process numbers and start times mean the same as here; None: it is unknown."""
        try:
            if (self.proc / "self").readlink().name != str(self.pid):
                return None  # /proc is that of another namespace
            boot = (self.proc / "sys/kernel/random/boot_id").read_text().strip()
            pids = (self.proc / "self/ns/pid").readlink()
        except OSError:
            return None
        return f"{boot} {pids} {self._time_namespace()}" if boot else None

    def _time_namespace(self) -> str:
        """Starts are told in the time of who looks (time_namespaces(7)); an older kernel has one time for all."""
        try:
            return str((self.proc / "self/ns/time").readlink())
        except FileNotFoundError:
            return "-"

    def _has_ended(self, pid: int, started_at: str) -> bool:
        """A process that `/proc` hides from this user is there for a signal all the same."""
        try:
            self.signal(pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass  # of another user, so there is one; if it may be looked at, its start says which
        try:
            if _thread(self.proc / str(pid) / "stat").started_at != started_at:
                return True  # its number has gone to another one
            # A main thread may be a zombie while another is still in a call of the kernel.
            threads = [_thread(each / "stat") for each in (self.proc / str(pid) / "task").iterdir()]
        except OSError:
            return False
        return bool(threads) and all(each.state in _ENDED for each in threads)


def _thread(stat: Path) -> _Thread:
    """Return the state and start of a thread; the name of its program may have blanks and parentheses.

    Raises:
        OSError: it is not to be seen, or not as Linux shows it.
    """
    words = stat.read_bytes().rpartition(b")")[2].split()
    if len(words) <= _STARTED_AT:
        message = f"{stat} has no time of start"
        raise OSError(message)
    return _Thread(state=words[0], started_at=words[_STARTED_AT].decode("ascii", "replace"))
