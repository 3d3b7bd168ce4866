"""A table feed on two clusters, each with a metastore and a store, and runs of the entrypoints about tables."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from entrypoints import hive_export, hive_import, hive_replication
from tests.described import faults, printed_faults
from tests.e2e.commands import ROOT
from tests.integration.replications import End
from tests.short_leases import short_leases
from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import table_of
from tests.testbed.running import ending
from toolkit.catalog.model import Partition, Table, TableName
from toolkit.catalog.partition_name import joined_name
from toolkit.catalog.port import CatalogSpec, Metastore
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.rendering.document_schemas import DocumentName

if TYPE_CHECKING:
    from tests.testbed.metastore import HiveMetastoreServer

NOMINAL = "2026-03-02T00:00Z"
"""Two instances are due then, which have partitions in `filled`: those of the first two days of March."""
DAYS = ("2026-03-01", "2026-03-02")
_ALWAYS = "{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}"
_APPS = {"hive_export": hive_export.app, "hive_import": hive_import.app, "hive_replication": hive_replication.app}


@dataclass(frozen=True, kw_only=True)
class Side:
    """A cluster.

    Attributes:
        registry: the end point of its metastore.
        end: its store.
        database: with the tables of this test.
    """

    registry: str
    end: End
    database: str

    @property
    def spec(self) -> CatalogSpec:
        """How its metastore is opened."""
        return CatalogSpec(uris=self.registry)

    @property
    def metastore(self) -> Metastore:
        """Return the metastore of the cluster."""
        return plain_metastore(self.spec)

    def name(self, table: str = "clicks") -> TableName:
        """Return the name of a table."""
        return TableName(self.database, table)

    def document(self, name: str) -> str:
        """The YAML of the cluster."""
        interfaces = f'write: {{endpoint: "{self.end.uri}"}}, registry: {{endpoint: "{self.registry}"}}'
        locations = f'locations: {{tables: ["{self.end.uri}/outside"]}}'
        return f"kind: cluster\nname: {name}\ncolo: {name}\ninterfaces: {{{interfaces}}}\n{locations}\n"

    def rows(self, table: str = "clicks") -> dict[str, dict[str, bytes]]:
        """The files of each partition, by its name."""
        metastore, name = self.metastore, self.name(table)
        described = metastore.table(name)
        found = metastore.partitions(name, metastore.partition_names(name))
        return {described.partition_name(each): self.files(each.location) for each in found}

    def files(self, location: str) -> dict[str, bytes]:
        """The files in a directory."""
        end = replace(self.end, uri=location.removesuffix("/"))
        return {name: data for name, data in end.files("", hidden=True).items() if ".feedctl" not in name}

    def orphans(self, table: str = "clicks") -> list[str]:
        """The files below the table's directory that no partition has."""
        metastore, name = self.metastore, self.name(table)
        base = (metastore.table(name).storage.location or "").rstrip("/")
        names = metastore.partition_names(name)
        owned = [f"{each.location.removeprefix(base).strip('/')}/" for each in metastore.partitions(name, names)]
        end = replace(self.end, uri=base)
        return [each for each in end.files("", hidden=True) if not any(each.startswith(own) for own in owned)]


