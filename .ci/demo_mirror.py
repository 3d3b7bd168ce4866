"""Mirrors a directory between two HDFS of the test bed by snapshots: `make demo-mirror`.

The type's file; lint; a first run; changes with renames, dry and then real; a run that is killed, and its rerun; the
target's snapshots; verify.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.testbed.client import Testbed
from tests.testbed.controller import Controller
from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, StorageSpec, open_file_system
from toolkit.storage.webhdfs.snapshots import open_snapshots
from toolkit.transfer.trees import below

DEMO = Path(__file__).resolve().parents[1] / "build" / "demo-mirror"
MIRROR = """\
kind: mirror
name: sales
type: hdfs_snapshot
cluster: backup
owner: data@example.com
validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}
frequency: hours(1)
values:
  source_cluster: primary
  source_snapshot_dir: /data/sales
  target_cluster: backup
  target_snapshot_dir: /mirror/sales
  source_snapshot_retention: {limit: days(2), number: 3}
  target_snapshot_retention: {limit: days(14), number: 24}
"""


def say(text: str) -> None:
    """Print a heading, or a line of the transcript."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Demo:
    """Config repo, and the two directories."""

    def __init__(self, source: HdfsCluster, target: HdfsCluster) -> None:
        self.specs = [StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{each.http}") for each in (source, target)]
        self.roots = [
            CanonicalPath("webhdfs", spec.authority, path)
            for spec, path in zip(self.specs, ("/data/sales", "/mirror/sales"), strict=True)
        ]
        self.source: FileSystem = open_file_system(self.specs[0])
        for spec, root in zip(self.specs, self.roots, strict=True):
            open_file_system(spec).mkdirs(root)
            open_snapshots(spec).allow(root)
        cluster = "kind: cluster\nname: {0}\ncolo: {0}\nowner: data@example.com\ninterfaces: {{{1}}}\n"
        both = 'write: {{endpoint: "{0}"}}, readonly: {{endpoint: "{1}"}}'
        self.put("repo.yaml", "name: mirroring\nledger: sqlite:///.feedctl/ledger.db\n")
        self.put("clusters/primary.yaml", cluster.format("primary", both.format(source.uri, source.webhdfs)))
        self.put("clusters/backup.yaml", cluster.format("backup", both.format(target.uri, target.webhdfs)))
        self.put("mirrors/sales.yaml", MIRROR)

    def put(self, name: str, text: str) -> None:
        """Write a file of the config repo."""
        path = DEMO / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def fill(self, files: Mapping[str, bytes]) -> None:
        """Write files at the source."""
        for name, data in files.items():
            path = below(self.roots[0], name)
            self.source.mkdirs(path.parent)
            self.source.write(path, [data])

    def move(self, old: str, new: str) -> None:
        """Rename at the source."""
        self.source.rename(below(self.roots[0], old), below(self.roots[0], new))

    def ask(self, *arguments: str) -> None:
        """Print a command of feedctl and its output; the demo ends if it fails."""
        self._print("feedctl", *arguments)

    def mirror(self, hour: int, *more: str) -> None:
        """Print a run of the mirror of an hour, and its output."""
        self._print("spark-submit", *self._run(hour), *more)

    def killed(self, hour: int) -> None:
        """Kill a run with kill -9 when a part of its copies is there."""
        command = ["spark-submit", *self._run(hour)]
        say(f"$ {self._shown(*command)} & kill -9 its processes")
        run = subprocess.Popen(  # noqa: S603 - ours
            command, cwd=DEMO / "config", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        target, working = open_file_system(self.specs[1]), self.roots[1].child(".feedctl-mirror-sales")
        copied: list[object] = []
        while run.poll() is None:
            copied[:] = [
                each for each in target.list_tree(self.roots[1]) if each.name.startswith(f"{working.name}/new/")
            ]
            if len(copied) > 20:  # noqa: PLR2004 - some, and far from all
                break
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGKILL)
        say(f"killed (exit code {run.wait()}), after {len(copied)} copies")

    def _run(self, hour: int) -> tuple[str, ...]:
        script = str(DEMO.parents[1] / "entrypoints" / "mirror.py")
        return (script, "--mirror", "sales", "--time", f"2026-03-01T{hour:02}:00Z")

    @staticmethod
    def _shown(*command: str) -> str:
        return " ".join(command).replace(f"{DEMO.parents[1]}/", "")

    def _print(self, *command: str) -> None:
        say(f"$ {self._shown(*command)}")
        done = subprocess.run(command, cwd=DEMO / "config", capture_output=True, text=True, check=False)  # noqa: S603 - ours
        say(done.stdout.rstrip() or done.stderr.rstrip())
        if done.returncode not in {0, 4}:
            sys.exit(f"exit code {done.returncode}: {done.stderr}")


def main() -> None:
    """Print the transcript."""
    shutil.rmtree(DEMO, ignore_errors=True)
    testbed = Testbed(controller=Controller.this_process())
    try:
        demo = Demo(HdfsCluster.of(testbed, "hdfs"), HdfsCluster.of(testbed, "restartable_hdfs"))
        say("== a file to fill in, and the linter")
        demo.ask("mirror", "define", "hdfs_snapshot", "--name", "sales")
        demo.ask("lint")
        say("\n== the first run copies all")
        demo.fill({f"2026/{month:02}/part-{part}": b"row\n" * 1000 for month in range(1, 4) for part in range(5)})
        demo.mirror(1)
        say("\n== files change, a directory gets another name, two swap theirs: dry, then real")
        demo.fill({"2026/04/part-0": b"new\n", "2026/01/part-0": b"other\n" * 1000})
        demo.move("2026/02", "archive")
        demo.move("2026/03/part-1", "2026/03/aside")
        demo.move("2026/03/part-2", "2026/03/part-1")
        demo.move("2026/03/aside", "2026/03/part-2")
        demo.source.delete(below(demo.roots[0], "2026/01/part-4"), below=demo.roots[0])
        demo.mirror(2, "--dry-run", "--verbose")
        demo.mirror(2)
        say("\n== a run is killed, and the next one finishes it")
        demo.fill({f"2026/05/part-{part:03}": b"row\n" * 10_000 for part in range(400)})
        demo.killed(3)
        demo.mirror(3)
        say("\n== the snapshots of the target, and the comparison with the source")
        for each in open_snapshots(demo.specs[1]).list(demo.roots[1]):
            say(f"/mirror/sales/.snapshot/{each.name}")
        demo.ask("verify", "--mirror", "sales")
    finally:
        testbed.end()


if __name__ == "__main__":
    main()
