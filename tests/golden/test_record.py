"""Retention tells what it told when the record was made: results, audit lines, ledger rows, exit codes.

`FEEDCTL_WRITE_GOLDEN=1` writes the record anew; what then differs is a change of what users build on, and belongs into
the changelog. A store that falls silent takes minutes by its patience, and is tested in `tests/integration` instead.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import hdfs_native
import pytest

from tests.databases.ledgers import open_ledger
from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo, plain, submit
from tests.e2e.retention_runs import runs_of, sqlite_url
from tests.golden.record import Record
from tests.testbed.fault_proxy import FaultProxy
from tests.testbed.faults import Effect, Fault, Seen
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.ledger.state import start_check

pytestmark = pytest.mark.slow

RECORDS = Path(__file__).parent / "records"
CLICKS = ("--feed", "clicks")
STORED_FEED = """\
kind: feed
name: clicks
frequency: minutes(1)
availability_flag: _SUCCESS
locations: {data: "/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}/${MINUTE}"}
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    retention: {limit: days(10)}
"""


@dataclass(kw_only=True)
class Scene:
    """A repo, and what its runs tell."""

    repo: Repo
    capsys: pytest.CaptureFixture[str]
    record: Record = field(init=False)

    def __post_init__(self) -> None:
        self.record = Record(ledger=self.repo.ledger, words={str(self.repo.path.parent): "<here>"})

    def run(self, *arguments: str) -> None:
        """A run in this process."""
        self.capsys.readouterr()
        code = run_here(self.repo, *arguments, "--output", "json")
        self.record.add(code, self.capsys.readouterr().out)

    def digest(self) -> str:
        """Return the digest of the newest plan."""
        last = self.record.runs[-1]
        assert isinstance(last, dict)
        digest: str = last["result"]["plan_digest"]
        return digest


@pytest.fixture
def scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Scene:
    """A feed with three old instances and two young ones, a file that is none, and a plan of four at most."""
    repo = Repo.make(tmp_path, repo_yaml="name: golden\nmax_delete: {instances: 4}\n")
    repo.fill("2026/03/01", 3)
    repo.fill("2026/03/19", 2)
    (repo.data / "clicks" / "2026" / "notes").write_text("x")
    return Scene(repo=repo, capsys=capsys)


@pytest.fixture(autouse=True)
def check(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compare what the scene of the test has told with the record."""
    yield
    reported = request.node.funcargs.get("scene") or request.node.funcargs["stored"]
    file, text = RECORDS / f"{request.node.name.removeprefix('test_')}.json", reported.record.text()
    if os.environ.get("FEEDCTL_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert json.loads(text) == json.loads(file.read_text())


def test_dry_done_and_nothing_left(scene: Scene) -> None:
    scene.run(*CLICKS, "--dry-run")
    scene.run(*CLICKS)
    scene.run(*CLICKS)


def test_refused_and_approved(scene: Scene) -> None:
    scene.repo.fill("2026/03/02", 3)
    scene.run(*CLICKS)
    scene.run(*CLICKS, "--approve", "0" * 64)
    scene.run(*CLICKS, "--approve", scene.digest())


def test_held_before(scene: Scene) -> None:
    (scene.repo.data / "clicks" / ".feedctl-hold").write_text("wrong data, ask bob")
    scene.run(*CLICKS)


def test_held_by_the_repo(scene: Scene) -> None:
    hold = "- {feed: clicks, start: 2026-03-01T00:01Z, end: 2026-03-01T00:02Z, reason: audit}\n"
    scene.repo.write("holds.yaml", f"holds:\n{hold}")
    scene.run(*CLICKS)


def test_shared_data(scene: Scene) -> None:
    text = (scene.repo.path / "feeds" / "clicks.yaml").read_text()
    scene.repo.write("feeds/clicks_too.yaml", text.replace("name: clicks\n", "name: clicks_too\n"))
    scene.run(*CLICKS)


def test_no_ledger(scene: Scene) -> None:
    scene.run(*CLICKS, "--no-ledger")


def test_suspended(scene: Scene) -> None:
    scene.run(*CLICKS)
    ledger = open_ledger(sqlite_url(scene.repo))
    ledger.write(lambda tx: start_check.suspend(tx, "clicks", None, "bob", "migration"))
    ledger.close()
    scene.run(*CLICKS)


def test_all_of_which_one_cannot_be_done_and_one_fails(scene: Scene) -> None:
    text = (scene.repo.path / "feeds" / "clicks.yaml").read_text()
    for name, retention in (
        ("kept", "{limit: days(10)}"),
        ("none", ""),
        ("broken", "{limit: days(3)}"),
    ):
        own = text.replace("name: clicks\n", f"name: {name}\n").replace("/clicks/", f"/{name}/")
        own = own.replace('"/kept/', '"viewfs://all/kept/')
        scene.repo.write(
            f"feeds/{name}.yaml",
            own.replace("    retention: {limit: days(10)}\n", f"    retention: {retention}\n" if retention else ""),
        )
    (scene.repo.data / "broken").write_text("a file where a directory is expected")
    scene.run("--all")


def test_what_a_person_reads(scene: Scene) -> None:
    scene.capsys.readouterr()
    code = run_here(scene.repo, *CLICKS)
    text = scene.capsys.readouterr().out
    lines = [line for line in text.splitlines() if not line.startswith("retention at ")]
    scene.record.runs.append({"exit_code": code, "lines": [line.partition("; plan ")[0] for line in lines]})


@dataclass(kw_only=True)
class Stored(Scene):
    """A repo whose data is on S3 behind a proxy."""

    s3: S3Store
    bucket: str
    proxy: _WatchedProxy

    def __post_init__(self) -> None:
        super().__post_init__()
        self.record.words = {**self.record.words, self.bucket: "<bucket>", f":{self.proxy.port}": ":<port>"}

    def fill(self, minutes: int, files: tuple[str, ...] = ("part-0",)) -> None:
        names = [f"clicks/2026/03/01/{minute // 60:02d}/{minute % 60:02d}" for minute in range(minutes)]
        self.s3.fill(self.bucket, [f"{name}/{file}" for name in (*names, "clicks/2026/03/19/00/00") for file in files])

    def put(self, key: str) -> None:
        self.s3.fill(self.bucket, [key])


class _WatchedProxy(FaultProxy):
    """Acts when it has seen so many removals, before the next one is passed on."""

    def __init__(self, upstream: int) -> None:
        super().__init__(upstream)
        self.acts: dict[int, Callable[[], None]] = {}
        self._removals = 0

    def meet(self, seen: Seen) -> Fault | None:
        if seen.method == "POST" and "delete" in seen.query:
            self.acts.pop(self._removals, lambda: None)()
            self._removals += 1
        return super().meet(seen)


@pytest.fixture
def stored(tmp_path: Path, capsys: pytest.CaptureFixture[str], s3: S3Store, s3_bucket: str) -> Iterator[Stored]:
    """Nothing is in the bucket yet."""
    proxy = _WatchedProxy(s3.port)
    settings = {**s3.settings, "fs.s3a.endpoint": proxy.endpoint}
    repo = Repo.make(tmp_path, repo_yaml="name: golden\n")
    repo.write(
        "clusters/primary.yaml",
        f'kind: cluster\nname: primary\ninterfaces: {{write: {{endpoint: "s3a://{s3_bucket}/"}}}}\n'
        f"hadoop_conf: {json.dumps(settings)}\n",
    )
    repo.write("feeds/clicks.yaml", STORED_FEED)
    yield Stored(repo=repo, capsys=capsys, s3=s3, bucket=s3_bucket, proxy=proxy)
    proxy.close()


def test_bulk(stored: Stored) -> None:
    stored.fill(6, files=("_SUCCESS", "part-0"))
    stored.run(*CLICKS)


def test_bulk_that_is_not_answered(stored: Stored) -> None:
    stored.fill(3)
    stored.proxy.add(Fault(effect=Effect.CUT_AFTER, method="POST", query="delete", times=1))
    stored.run(*CLICKS)


def test_held_in_the_middle(stored: Stored) -> None:
    stored.fill(230)
    stored.proxy.acts[0] = lambda: stored.put("clicks/.feedctl-hold")
    stored.run(*CLICKS)


def test_killed_and_rerun(stored: Stored) -> None:
    stored.fill(130)

    # The proxy lives in this process, so the one that is killed is another one, which it knows by the lease's row.
    def kill() -> None:
        stored.proxy.add(Fault(effect=Effect.CUT_BEFORE, method="POST", query="delete", times=1))
        _kill_owner(stored.repo)

    stored.proxy.acts[1] = kill
    done = plain(stored.repo, *CLICKS, "--output", "json")
    stored.record.add(done.returncode, done.stdout)
    again = plain(stored.repo, *CLICKS, "--output", "json")
    stored.record.add(again.returncode, again.stdout)


@pytest.mark.extended
def test_spread_over_executors(stored: Stored, java_home: Path) -> None:
    stored.repo.write("repo.yaml", f"name: golden\nexecutors_above: 5\nledger: sqlite:///{stored.repo.ledger}\n")
    stored.fill(40)
    done = submit(java_home, stored.repo, *CLICKS, "--output", "json")
    assert "--archives" not in done.stdout, done.stdout  # no note that they could not be had
    stored.record.add(done.returncode, done.stdout)
    assert runs_of(sqlite_url(stored.repo))[0].owner_mark is None  # the end of the driver is not that of its executors


def test_whole_directories(scene: Scene, hdfs: HdfsCluster, hdfs_dir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.record.words = {**scene.record.words, hdfs_dir: "<hdfs>"}
    monkeypatch.setenv("HADOOP_USER_NAME", hdfs.superuser)
    interfaces = f'interfaces: {{write: {{endpoint: "{hdfs_dir}"}}}}'
    scene.repo.write("clusters/primary.yaml", f"kind: cluster\nname: primary\n{interfaces}\n")
    client, root = hdfs_native.Client(hdfs.uri), hdfs_dir.removeprefix(hdfs.uri)
    for name in ("01/00/00", "01/00/01", "01/01/00", "19/00/00"):
        client.mkdirs(f"{root}/clicks/2026/03/{name}", create_parent=True)
    scene.run(*CLICKS)


def _kill_owner(repo: Repo) -> None:
    connection = sqlite3.connect(repo.ledger)
    pid = connection.execute("SELECT pid FROM run WHERE status = 'running'").fetchone()[0]
    connection.close()
    os.kill(pid, signal.SIGKILL)
