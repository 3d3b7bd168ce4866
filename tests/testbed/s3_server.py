"""The supervisor's side of S3: moto's server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.databases.port import reserved_port
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.s3_paths import READY
from tests.testbed.waiting import becomes_true, state

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 60


class S3Server:
    """An S3 in memory; what is in it is gone with its process, also over a restart.

    Args:
        starter: starts its process.
        directory: of its log; it is made.
    """

    def __init__(self, starter: Starter, directory: Path) -> None:
        self._reserved = reserved_port()
        self._port: int = self._reserved.getsockname()[1]
        arguments = (sys.executable, "-m", "tests.testbed.s3_process", str(self._port))
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(_ROOT), "HOME": str(directory)}
        command = Command(arguments=arguments, environment=environment, directory=directory, name="moto")
        self.programs: Mapping[str, Program] = {"moto": Program(starter, command)}

    def start(self) -> None:
        """Start it.

        Raises:
            DidNotStart: with the end of its log.
        """
        moto = self.programs["moto"]
        moto.command.directory.mkdir(parents=True)
        moto.start()
        if not becomes_true(lambda: moto.check(ready=self._answers), seconds=_START_SECONDS):
            raise DidNotStart(program="moto", log=moto.command.log)

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        return {"port": self._port}

    def _answers(self) -> bool:
        return bool(state(self._port, READY))
