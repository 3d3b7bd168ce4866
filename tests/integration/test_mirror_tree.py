"""Runs of mirrors that compare both sides, on local disks, HDFS and S3: dry, real, refused and killed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from entrypoints import mirror
from tests.databases.ledgers import open_ledger, sqlite_url
from tests.described import faults
from tests.e2e.commands import ROOT
from tests.integration.mirror_runs import FEED_IN_TARGET
from tests.integration.replications import End
from tests.short_leases import short_leases
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.unit.mirror.site import copier
from toolkit.actions.file_copies import FileCopies
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.el import CanonicalPath
from toolkit.entities.mirror_work import TreeMirror
from toolkit.ledger.state import holds
from toolkit.ledger.state.holds import NewHold
from toolkit.mirror.tree_planner import TreePlanner
from toolkit.mirror.tree_run import TreeRun
from toolkit.rendering.document_schemas import DocumentName
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.plan import Copied, FileCopy

_FILES = {"src/a/f": b"f", "src/a/g": b"g", "src/deep/in/h": b"h", "src/stays": b"stays"}
_MIRROR = """\
kind: mirror
name: manuals
type: hdfs
cluster: two
validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}
frequency: hours(1)
values:
  source_cluster: one
  source_dir: {source}
  target_cluster: two
  target_dir: {target}
  {more}
