"""A program of the operator as a channel: it gets each message as JSON on its standard input."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from typing_extensions import override

from toolkit.notify.channel import Channel, ChannelSession, ChannelUnavailable, MessageRefused, visible
from toolkit.notify.message import Message

WAIT_SECONDS = 30.0
"""A program that takes longer is killed, and all that it has started with it."""
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
            child = subprocess.Popen(  # noqa: S603 - an argument list of the config repo, without a shell
                list(self.arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=dict(self.environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ChannelUnavailable(why=f"the program cannot be started: {visible(error)}") from error
        try:
            _, errors = child.communicate(message.as_json().encode(errors="replace"), timeout=self.seconds)
        except subprocess.TimeoutExpired as error:
            raise ChannelUnavailable(why=f"the program did not end within {self.seconds:g} s") from error
        finally:
            _kill(child)
        if child.returncode:
            last = errors.decode(errors="replace").strip().rpartition("\n")[2]
            why = f"the program ended with {child.returncode}: {visible(last)}" if last else f"exit {child.returncode}"
            raise MessageRefused(why=why) if child.returncode == REFUSED else ChannelUnavailable(why=why)

    @override
    def close(self) -> None: ...


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a program that did not end, with all of its session; its pipes are closed."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    for pipe in (child.stdin, child.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    child.wait()
