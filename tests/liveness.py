"""Signs of life of a process."""

from __future__ import annotations

from pathlib import Path


def has_process(argument: str) -> bool:
    """Return whether a process was started with an argument."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if argument.encode() in each.read_bytes().split(b"\0"):
                return True
        except OSError:  # it ended meanwhile
            continue
    return False


def is_alive(pid: int) -> bool:
    """Return whether one of its threads may still run.

    After kill -9 the main thread can be a zombie while another is in the call of the kernel that it had begun: a
    directory may vanish after the "death" of who looks at the main thread alone.
    """
    try:
        threads = [(each / "stat").read_bytes() for each in Path(f"/proc/{pid}/task").iterdir()]
    except FileNotFoundError:
        return Path(f"/proc/{pid}/task").exists() and is_alive(pid)  # one of its threads ended meanwhile
    except ProcessLookupError:
        return False
    return any(each.rpartition(b")")[2].split()[0] not in {b"Z", b"X", b"x"} for each in threads)
