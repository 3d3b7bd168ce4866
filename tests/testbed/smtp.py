"""A mail server as tests see it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_string
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import pytest

from tests.testbed.smtp_server import PASSWORD, USER
from tests.testbed.waiting import becomes_true

_ROOT = Path(__file__).parents[2]


@dataclass
class MailServer:
    """A mail server in a folder; its mails stay when it is stopped."""

    folder: Path
    options: tuple[str, ...] = ()
    user: str = USER
    password: str = PASSWORD
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Start it, on the port that it had before."""
        port = ("--port", str(self.port)) if (self.folder / "port").exists() else ()
        (self.folder / "port").unlink(missing_ok=True)
        command = (sys.executable, "-m", "tests.testbed.smtp_server", str(self.folder), *self.options, *port)
        self._process = subprocess.Popen(command, cwd=_ROOT, env={**os.environ, "PYTHONWARNINGS": "ignore"})
        assert becomes_true((self.folder / "port").exists, seconds=30)

    def stop(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int((self.folder / "port").read_text())

    @property
    def certificate(self) -> Path:
        """The file with its own certificate."""
        return self.folder / "certificate.pem"

    @property
    def envelopes(self) -> list[dict[str, object]]:
        """Return the envelopes of the mails, in their order."""
        file = self.folder / "mails.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def mails(self) -> list[EmailMessage]:
        """The mails that it has taken, in that order."""
        return [message_from_string(str(each["data"]), EmailMessage, policy=default) for each in self.envelopes]


@contextmanager
def mail_server(folder: Path, *, starttls: bool = False, login: bool = False) -> Iterator[MailServer]:
    """A mail server while the body runs."""
    folder.mkdir(parents=True, exist_ok=True)
    if starttls:
        _make_certificate(folder)
    options = (*(("--starttls",) if starttls else ()), *(("--login",) if login else ()))
    server = MailServer(folder, options)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _make_certificate(folder: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    files = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"))
    command = (openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files)
    subprocess.run(command, check=True, capture_output=True)