@dataclass(frozen=True, kw_only=True)
class TableCopies:
    """A config repo, and runs over it.

    Attributes:
        directory: for repo, ledger and results.
        source: of the copies; its cluster is ``primary``.
        target: of the copies; its cluster is ``backup``.
        more: further keys of the feed, as YAML.
        settings: further lines of repo.yaml.
        table: the name of ``clicks`` at the target.
        feeds: each of a table of its own.
    """

    directory: Path
    source: Side
    target: Side
    more: str = ""
    settings: str = ""
    table: str = "clicks"
    feeds: tuple[str, ...] = ("clicks",)

    def __post_init__(self) -> None:
        self.write_repo()

    @property
    def repo(self) -> Path:
        """The config repo."""
        return self.directory / "repo"

    def write_repo(self) -> None:
        """Write the repo anew."""
        documents = {
            **{f"feeds/{name}.yaml": self._feed(name) for name in self.feeds},
            "repo.yaml": f"name: tables\nledger: sqlite:///{self.directory}/ledger.db\n{self.settings}\n",
            "clusters/primary.yaml": self.source.document("primary"),
            "clusters/backup.yaml": self.target.document("backup"),
        }
        for name, text in documents.items():
            (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / name).write_text(text)

    def renamed(self, database: str) -> TableCopies:
        """The same with another database at the target; the repo is written anew."""
        return replace(self, target=replace(self.target, database=database))

    def _feed(self, name: str) -> str:
        to = self.table if name == "clicks" else name
        uris = [
            f"catalog:{side.database}:{table}#ds=${{YEAR}}-${{MONTH}}-${{DAY}}"
            for side, table in ((self.source, name), (self.target, to))
        ]
        return f"""kind: feed
name: {name}
frequency: days(1)
table: "{uris[0]}"
{self.more}
clusters:
  - {{name: primary, type: source, validity: {_ALWAYS}}}
  - {{name: backup, type: target, validity: {_ALWAYS}, table: "{uris[1]}"}}
"""

    def arguments(self, *more: str, time: str = NOMINAL) -> list[str]:
        """Return the arguments of each entrypoint."""
        result = str(self.directory / "result.json")
        feeds = [] if {"--all", "--feed"} & set(more) else ["--feed", "clicks"]
        return [*feeds, "--config-repo", str(self.repo), "--time", time, "--result-file", result, *more]

    def run(self, name: str, *more: str, time: str = NOMINAL) -> tuple[int, dict[str, Any]]:
        """A run in this process: its exit code and its result."""
        file = self.directory / "result.json"
        file.unlink(missing_ok=True)
        code = run_app(_APPS[name], self.arguments(*more, time=time))
        result: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        assert not result or faults(result, DocumentName.HIVE, "result", strict=True) == []
        return code, result

    def exported(self, to: str, *more: str, time: str = NOMINAL) -> tuple[int, dict[str, Any]]:
        """An export of the source."""
        return self.run("hive_export", "--cluster", "primary", "--to", to, *more, time=time)

    def imported(self, place: str, *more: str, time: str = NOMINAL) -> tuple[int, dict[str, Any]]:
        """An import to the target."""
        return self.run("hive_import", "--cluster", "backup", "--from", place, *more, time=time)

    def replicated(self, *more: str, time: str = NOMINAL) -> tuple[int, dict[str, Any]]:
        """A replication."""
        return self.run("hive_replication", *more, time=time)

    def differences(self, *more: str) -> tuple[int, list[tuple[str, str]]]:
        """What `feedctl table diff` finds: its exit code, and the kind and partition of each difference."""
        arguments = ["table", "diff", "clicks", "--first", "primary", "--second", "backup", *more]
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = main([*arguments, "--config-repo", str(self.repo), "--output", "json"])
        assert printed_faults(tuple(arguments), printed.getvalue(), strict=True) == []
        document = json.loads(printed.getvalue())
        return code, [(each["kind"], each["partition"]) for each in document["differences"]]

    def started(self, name: str, *more: str, lease_seconds: float) -> AbstractContextManager[subprocess.Popen[str]]:
        """A run in another process, whose leases end so soon after it died; it ends with the block at the latest."""
        command = [sys.executable, str(ROOT / f"entrypoints/{name}.py"), *self.arguments(*more)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        env = {**os.environ, **short_leases(lease_seconds)}
        return ending(subprocess.Popen(command, cwd=ROOT, env=env, text=True, start_new_session=True, **streams))  # type: ignore[call-overload]


def two_sites(metastore: HiveMetastoreServer, other: HiveMetastoreServer, directory: Path) -> TableCopies:
    """Two metastores with a database each, and with a warehouse on this disk."""
    sides = []
    for server, name in ((metastore, "from"), (other, "to")):
        (directory / name).mkdir()
        database = f"test_{uuid4().hex[:12]}"
        create_database(server.spec, database, f"file:{directory}/{name}")
        sides.append(Side(registry=server.uri, end=End(uri=f"file://{directory}/{name}"), database=database))
    return TableCopies(directory=directory, source=sides[0], target=sides[1])


def filled(
    side: Side, *, days: tuple[str, ...] = DAYS, regions: tuple[str, ...] = ("us", "d/e"), size: int = 1
) -> Table:
    """A text table with a partition for each day and region, with two files in each."""
    metastore, name = side.metastore, side.name()
    metastore.create_table(table_of(name, f"{side.end.uri}/clicks", ds="string", region="string"))
    table = metastore.table(name)
    add(side, table, days=days, regions=regions, size=size)
    return table


def add(side: Side, table: Table, *, days: tuple[str, ...], regions: tuple[str, ...], size: int = 1) -> None:
    """Add partitions with their files."""
    parts: list[Partition] = []
    files: dict[str, bytes] = {}
    for values in [(day, region) for day in days for region in regions]:
        own = joined_name(table.key_names, values)
        files |= {f"clicks/{own}/{each}": f"{own} {each}\n".encode() * size for each in ("part-0", "deep/part-1")}
        parts.append(Partition(values=values, storage=replace(table.storage, location=f"{side.end.uri}/clicks/{own}")))
    side.end.fill(files)
    side.metastore.add_partitions(table.name, parts)


def outcomes(result: Mapping[str, Any]) -> list[tuple[str, str, str, str | None]]:
    """Return the outcomes of each item of a result: what it was, the partition, what became of it, and its code."""
    return [(item["kind"], item["partition"], item["outcome"], item["code"]) for item in result["items"]]
