"""A program of the operator as a channel: it gets each message as JSON on its standard input."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO

from typing_extensions import override

from toolkit.notify.channel import Channel, ChannelSession, ChannelUnavailable, MessageRefused, visible
from toolkit.notify.message import Message

WAIT_SECONDS = 30.0
"""A program that takes longer is killed, and all that it has started with it."""
_LAST_BYTES = 4096
"""So much of what a program writes to its standard error is kept, from the end."""
_READ_SECONDS = 0.5
"""So long what it wrote is waited for after its end: a program that it left behind may keep the pipe open."""
REFUSED = os.EX_DATAERR
"""Exit code of a program that would not take this message later either; any other but 0 means: try again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandChannel(Channel, ChannelSession):
    """A program that is started for each message.

    Attributes:
        arguments: the program and its arguments; no shell reads them.
        environment: its variables.
        seconds: see `WAIT_SECONDS`.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    seconds: float = WAIT_SECONDS

    @override
    def open(self) -> ChannelSession:
        return self

    @override
    def send(self, message: Message, recipient: str) -> None:
        """Start the program, and wait for its end."""
        try:
            with tempfile.TemporaryFile() as body:
                body.write(message.as_json().encode(errors="replace"))
                body.seek(0)
                child = self._started(body)
        except (OSError, ValueError) as error:
            raise ChannelUnavailable(why=f"the program cannot be started: {visible(error)}") from error
        errors = _Errors(child.stderr)
        kill_it = partial(_kill, child)
        atexit.register(kill_it)  # this process ends after 2 s, and nothing would end the program later
        try:
            child.wait(self.seconds)
        except subprocess.TimeoutExpired as error:
            raise ChannelUnavailable(why=f"the program did not end within {self.seconds:g} s") from error
        finally:
            _kill(child)
            atexit.unregister(kill_it)
        if child.returncode:
            last = errors.text().strip().rpartition("\n")[2]
            why = f"the program ended with {child.returncode}: {visible(last)}" if last else f"exit {child.returncode}"
            raise MessageRefused(why=why) if child.returncode == REFUSED else ChannelUnavailable(why=why)

    def _started(self, body: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - an argument list of the config repo, without a shell
            list(self.arguments),
            stdin=body,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(self.environment),
            start_new_session=True,
        )

    @override
    def close(self) -> None: ...


class _Errors:
    """End of what a program writes to its standard error, read by a thread: it may be gigabytes.

    Args:
        pipe: from the program; closed when no program writes any more.
    """

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._pipe, self._last = pipe, b""
        self._thread = threading.Thread(target=self._read, name="feedctl-messages-errors", daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Return the end of it, as far as it was written."""
        self._thread.join(_READ_SECONDS)
        return self._last.decode(errors="replace")

    def _read(self) -> None:
        if self._pipe is not None:
            with self._pipe as pipe:
                while more := os.read(pipe.fileno(), 65_536):
                    self._last = (self._last + more)[-_LAST_BYTES:]


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a program that did not end, with all of its session; one that ended may leave others behind."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
