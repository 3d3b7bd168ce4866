"""A config repo with a mirror of a database between two metastores, and runs of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from entrypoints import mirror
from tests.e2e.commands import ROOT
from tests.integration.replications import End
from tests.integration.table_copies import Side
from tests.short_leases import short_leases
from tests.tables.databases import create_database
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.cli.boundary import run_app

KEYS = [f"2026-03-01T{hour:02}:00Z" for hour in range(24)]
_MIRROR = """\
kind: mirror
name: copy
type: hive
cluster: backup
validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}
frequency: hours(1)
values:
  source_cluster: primary
  target_cluster: backup
  source_databases: [{database}]
  on_source_delete: {on_delete}
{more}
"""


@dataclass(frozen=True, kw_only=True)
class DatabaseMirror:
    """Runs of the mirror `copy`.

    Attributes:
        directory: of the config repo, the ledger and the logs.
        source: the side that is copied from; its cluster is ``primary``.
        target: the side that is copied to, with a database of the same name; its cluster is ``backup``.
    """

    directory: Path
    source: Side
    target: Side

    def write(self, *, on_delete: str = "delete", more: str = "", settings: str = "") -> None:
        """Write the config repo."""
        documents = {
            "repo.yaml": f"name: mirroring\nledger: sqlite:///{self.directory}/ledger.db\n{settings}\n",
            "clusters/primary.yaml": self.source.document("primary"),
            "clusters/backup.yaml": self.target.document("backup"),
            "mirrors/copy.yaml": _MIRROR.format(database=self.source.database, on_delete=on_delete, more=more),
        }
        for name, text in documents.items():
            path = self.directory / "repo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def arguments(self, hour: int) -> list[str]:
        """Return the arguments of the entrypoint."""
        return ["--config-repo", str(self.directory / "repo"), "--mirror", "copy", "--time", KEYS[hour]]

    def run(self, hour: int, *more: str) -> tuple[int, dict[str, Any]]:
        """The exit code and the result of a run."""
        file = self.directory / "result.json"
        file.unlink(missing_ok=True)
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        code = run_app(mirror.app, [*self.arguments(hour), *more, "--output", "json", "--result-file", str(file)])
        return code, json.loads(file.read_text()) if file.exists() else {}

    def done(self, hour: int) -> dict[str, int]:
        """The counters of a run that succeeds."""
        code, result = self.run(hour)
        assert code == 0, result
        counters: dict[str, int] = result["instances"][0]["counters"]
        return counters

    def notes(self, hour: int) -> list[str]:
        """The notes of a dry run."""
        code, result = self.run(hour, "--dry-run")
        assert code == 0, result
        notes: list[str] = result["instances"][0]["notes"]
        return notes

    def started(self, hour: int, lease_seconds: float = 30) -> subprocess.Popen[bytes]:
        """A run in another process."""
        own = {"FEEDCTL_LOG_DIR": str(self.directory / "logs"), **short_leases(lease_seconds)}
        command = [sys.executable, str(ROOT / "entrypoints/mirror.py"), *self.arguments(hour), "--output", "json"]
        return subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **own}, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def rows(self, side: Side) -> dict[str, dict[str, dict[str, bytes]]]:
        """The files of each partition of each table of a side; of a table without partitions by the empty name."""
        found: dict[str, dict[str, dict[str, bytes]]] = {}
        for table in side.metastore.tables(side.database):
            described = side.metastore.table(side.name(table))
            location = described.storage.location or ""
            found[table] = side.rows(table) if described.keys else {"": side.files(location)}
        return found


def two_databases(source: HiveMetastoreServer, target: HiveMetastoreServer, directory: Path) -> DatabaseMirror:
    """A database of one name in two metastores, each with a directory on this disk."""
    database, sides = f"test_{uuid4().hex[:12]}", list[Side]()
    for server, name in ((source, "from"), (target, "to")):
        (directory / name).mkdir()
        create_database(server.spec, database, f"file:{directory}/{name}")
        sides.append(Side(registry=server.uri, end=End(uri=f"file://{directory}/{name}"), database=database))
    made = DatabaseMirror(directory=directory, source=sides[0], target=sides[1])
    made.write()
    return made
