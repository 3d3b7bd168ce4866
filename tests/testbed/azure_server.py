"""The supervisor's side of Azure Blob Storage: Azurite."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from pathlib import Path

from tests.databases.port import reserved_port
from tests.testbed.builds import AZURITE, tool
from tests.testbed.missing import Missing
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.waiting import becomes_true

ACCOUNT = "testbed"
_START_SECONDS = 60
_READY = "successfully listens"


class AzuriteServer:
    """Containers in memory; what is in them is gone with the process.

    Args:
        starter: starts its process.
        directory: of its log; it is made.
    """

    def __init__(self, starter: Starter, directory: Path) -> None:
        self._reserved = reserved_port()
        self._port: int = self._reserved.getsockname()[1]
        self._key = base64.b64encode(secrets.token_bytes(64)).decode()
        arguments = (
            *(_node(), str(AZURITE.directory / "node_modules/azurite/dist/src/blob/main.js")),
            *("--blobHost", "127.0.0.1", "--blobPort", str(self._port)),
            *("--inMemoryPersistence", "--silent", "--disableTelemetry"),
        )
        environment = {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{self._key}", "HOME": str(directory)}
        command = Command(arguments=arguments, environment=environment, directory=directory, name="azurite")
        self.programs: Mapping[str, Program] = {"azurite": Program(starter, command)}

    def start(self) -> None:
        """Start it; the first time on this machine it is downloaded.

        Raises:
            Missing: this machine has no Node.js.
            BuildFailed: it was not downloaded.
            DidNotStart: with the end of its log.
        """
        AZURITE.built()
        program = self.programs["azurite"]
        program.command.directory.mkdir(parents=True)
        program.start()
        if not becomes_true(lambda: program.check(ready=self._listens), seconds=_START_SECONDS):
            raise DidNotStart(program=program.command.name, log=program.command.log)

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        return {"port": self._port, "key": self._key}

    def _listens(self) -> bool:
        return _READY in self.programs["azurite"].command.log.read_text(errors="replace")


def _node() -> str:
    try:
        return str(tool("node"))
    except Missing:
        return "node"  # `start` says so
