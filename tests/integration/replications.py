"""A feed with sources and a target on real stores, its data, and runs of the replication entrypoint."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from entrypoints import replication
from tests.databases.ledgers import open_ledger, sqlite_url
from tests.described import faults, printed_faults
from tests.e2e.commands import ROOT
from tests.testbed.running import ending
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.el import CanonicalPath
from toolkit.ledger import manifests
from toolkit.ledger.manifests import Manifest
from toolkit.rendering.document_schemas import DocumentName
from toolkit.storage import FileKind, FileSystem, NotFound, StorageSpec, open_file_system

TEMPLATE = "/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}"
NOMINAL = "2026-03-01T02:00Z"
KEYS = ("2026-03-01T00:00Z", "2026-03-01T01:00Z", "2026-03-01T02:00Z")
DUE = 3
"""The hours 0, 1 and 2 are due at the nominal time."""
_ALWAYS = "{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}"


@dataclass(frozen=True, kw_only=True)
class End:
    """A directory in a real store.

    Attributes:
        uri: of the directory.
        conf: Hadoop settings that reach the store.
        readonly: where others read it; empty: there too.
        messaging: interface of its cluster, as YAML; empty: none.
        user: see `StorageSpec`.
    """

    uri: str
    conf: Mapping[str, str] = field(default_factory=dict)
    readonly: str = ""
    messaging: str = ""

    @property
    def root(self) -> CanonicalPath:
        """The directory."""
        return CanonicalPath.parse(f"{self.uri}/")

    @property
    def spec(self) -> StorageSpec:
        """How the store is opened, here and on other machines."""
        return StorageSpec(scheme=self.root.scheme, authority=self.root.authority, hadoop_conf=dict(self.conf))

    @property
    def system(self) -> FileSystem:
        """The store."""
        return open_file_system(self.spec, patience=5)

    def at(self, name: str) -> CanonicalPath:
        """The path of a name below the directory; itself for none."""
        path = self.root
        for part in name.split("/") if name else ():
            path = path.child(part)
        return path

    def fill(self, files: Mapping[str, bytes]) -> None:
        """Write files, and the directories above them; many at once, since closing one on HDFS takes 0.4 s."""
        system = self.system

        def write(name: str) -> None:
            system.write(self.at(name), [files[name]])

        for parent in {self.at(name).parent for name in files}:
            system.mkdirs(parent)
        with ThreadPoolExecutor(32) as threads:
            list(threads.map(write, files))

    def files(self, name: str = "clicks", *, hidden: bool = False) -> dict[str, bytes]:
        """Return all files below a name, with their bytes; feedctl's own only when asked for."""
        try:
            found = dict(self._below(self.at(name)))
        except NotFound:
            return {}
        return {path: content for path, content in found.items() if hidden or "/.feedctl" not in f"/{path}"}

    def _below(self, place: CanonicalPath) -> Iterable[tuple[str, bytes]]:
        for entry in self.system.list(place):
            path = place.child(entry.name)
            if entry.kind is FileKind.DIRECTORY:
                yield from self._below(path)
            else:
                with self.system.read(path) as stream:
                    yield path.relative_to(self.root), stream.read()


def hour(number: int, names: Iterable[str] = ("part-0", "deep/part-1"), *, flag: bool = True) -> dict[str, bytes]:
    """The files of an instance."""
    directory = f"clicks/2026-03-01-{number:02}"
    files = {f"{directory}/{name}": f"{number} {name}".encode() * 50 for name in names}
    return files | ({f"{directory}/_SUCCESS": b""} if flag else {})