"""


@dataclass
class _Runs:
    """Runs of the mirror `manuals` from `src` at one end to `dst` at another.

    Attributes:
        directory: of the config repo, the ledger and the logs.
        more: further values.
        settings: further lines of repo.yaml.
        feed: text of a feed, with the target's directory as `{target}`; empty: none.
    """

    directory: Path
    source: End
    target: End
    more: str = "on_source_delete: delete"
    settings: str = ""
    feed: str = ""
    hour: int = field(default=-1, init=False)

    def _write(self) -> list[str]:
        files = {"repo.yaml": f"name: trees\nledger: sqlite:///{self.directory}/ledger.db\n{self.settings}"}
        for name, end in (("one", self.source), ("two", self.target)):
            root = end.root
            interfaces = f'{{write: {{endpoint: "{root.scheme}://{root.authority}"}}}}'
            files[f"clusters/{name}.yaml"] = (
                f"kind: cluster\nname: {name}\ninterfaces: {interfaces}\nhadoop_conf: {json.dumps(dict(end.conf))}\n"
            )
        paths = {"source": self.source.at("src").path, "target": self.target.at("dst").path}
        files["mirrors/manuals.yaml"] = _MIRROR.format(**paths, more=self.more)
        if self.feed:
            files["feeds/parts.yaml"] = self.feed.format(**paths)
        for name, text in files.items():
            path = self.directory / "repo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return ["--config-repo", str(self.directory / "repo")]

    def _arguments(self) -> list[str]:
        return [
            *self._write(),
            "--mirror",
            "manuals",
            "--time",
            f"2026-03-{1 + self.hour // 24:02}T{self.hour % 24:02}:00Z",
        ]

    def run(self, *more: str) -> tuple[int, dict[str, Any]]:
        """The exit code and the result of a run for the next hour; of a dry run for the same."""
        self.hour += 1
        file = self.directory / "result.json"
        file.unlink(missing_ok=True)
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        code = run_app(mirror.app, [*self._arguments(), *more, "--output", "json", "--result-file", str(file)])
        self.hour -= "--dry-run" in more
        return code, json.loads(file.read_text()) if file.exists() else {}

    def started(self) -> subprocess.Popen[bytes]:
        """A run for the same hour in another process."""
        own = {"FEEDCTL_LOG_DIR": str(self.directory / "logs"), **short_leases(6)}
        command = [sys.executable, str(ROOT / "entrypoints/mirror.py"), *self._arguments(), "--output", "json"]
        return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **own}, stdout=subprocess.DEVNULL)

    def verified(self) -> int:
        return main(["verify", "--mirror", "manuals", *self._write(), "--output", "json"])

    def fill(self, files: dict[str, bytes]) -> None:
        self.source.fill(files)

    def gone(self, name: str) -> None:
        self.source.system.delete(self.source.at(f"src/{name}"), below=self.source.at("src"))

    def trees(self, *, hidden: bool = False) -> list[dict[str, bytes]]:
        """The files of both sides, by their names there."""
        ends = ((self.source, "src"), (self.target, "dst"))
        return [{key[4:]: text for key, text in end.files(name, hidden=hidden).items()} for end, name in ends]

    def is_equal(self) -> bool:
        """Return whether both sides have the same files, and feedctl has left nothing."""
        one, two = self.trees(hidden=True)
        return one == two


def _end(kind: str, directory: Path, request: pytest.FixtureRequest) -> End:
    if kind == "local":
        return End(uri=f"file://{directory / uuid4().hex}")
    if kind == "s3":
        s3: S3Store = request.getfixturevalue("s3")
        return End(uri=f"s3a://{request.getfixturevalue('s3_bucket')}/{uuid4().hex}", conf=s3.settings)
    hdfs: HdfsCluster = request.getfixturevalue("hdfs")
    uri = hdfs.webhdfs if kind == "webhdfs" else hdfs.uri
    return End(uri=f"{uri}/trees/{uuid4().hex}")


def _change(runs: _Runs) -> None:
    runs.gone("a")
    runs.fill({"src/new/x": b"fresh", "src/stays": b"longer"})


def _counted(result: dict[str, Any]) -> tuple[int, int, int]:
    counters = result["instances"][0]["counters"]
    return counters["COPY"], counters["BYTESCOPIED"], counters["DELETES"]


@pytest.fixture
def local(tmp_path: Path) -> _Runs:
    """A mirror between two directories of this machine, with four files at the source."""
    runs = _Runs(tmp_path, End(uri=f"file://{tmp_path}/one"), End(uri=f"file://{tmp_path}/two"))
    runs.fill(_FILES)
    return runs


def _run_through(runs: _Runs, gone: int) -> None:
    """Run, run again without a change, with changes, dry and real, and verify."""
    runs.fill(_FILES)
    pause = 0 if runs.target.system.capabilities.times else 1.1  # a copy of the same second may be one of an older file
    time.sleep(pause)
    code, result = runs.run()
    assert (code, *_counted(result)) == (0, 4, 8, 0)
    assert runs.is_equal()
    code, result = runs.run()
    assert (code, *_counted(result)) == (0, 0, 0, 0)
    time.sleep(pause)
    _change(runs)
    time.sleep(pause)
    before = runs.trees(hidden=True)
    code, result = runs.run("--dry-run")
    actions = {(each["action"], each["path"]) for each in result["instances"][0]["mirror"]["actions"]}
    assert {("copy", "new/x"), ("replace", "stays")} < actions
    assert code == 0
    assert faults(result, DocumentName.PROCESS_RUN, "result", strict=True) == []
    assert runs.trees(hidden=True) == before
    code, result = runs.run()
    assert (code, *_counted(result)) == (0, 2, 11, gone)
    assert runs.is_equal()
    names = [entry.name for entry in runs.target.system.list(runs.target.at("dst"))]
    assert names == ["deep", "new", "stays"], "no empty directory stays either"
    assert runs.verified() == 0
    runs.target.fill({"dst/deep/in/h": b"H"})
    assert runs.verified() == 4


def test_a_tree_of_this_machine_is_mirrored_refused_and_verified(local: _Runs) -> None:
    _run_through(local, 1)
    local.gone("deep")
    local.settings = "max_delete: {instances: 1}\n"
    code, result = local.run()
    assert (code, result["items"][0]["code"]) == (1, "refused")
    local.settings, local.more = "", "on_source_delete: quarantine"
    assert local.run()[0] == 0
    hidden = [name for name in local.trees(hidden=True)[1] if "/mirror.trees.manuals/" in name]
    assert [name.rpartition("/")[2] for name in hidden] == ["h"]
    for name in ("new", "stays"):
        local.gone(name)
    before = local.trees(hidden=True)[1]
    code, result = local.run()
    assert (code, result["items"][0]["code"]) == (1, "source_empty")
    assert local.trees(hidden=True)[1] == before


def test_a_hold_on_a_feed_stops_the_mirror_that_has_its_data(local: _Runs) -> None:
    assert local.run()[0] == 0
    local.feed = FEED_IN_TARGET
    local.gone("a")
    hold = local.directory / "two/dst/a/.feedctl-hold"
    hold.write_text("a lawsuit")
    before = local.trees(hidden=True)[1]
    for more in (["--dry-run"], []):
        result = local.run(*more)[1]
        (waiting,) = (each["waiting"] for each in result["instances"])
        assert (waiting["code"], "keeps the feed parts on two" in waiting["message"]) == ("held", True)
    assert local.trees(hidden=True)[1] == before
    hold.unlink()
    file = local.directory / "repo/holds.yaml"
    file.write_text("holds: [{feed: parts, reason: an audit}]\n")
    (waiting,) = (each["waiting"] for each in local.run()[1]["instances"])
    assert waiting["message"].startswith("a hold (an audit) keeps the feed parts on two, and ")
    assert local.trees()[1].keys() >= {"a/f", "a/g"}
    file.unlink()
    assert local.run()[0] == 0
    assert "a/f" not in local.trees()[1]


@pytest.mark.parametrize("is_file", [True, False])
def test_a_hold_that_is_set_while_files_are_copied_stops_the_mirror_before_it_publishes(
    local: _Runs, monkeypatch: pytest.MonkeyPatch, *, is_file: bool
) -> None:
    local.feed = FEED_IN_TARGET
    assert local.run()[0] == 0
    _change(local)
    before, copy, file = local.trees()[1], FileCopies.copy, local.directory / "two/dst/a/.feedctl-hold"
    with closing(open_ledger(sqlite_url(local.directory / "ledger.db"))) as ledger:

        def copied_and_held(*arguments: Any, **options: Any) -> list[Copied]:  # noqa: ANN401
            if is_file:
                file.write_text("a lawsuit")
            else:
                ledger.write(lambda tx: holds.add(tx, NewHold(feed="parts", reason="a lawsuit"), "ann"))
            return copy(*arguments, **options)

        monkeypatch.setattr(FileCopies, "copy", copied_and_held)
        code, result = local.run()
        instance = result["instances"][0]
        assert (code, result["status"], instance["waiting"]["code"]) == (75, "not_yet", "held")
        why = f".feedctl-hold in {local.target.at('dst/a')}" if is_file else "a hold (a lawsuit)"
        assert instance["waiting"]["message"].startswith(f"{why} keeps the feed parts on two, and ")
        assert local.trees()[1] == before
        monkeypatch.setattr(FileCopies, "copy", copy)
        local.hour -= 1
        assert local.run()[1]["instances"][0]["waiting"]["code"] == "held", "as a hold that was there at the start"
        assert local.trees()[1] == before
        if is_file:
            file.unlink()
        else:
            ledger.write(lambda tx: holds.remove(tx, holds.active(tx)[0].hold_id, "ann"))
        local.hour -= 1
        code, result = local.run()
    assert (code, result["instances"][0]["run"]["attempt"]) == (0, 2)
    assert local.is_equal()


@pytest.mark.extended
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("source", "target"),
    [("local", "hdfs"), ("hdfs", "webhdfs"), ("hdfs", "s3"), ("s3", "local"), ("s3", "s3")],
)
def test_a_tree_is_mirrored_between_stores(
    source: str, target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    runs = _Runs(tmp_path, _end(source, tmp_path, request), _end(target, tmp_path, request))
    _run_through(runs, 2 if "s3" in {source, target} else 1)


@pytest.mark.extended
@pytest.mark.parametrize("target", ["hdfs", "s3"])
def test_what_goes_into_quarantine_is_there_whole(target: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    runs = _Runs(tmp_path, _end("hdfs", tmp_path, request), _end(target, tmp_path, request))
    runs.more = "on_source_delete: quarantine"
    runs.fill(_FILES)
    assert runs.run()[0] == 0
    runs.gone("a")
    assert runs.run()[0] == 0
    one, two = runs.trees()
    assert one == two
    set_aside = {name.split("/", 4)[-1]: text for name, text in runs.trees(hidden=True)[1].items() if name not in two}
    assert set_aside == {"a/f": b"f", "a/g": b"g"}


@pytest.mark.extended
@pytest.mark.parametrize("name", [".feedctl-copy-mirror-trees.manuals", ".feedctl"])
def test_a_link_in_the_place_of_a_directory_of_feedctl_leads_nowhere(local: _Runs, tmp_path: Path, name: str) -> None:
    local.more = "on_source_delete: quarantine"
    assert local.run()[0] == 0
    outside = tmp_path / "outside"
    (outside / "old").mkdir(parents=True)
    (outside / "old/mine").write_text("mine")
    (tmp_path / "two/dst" / name).symlink_to(outside)
    _change(local)
    code, result = local.run()
    assert (code, result["items"][0]["code"]) == (1, "symlink_refused")
    assert [path.relative_to(outside).as_posix() for path in outside.rglob("*")] == ["old", "old/mine"]


@pytest.mark.extended
def test_a_file_that_may_not_be_read_fails_the_run_and_nothing_is_removed(hdfs: HdfsCluster, tmp_path: Path) -> None:
    base = f"/trees/{uuid4().hex}"
    admin = End(uri=f"{hdfs.webhdfs}{base}")
    runs = _Runs(tmp_path, End(uri=f"{hdfs.uri}{base}"), End(uri=f"file://{tmp_path}/two"))
    runs.fill(_FILES)
    assert runs.run()[0] == 0
    runs.gone("a")
    runs.fill({"src/secret": b"secret"})
    admin.system.set_permission(admin.at("src/secret"), 0)
    os.environ["HADOOP_USER_NAME"] = "eve"
    try:
        code, result = runs.run()
    finally:
        del os.environ["HADOOP_USER_NAME"]
    assert (code, result["items"][0]["code"]) == (1, "files_failed")
    assert "secret" in result["items"][0]["message"]
    assert runs.trees()[1].keys() == {"a/f", "a/g", "deep/in/h", "stays"}


@pytest.mark.extended
def test_a_file_that_changes_during_its_copy_to_s3_is_copied_by_the_next_run(
    s3: S3Store, s3_bucket: str, tmp_path: Path
) -> None:
    source, target = End(uri=f"file://{tmp_path}/one"), End(uri=f"s3a://{s3_bucket}/two", conf=s3.settings)
    source.fill({"src/f": b"first"})
    planner = TreePlanner(
        name="manuals",
        settings=TreeMirror(source_cluster="one", target_cluster="two", source_dir="/src", target_dir="/dst"),
        source=source.at("src"),
        target=target.at("dst"),
        stores=lambda path: source.system if path.is_local else target.system,
    )
    copy = copier(source.system, target.system)

    def changing(origin: CanonicalPath, into: CanonicalPath, files: Sequence[FileCopy]) -> Sequence[Copied]:
        source.fill({"src/f": b"other"})
        return copy(origin, into, files)

    with pytest.raises(SourceChanged, match="src/f"):
        TreeRun(planner=planner, copy=changing).run()
    assert target.files("dst") == {}, "its time would pass for that of a copy"
    TreeRun(planner=planner, copy=copy).run()
    assert target.files("dst") == {"dst/f": b"other"}


def _killed_rounds(runs: _Runs, rounds: int) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - pytest shows it with a failure
    chance = random.Random(seed)  # noqa: S311 - no secret
    runs.hour = 0
    begin = time.monotonic()
    assert runs.started().wait(120) == 0
    whole = time.monotonic() - begin
    for number in range(1, rounds + 1):
        runs.hour = number
        runs.fill({f"src/{number}/{each}": f"{number} {each}".encode() * 50 for each in range(40)})
        runs.fill({f"src/stays{each}": f"{number}".encode() for each in range(10)})
        if number > 1:
            runs.gone(f"{number - 1}")
        versions = [{}, *runs.trees()]
        killed = runs.started()
        time.sleep(chance.uniform(0.4, 1.1) * whole)
        killed.kill()
        killed.wait()
        for name, text in runs.trees()[1].items():
            assert text in {each.get(name) for each in versions}, f"{name} is neither old nor new"
        deadline = time.monotonic() + 120
        while runs.started().wait(120) != 0:
            assert time.monotonic() < deadline
            time.sleep(1)  # the lease of the killed run has to end
        assert runs.is_equal(), number


@pytest.mark.extended
@pytest.mark.timeout(300)
def test_a_killed_run_is_finished_by_the_next(local: _Runs) -> None:
    _killed_rounds(local, 2)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("target", ["hdfs", "s3"])
def test_runs_that_are_killed_again_and_again_end_in_equal_trees(
    target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    runs = _Runs(tmp_path, _end("hdfs", tmp_path, request), _end(target, tmp_path, request))
    runs.fill(_FILES)
    _killed_rounds(runs, 25)
