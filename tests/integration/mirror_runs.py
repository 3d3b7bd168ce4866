"""A config repo with a snapshot mirror between two directories of HDFS, and runs of it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from entrypoints import mirror, process
from tests.e2e.commands import ROOT
from tests.short_leases import short_leases
from tests.testbed.hdfs import HdfsCluster
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, StorageSpec, open_file_system
from toolkit.storage.webhdfs.snapshots import WebHdfsSnapshots, open_snapshots
from toolkit.transfer.trees import below

KEYS = [f"2026-03-{1 + hour // 24:02}T{hour % 24:02}:00Z" for hour in range(240)]
_CLUSTER = "kind: cluster\nname: {name}\ninterfaces: {{{interfaces}}}\n"
_MIRROR = """\
kind: mirror
name: sales
type: hdfs_snapshot
cluster: two
validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}
frequency: hours(1)
values:
  source_cluster: one
  source_snapshot_dir: {base}/source
  target_cluster: two
  target_snapshot_dir: {base}/target
  source_snapshot_retention: {{limit: days(1), number: 2}}
  target_snapshot_retention: {{limit: days(1), number: 2}}
"""
FEED_IN_TARGET = """\
kind: feed
name: parts
frequency: days(1)
locations: {{data: "{target}/a/${{YEAR}}-${{MONTH}}-${{DAY}}"}}
clusters:
  - name: two
    type: source
    validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}
    retention: {{limit: days(9), action: delete}}
"""
"""A feed that has its data in the target of a mirror."""


@dataclass(frozen=True, kw_only=True)
class MirrorRuns:
    """Runs of the mirror `sales`; its source is reached by WebHDFS, its target by Hadoop's own protocol.

    Attributes:
        hdfs: has both.
        directory: of the config repo, the ledger and the logs.
    """

    hdfs: HdfsCluster
    directory: Path
    base: str = field(default_factory=lambda: f"/mirrors/{uuid4().hex}")

    def write(self, *, settings: str = "", snapshots: bool = True) -> None:
        """Write the config repo, and make both directories, usually with snapshots."""
        web, native = f'endpoint: "{self.hdfs.webhdfs}"', f'endpoint: "{self.hdfs.uri}"'
        self._put("repo.yaml", f"name: mirroring\nledger: sqlite:///{self.directory}/ledger.db\n{settings}")
        self._put("clusters/one.yaml", _CLUSTER.format(name="one", interfaces=f"write: {{{web}}}"))
        both = f"write: {{{native}}}, readonly: {{{web}}}"
        self._put("clusters/two.yaml", _CLUSTER.format(name="two", interfaces=both))
        self._put("mirrors/sales.yaml", _MIRROR.format(base=self.base))
        for root in (self.source, self.target):
            self.system.mkdirs(root)
            if snapshots:
                self.snapshots.allow(root)

    def _put(self, name: str, text: str) -> None:
        path = self.directory / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @property
    def _spec(self) -> StorageSpec:
        return StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{self.hdfs.http}")

    @property
    def system(self) -> FileSystem:
        """The store of both directories."""
        return open_file_system(self._spec)

    @property
    def snapshots(self) -> WebHdfsSnapshots:
        """The snapshots of both directories."""
        return open_snapshots(self._spec)

    @property
    def source(self) -> CanonicalPath:
        """The directory that is mirrored."""
        return CanonicalPath("webhdfs", self._spec.authority, f"{self.base}/source")

    @property
    def target(self) -> CanonicalPath:
        """The directory that it is mirrored to."""
        return CanonicalPath("webhdfs", self._spec.authority, f"{self.base}/target")

    def fill(self, files: Mapping[str, str]) -> None:
        """Write files at the source."""
        for name, text in files.items():
            path = below(self.source, name)
            self.system.mkdirs(path.parent)
            self.system.write(path, [text.encode()])

    def tree(self, root: CanonicalPath, snapshot: str = "") -> dict[str, str | None]:
        """Return the text of each file below a directory; of a directory None."""
        at = root.child(".snapshot").child(snapshot) if snapshot else root
        found: dict[str, str | None] = {}
        for entry in self.system.list_tree(at):
            path = below(at, entry.name)
            if entry.kind.value == "file":
                with self.system.read(path) as stream:
                    found[entry.name] = stream.read().decode()
            else:
                found[entry.name] = None
        return found

    def names(self, root: CanonicalPath) -> list[str]:
        """Return the names of the snapshots of a directory."""
        return [each.name for each in self.snapshots.list(root)]

    @property
    def repo(self) -> tuple[str, str]:
        """The option that names the config repo."""
        return ("--config-repo", str(self.directory / "repo"))

    def run(self, hour: int, *more: str) -> tuple[int, dict[str, Any]]:
        """The exit code and the result of a run of the mirror entrypoint."""
        return self._run(mirror.app, "--mirror", "sales", "--time", KEYS[hour], *more)

    def run_due(self, hour: int) -> tuple[int, dict[str, Any]]:
        """The same of the process entrypoint, of all that is due."""
        return self._run(process.app, "--all", "--due", "--time", KEYS[hour])

    def _run(self, app: Any, *arguments: str) -> tuple[int, dict[str, Any]]:  # noqa: ANN401 - typer's own type
        file = self.directory / "result.json"
        file.unlink(missing_ok=True)
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        code = run_app(app, [*self.repo, *arguments, "--output", "json", "--result-file", str(file)])
        return code, json.loads(file.read_text()) if file.exists() else {}

    def events(self) -> list[tuple[str, str]]:
        """The dataset and the instance of each event, in their order."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            assert main(["event", "list", *self.repo, "--output", "json"]) == 0
        return [(each["dataset"], each["instance"]) for each in json.loads(printed.getvalue())["events"]]

    def started(self, hour: int, lease_seconds: float = 6, program: str = sys.executable) -> subprocess.Popen[bytes]:
        """A run in another process: Python's, or spark-submit's."""
        script = str(ROOT / "entrypoints/mirror.py")
        own = {"FEEDCTL_LOG_DIR": str(self.directory / "logs"), **short_leases(lease_seconds)}
        command = [program, script, *self.repo, "--mirror", "sales", "--time", KEYS[hour], "--output", "json"]
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **own}, **streams)  # type: ignore[call-overload,no-any-return]
