"""Instances that retention archives from one real store to another, and runs that die in the middle of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import hdfs_native
import pytest

from entrypoints import retention
from tests.integration.replications import End, cluster_document, hour
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.unit.retention.archiving import FILES, Dead, feed, one_by, target_of
from toolkit.cli.boundary import run_app
from toolkit.el import CanonicalPath
from toolkit.result import Outcome
from toolkit.storage import FileSystem, open_file_system

pytestmark = [pytest.mark.slow]
OLD = hour(0) | hour(1)
YOUNG = hour(2)
HOUR = "${YEAR}-${MONTH}-${DAY}-${HOUR}"
DAY_NAME = "2026/03/01"
NOMINAL = "2026-03-01T03:00Z"


@dataclass(frozen=True, kw_only=True)
class Archiving:
    """A feed that keeps an hour, on one store, and its archive on another.

    Attributes:
        directory: for repo, ledger and results.
    """

    directory: Path
    own: End
    archive: End

    def run(self, *more: str) -> tuple[int, dict[str, Any]]:
        """A run in this process: its exit code and its result."""
        result = self.directory / "result.json"
        return self.code("--result-file", str(result), *more), json.loads(result.read_text())

    def code(self, *more: str) -> int:
        """The exit code of a run in this process."""
        self._write_repo()
        return run_app(retention.app, ["--feed", "clicks", *self.arguments, *more])

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of the entrypoint, besides the feed."""
        return ["--config-repo", str(self.directory / "repo"), "--time", NOMINAL]

    def _write_repo(self) -> None:
        documents = {
            "repo.yaml": f"name: archiving\nledger: sqlite:///{self.directory}/ledger.db\n",
            "clusters/primary.yaml": cluster_document("primary", self.own),
            "clusters/cold.yaml": cluster_document("cold", self.archive),
            "feeds/clicks.yaml": (
                "kind: feed\nname: clicks\nfrequency: hours(1)\navailability_flag: _SUCCESS\n"
                f'locations: {{data: "/clicks/{HOUR}"}}\n'
                "clusters:\n  - name: primary\n"
                "    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}\n"
                "    retention:\n      limit: hours(1)\n      action: archive\n"
                f'      archive: {{cluster: cold, locations: {{data: "/old/{HOUR}"}}}}\n'
            ),
        }
        for name, text in documents.items():
            path = self.directory / "repo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def archived(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of instances, as the archive names them."""
    return {name.replace("clicks/", "old/", 1): content for name, content in files.items()}


def check(directory: Path, own: End, archive: End) -> None:
    """What is old goes into the archive, byte for byte; what is there already is compared; nothing else is touched."""
    directory.mkdir(exist_ok=True)
    if archive.system.capabilities.directories:
        archive.system.mkdirs(archive.at("old"))
    own.fill(OLD | YOUNG)
    archiving = Archiving(directory=directory, own=own, archive=archive)
    code, result = archiving.run()
    assert (code, [each["outcome"] for each in result["items"]]) == (0, ["done", "done"])
    assert {each["archive"] for each in result["items"]} == {str(archive.at(f"old/2026-03-01-0{at}")) for at in (0, 1)}
    assert own.files() == YOUNG
    assert archive.files("old", hidden=True) == archived(OLD)
    own.fill(hour(0) | {"clicks/2026-03-01-01/part-0": b"came late"})
    code, result = archiving.run()
    assert code == 0
    assert [each["outcome"] for each in result["items"]] == ["done", "done"]
    assert own.files() == YOUNG
    late = {"old/.feedctl-version-2-2026-03-01-01/part-0": b"came late"}
    assert archive.files("old", hidden=True) == archived(OLD) | late


def test_without_the_ledger_nothing_is_archived(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody would know the names of what a killed run leaves in the archive."""
    own, archive = local(tmp_path / "own"), local(tmp_path / "cold")
    archive.system.mkdirs(archive.at("old"))
    own.fill(OLD)
    archiving = Archiving(directory=tmp_path, own=own, archive=archive)
    assert archiving.code("--no-ledger") == 2
    assert "clicks on primary cannot be archived: without the ledger" in capsys.readouterr().err
    assert (own.files(), archive.files("old")) == (OLD, {})


def on_hdfs(cluster: HdfsCluster) -> End:
    path = f"/archives/{uuid4().hex}"
    hdfs_native.Client(cluster.uri).mkdirs(path, create_parent=True)
    return End(uri=f"{cluster.uri}{path}")


def on_s3(s3: S3Store, bucket: str, name: str = "cold") -> End:
    return End(uri=f"s3a://{bucket}/{name}", conf=s3.settings)


def local(path: Path) -> End:
    path.mkdir()
    return End(uri=f"file://{path}")


def test_from_a_disk_to_s3_and_back(s3: S3Store, s3_bucket: str, tmp_path: Path) -> None:
    check(tmp_path / "1", local(tmp_path / "own"), on_s3(s3, s3_bucket))
    check(tmp_path / "2", on_s3(s3, s3_bucket, "warm"), local(tmp_path / "cold"))


@pytest.mark.extended
def test_on_an_object_store_too_a_run_that_dies_anywhere_loses_nothing_and_the_next_one_finishes(
    s3: S3Store, s3_bucket: str
) -> None:
    """Some of its files are in the archive then, or some of the original are gone; never any of them is nowhere."""
    end = End(uri=f"s3a://{s3_bucket}", conf=s3.settings)
    died = 0
    for effects in range(9):
        files = {f"{effects}/data/{DAY_NAME}/{name}": text.encode() for name, text in FILES.items()}
        end.fill(files)
        target = target_of(feed(f"s3a://{s3_bucket}/{effects}"), end.system)
        path = end.at(f"{effects}/data/{DAY_NAME}")
        end.system.start_upload(end.at(f"{effects}/archive/{DAY_NAME}/left-by-a-killed-run"), 5)
        mortal = open_file_system(end.spec, before_effect=Mortal(effects))
        try:
            one_by(partial(_on, mortal), target, path, "7")
        except Dead:
            died += 1
            own, old = end.files(f"{effects}/data"), end.files(f"{effects}/archive")
            here = {name.rpartition("01/")[2] for name in (*own, *old)}
            assert here == set(FILES), effects
            assert len(own) == len(FILES) or len(old) == len(FILES), effects
        again = one_by(lambda _: end.system, target, path, "8").result
        assert again.outcome in {Outcome.DONE, Outcome.SKIPPED}, again
        assert end.files(f"{effects}/data") == {}
        assert {
            name.rpartition("01/")[2]: text.decode() for name, text in end.files(f"{effects}/archive").items()
        } == FILES
    assert died > len(FILES)
    with s3.client() as client:
        assert "Uploads" not in client.list_multipart_uploads(Bucket=s3_bucket)


def _on(system: FileSystem, path: CanonicalPath) -> FileSystem:
    del path
    return system


@dataclass
class Mortal:
    """Lets so many effects of a process through; then there is no process."""

    left: int

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Dead


def test_from_hdfs_to_a_disk_and_to_hdfs(hdfs: HdfsCluster, tmp_path: Path) -> None:
    check(tmp_path / "1", on_hdfs(hdfs), local(tmp_path / "cold"))
    check(tmp_path / "2", on_hdfs(hdfs), on_hdfs(hdfs))
