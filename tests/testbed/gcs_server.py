"""The supervisor's side of Google Cloud Storage: fake-gcs-server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.databases.port import reserved_port
from tests.testbed.builds import GCS
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.waiting import becomes_true, state

_START_SECONDS = 60


class GcsServer:
    """Buckets in memory; what is in them is gone with the process.

    Args:
        starter: starts its process.
        directory: of its log; it is made.
    """

    def __init__(self, starter: Starter, directory: Path) -> None:
        self._reserved = reserved_port()
        self._port: int = self._reserved.getsockname()[1]
        own = f"127.0.0.1:{self._port}"
        arguments = (
            *(str(GCS.directory / "fake-gcs-server"), "-backend", "memory", "-log-level", "error"),
            *("-scheme", "http", "-host", "127.0.0.1", "-port", str(self._port)),
            *("-public-host", own, "-external-url", f"http://{own}"),
        )
        command = Command(arguments=arguments, environment={}, directory=directory, name="fake-gcs-server")
        self.programs: Mapping[str, Program] = {"fake-gcs-server": Program(starter, command)}

    def start(self) -> None:
        """Start it; the first time on this machine it is built.

        Raises:
            Missing: it cannot be built here.
            BuildFailed: it was not built.
            DidNotStart: with the end of its log.
        """
        GCS.built()
        program = self.programs["fake-gcs-server"]
        program.command.directory.mkdir(parents=True)
        program.start()
        if not becomes_true(lambda: program.check(ready=self._answers), seconds=_START_SECONDS):
            raise DidNotStart(program=program.command.name, log=program.command.log)

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        return {"port": self._port}

    def _answers(self) -> bool:
        return bool(state(self._port, "/storage/v1/b"))