@dataclass(frozen=True, kw_only=True)
class Replication:
    """A config repo, and runs over it.

    Attributes:
        directory: for repo, ledger and results.
        sources: by cluster name.
        target: of the copies; its cluster is ``backup``.
        more: further keys of the feed, as YAML.
        partition: expression of each source, by cluster.
        of_target: further keys of the feed's target.
        settings: further lines of repo.yaml.
    """

    directory: Path
    sources: Mapping[str, End]
    target: End
    more: str = "availability_flag: _SUCCESS"
    partition: Mapping[str, str] = field(default_factory=dict)
    of_source: str = ""
    of_target: str = ""
    settings: str = ""

    def __post_init__(self) -> None:
        self.write_repo()

    @property
    def repo(self) -> Path:
        """The config repo."""
        return self.directory / "repo"

    def write_repo(self) -> None:
        """Write the repo anew."""
        ledger = self.directory / "ledger.db"
        documents = {
            "repo.yaml": f"name: copies\nledger: sqlite:///{ledger}\n{self.settings}\n",
            "feeds/clicks.yaml": self._feed(),
        }
        for name, end in {**self.sources, "backup": self.target}.items():
            documents[f"clusters/{name}.yaml"] = cluster_document(name, end)
        for name, text in documents.items():
            (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / name).write_text(text)

    def _feed(self) -> str:
        lines = ["kind: feed", "name: clicks", "frequency: hours(1)", f'locations: {{data: "{TEMPLATE}"}}', self.more]
        lines.append("clusters:")
        for name in self.sources:
            partition = f', partition: "{self.partition[name]}"' if name in self.partition else ""
            lines.append(f"  - {{name: {name}, type: source, validity: {_ALWAYS}{partition}{self.of_source}}}")
        lines.append(f"  - {{name: backup, type: target, validity: {_ALWAYS}{self.of_target}}}")
        return "\n".join(lines) + "\n"

    def arguments(self, *more: str, time: str = NOMINAL) -> list[str]:
        """Return the arguments of the entrypoint."""
        result = self.directory / "result.json"
        return [
            "--feed",
            "clicks",
            "--config-repo",
            str(self.repo),
            "--time",
            time,
            "--result-file",
            str(result),
            *more,
        ]

    def run(self, *more: str, time: str = NOMINAL) -> tuple[int, dict[str, Any]]:
        """A run in this process: its exit code and its result."""
        (self.directory / "result.json").unlink(missing_ok=True)
        code = run_app(replication.app, self.arguments(*more, time=time))
        file = self.directory / "result.json"
        result: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        assert not result or faults(result, DocumentName.REPLICATION, "result", strict=True) == []
        return code, result

    def feedctl(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """A command of feedctl on the feed's repo, in this process: its exit code and its document, as described."""
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = main([*arguments, "--config-repo", str(self.repo), "--output", "json"])
        assert printed_faults(arguments, printed.getvalue(), strict=True) == []
        document: dict[str, Any] = json.loads(printed.getvalue() or "{}")
        return code, document

    def recorded(self, key: str, source: str = "primary") -> dict[str, Manifest]:
        """Return what the ledger has of the units of an instance."""
        ledger = open_ledger(sqlite_url(self.directory / "ledger.db"))
        with closing(ledger):
            return ledger.read(lambda tx: manifests.of_instance(tx, "clicks", "backup", key, source))

    def started(self, *more: str, time: str = NOMINAL) -> AbstractContextManager[subprocess.Popen[str]]:
        """A run in another process, which ends with the block at the latest."""
        command = [sys.executable, str(ROOT / "entrypoints/replication.py"), *self.arguments(*more, time=time)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return ending(subprocess.Popen(command, cwd=ROOT, text=True, **streams))  # type: ignore[call-overload]


def outcomes(result: Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """Return the outcomes of each item of a result: the instance, what became of it, and its code."""
    return [(item["instance"], item["outcome"], item["code"]) for item in result["items"]]


def cluster_document(name: str, end: End) -> str:
    """The YAML of a cluster whose paths are below a directory of a store."""
    interfaces = f'write: {{endpoint: "{end.uri}"}}'
    if end.readonly:
        interfaces += f', readonly: {{endpoint: "{end.readonly}"}}'
    if end.messaging:
        interfaces += f", messaging: {end.messaging}"
    lines = ["kind: cluster", f"name: {name}", f"colo: {name}", f"interfaces: {{{interfaces}}}"]
    if end.conf:
        lines.append("hadoop_conf:")
        lines += [f'  {key}: "{value}"' for key, value in end.conf.items()]
    return "\n".join(lines) + "\n"
