"""Against who may write rows of the ledger: a row names what is deleted, and never where it is."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context
from tests.unit.cli.running import Feedctl
from tests.unit.cli.test_quality import NOON, Site, made_site
from tests.unit.hive.test_table_import import KEY as LANDED
from tests.unit.hive.test_table_import import Scene
from tests.unit.process_runner.test_late_checks import FIVE, World, world
from tests.unit.replication.test_staging import Copying
from tests.unit.retention.acting import capabilities
from tests.unit.retention.tables import BASE, TableSite
from tests.unit.runs.fakes import left_item
from toolkit.actions.validation import Part
from toolkit.el import CanonicalPath
from toolkit.ledger.database import Ledger
from toolkit.ledger.manifests import ManifestFile
from toolkit.ledger.runs.items import Item, NewItem
from toolkit.ledger.tables import input_fingerprint
from toolkit.ledger.vocabulary import ItemState, LateCheckResult
from toolkit.quality.data import print_of_parts
from toolkit.replication.verify import Verifier
from toolkit.result import ExitCode, Outcome
from toolkit.runs.stop import NeverStopped
from toolkit.storage import LocalFileSystem, aside_name
from toolkit.threads import WorkerPool

__all__ = ["world"]

KEY = "2026-03-01T00:00Z"
OLD = "ds=2026-03-01"


def _rows(place: str, name: str = OLD, key: str = KEY) -> list[Item]:
    """A dropped partition and its directory, as a run that died leaves them open, with fields of an attacker."""
    new = [("partition:data", f"catalog:logs:clicks#{name}"), ("partition_data:data", place)]
    return [
        left_item(NewItem(position=at, kind=kind, path=path, instance_key=key), 7)
        for at, (kind, path) in enumerate(new)
    ]


@pytest.mark.parametrize(
    "place",
    [
        "file:///home/op/private",
        f"file://{BASE}/ds=2026-03-19",
        f"file://{BASE}/ds=2026-03-01/region=us",
        f"file://{BASE}/other",
        f"file://{BASE}/.feedctl-staging",
        "file:///wh/logs.db",
    ],
)
def test_a_row_does_not_choose_the_directory_that_retention_of_a_table_deletes(place: str) -> None:
    site = TableSite()
    part = f"{place.removeprefix('file://')}/part"
    site.system.put(part)
    result = site.run(left=_rows(place))
    assert part in site.system.files
    assert [(each.item.uri, each.code) for each in result.items if each.outcome is Outcome.FAILED] == [
        (place, "unknown_owner")
    ]
    assert result.exit_code is ExitCode.FAILED
    assert site.recorder.settled_left == []


@pytest.mark.parametrize(
    ("name", "key"),
    [("ds=2026-03-19", KEY), ("ds=soon", KEY), ("other", KEY), ("region=us/ds=2026-03-01", KEY)],
)
def test_a_row_does_not_choose_a_partition_that_retention_would_keep(name: str, key: str) -> None:
    site = TableSite()
    site.system.put(f"{BASE}/{name}/part")
    result = site.run(left=_rows(f"file://{BASE}/{name}", name, key))
    assert f"{BASE}/{name}/part" in site.system.files
    assert [each.code for each in result.items] == ["unknown_owner"]


@pytest.mark.parametrize("place", ["s3://bucket/x/one", "hdfs://elsewhere/x", "no place", "file:///a/../b"])
def test_a_row_does_not_choose_a_store_that_is_asked(place: str) -> None:
    site = TableSite(unusable=place.partition(":")[0].replace("file", ""))
    result = site.run(left=_rows(place))
    assert [each.code for each in result.items] == ["unknown_owner"]
    assert place in [*result.items][-1].message
    settled = [(each.item.state, each.item.code) for each in site.recorder.settled_left]
    assert settled[-1] == (ItemState.FAILED, "unknown_owner")


def test_nothing_beside_or_above_a_place_that_a_row_names_goes() -> None:
    site = TableSite()
    site.system.has = capabilities(atomic_delete=False)
    site.system.make("/home/op/empty")
    for each in ("/home/op", f"{BASE}/a"):
        site.system.put(f"{each}/{aside_name('gone')}/part")
    before = sorted(site.system.files), sorted(site.system.directories)
    for place in ("/home/op/gone", f"{BASE}/a/gone", "/home/op/empty/gone"):
        site.run(left=_rows(f"file://{place}"))
    assert (sorted(site.system.files), sorted(site.system.directories)) == before


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return made_site(tmp_path, monkeypatch, tags="{team: web}")


@pytest.fixture
def feedctl(capsys: pytest.CaptureFixture[str]) -> Feedctl:
    return Feedctl(capsys)


@pytest.mark.parametrize(
    "place",
    ["private/.feedctl-staging/x", "data/clicks/.feedctl-staging/2026030111", "data/clicks/2026030111", "private"],
)
@pytest.mark.parametrize("verb", ["reject", "release"])
def test_a_row_does_not_choose_what_a_decision_on_blocked_data_looks_at_or_removes(
    site: Site, feedctl: Feedctl, place: str, verb: str
) -> None:
    site.makes("bad")
    assert site.run() == 1
    chosen = site.root / place
    chosen.mkdir(parents=True)
    (chosen / "part").write_text("mine")
    forge(site, "verdict", place=f"file://{chosen}", data_digest=_digest(chosen))
    refused = feedctl("quality", verb, "clicks", "--time", NOON, "--reason", "known")
    assert (refused.code, (chosen / "part").read_text()) == (2, "mine")
    assert f"file://{chosen}, which is not a place of the instance {NOON}" in refused.err
    assert (site.waits / "part-0").read_text() == "bad"


def forge(site: Site, table: str, **values: object) -> None:
    """Change all rows of a table of the site's ledger."""
    with closing(sqlite3.connect(site.root / "repo/.feedctl/ledger.db")) as ledger, ledger:
        columns = ", ".join(f"{name} = ?" for name in values)
        ledger.execute(f"UPDATE {table} SET {columns}", list(values.values()))  # noqa: S608 - a test's own names


def _digest(directory: Path) -> str:
    part = Part(place=CanonicalPath.parse(f"file://{directory}"), keys={})
    return print_of_parts([part], "_SUCCESS", lambda _: LocalFileSystem()).data_digest


@pytest.mark.parametrize(
    ("parts", "unit", "is_copied"),
    [
        ("", "to/x", True),
        ("", "to/y", False),
        ("", "to/x/de", False),
        ("*", "to/x/de", True),
        ("*", "to/x", False),
        ("d*", "to/x/fr", False),
        ("*", "to/x/.feedctl-own", False),
        ("*", "to/y/de", False),
        ("*/*", "to/x/de/de", True),
        ("*/*", "to/x/de", False),
    ],
)
def test_a_row_does_not_choose_the_directory_that_a_replication_brings_to_an_end(
    tmp_path: Path, parts: str, unit: str, *, is_copied: bool
) -> None:
    copying = Copying(tmp_path, parts=parts)
    place = tmp_path / unit
    waits = place.parent / ".feedctl-staging" / place.name
    aside = place.parent / f".feedctl-old-7-{place.name}"
    for each in (waits, aside):
        each.mkdir(parents=True)
        (each / "part").write_text("somebody's")
    action, work = copying.action(), replace(context(NeverStopped()), stores=lambda _: LocalFileSystem())
    row = NewItem(position=0, kind="copy", path=f"file://{place}", instance_key=KEY)
    found = action.recover(action.blank_plan(copying.target), [left_item(row, 7)], work)
    assert (waits.exists(), place.exists()) == ((False, True) if is_copied else (True, False))
    assert [each.item.code == "unknown_place" for each in found.settled] == [not is_copied]
    assert is_copied or f"file://{place}" in found.notes[-1]


@pytest.mark.parametrize(("day", "is_own"), [("2026-03-01", True), ("2026-03-02", False), ("x", False)])
@pytest.mark.parametrize("kind", ["clean", "add"])
def test_a_row_does_not_choose_the_instance_of_a_table_whose_copies_go(
    tmp_path: Path, kind: str, day: str, *, is_own: bool
) -> None:
    """A run of another instance may be just about to register them."""
    scene = Scene(root=tmp_path)
    scene.filled()
    list(scene.ran())
    name = f"ds={day}/region=de"
    data = tmp_path / f"to/dst.db/clicks/.feedctl-data-99/{name}"
    data.mkdir(parents=True)
    (data / "part").write_text("not registered yet")
    place = data if kind == "clean" else tmp_path / f"to/dst.db/clicks/{name}"
    row = NewItem(position=0, kind=kind, path=f"file://{place}", instance_key=LANDED)
    scene.left = [left_item(row, 99)]
    list(scene.ran())
    assert data.exists() is not is_own


@pytest.mark.parametrize("key", ["2012-03-01T05:00Z", "2012-03-01T01:00Z"])
def test_a_row_does_not_choose_what_the_check_for_late_data_lists(world: World, tmp_path: Path, key: str) -> None:
    world.write(f"clicks/{FIVE}/part-0", "private/salaries-of-joe", "shown/own")
    world.run()
    _forge_inputs(world.ledger, uri=f"file://{tmp_path}/private", instance_key=key)
    with reads_below(tmp_path / "private") as read:
        checked = world.checked("07:40")
    assert read == []
    (found,) = checked
    assert "salaries" not in found.cause
    assert found.verdict is (LateCheckResult.UNCHANGED if key == "2012-03-01T05:00Z" else LateCheckResult.GONE)


def _forge_inputs(ledger: Ledger, **values: str) -> None:
    ledger.write(lambda tx: tx.execute(input_fingerprint.update().where(input_fingerprint.c.input == "clicks"), values))


_AUDITED = {"open", "os.listdir", "os.scandir", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod"}


@dataclass
class _Watched:
    """Audit events of the interpreter below a watched directory: opened, listed, changed."""

    below: str = ""
    read: list[str] = field(default_factory=list)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.below and event in _AUDITED:
            paths = (os.fsdecode(each) for each in arguments if isinstance(each, str | bytes | os.PathLike))
            self.read += [f"{event} {path}" for path in paths if path.startswith(self.below)]


_WATCHED = _Watched()
sys.addaudithook(_WATCHED)


@contextmanager
def reads_below(directory: Path) -> Iterator[list[str]]:
    """Yield what this process opens, lists and changes in a directory while the block runs."""
    _WATCHED.read, _WATCHED.below = [], str(directory)
    try:
        yield _WATCHED.read
    finally:
        _WATCHED.below = ""


@pytest.mark.parametrize(
    ("parts", "unit"),
    [("", "private"), ("", "to/y"), ("*", "to/x/.feedctl-own"), ("*", "to/x/de/fr"), ("*", "to/x"), ("*", "to/x/../y")],
)
def test_a_row_does_not_choose_what_verify_reads(tmp_path: Path, parts: str, unit: str) -> None:
    copying = Copying(tmp_path, parts=parts)
    for place in (unit, unit.replace("to/x", "from/x")):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "secret").write_text("mine")
    row = {f"file://{tmp_path}/{unit}": {name: ManifestFile(4, "digest") for name in ("secret", "../../secret")}}
    verifier = Verifier(
        storage=lambda _: LocalFileSystem(),
        recorded=lambda _: row,
        was_copied=lambda _: False,
        is_being_copied=lambda _: False,
        check=lambda: None,
        pool=WorkerPool(1, "test"),
    )
    found = verifier.verify(copying.target)
    assert found is None or (found.files, dict(found.counts)) == (found.by_source, {}), "compared with the source alone"


_TEXTS = {
    "batch_instance": ("uri",),
    "event": ("uri",),
    "file": ("path",),
    "file_hold": ("path",),
    "input_fingerprint": ("uri",),
    "item": ("path",),
    "manifest": ("path",),
    "run": ("log_location",),
    "server": ("endpoint",),
    "step": ("path",),
    "step_run": ("log_location",),
    "verdict": ("page", "place", "unit"),
}
"""Columns that hold a path, a program or an address."""


def test_a_path_in_any_row_is_text_that_nothing_opens(site: Site, feedctl: Feedctl) -> None:
    site.makes("bad")
    assert site.run() == 1
    private = site.root / "private"
    private.mkdir()
    (private / "key").write_text("#!/bin/sh\ntouch opened\n")
    (private / "key").chmod(0o755)
    for table, columns in _TEXTS.items():
        forge(site, table, **dict.fromkeys(columns, f"file://{private}/key" if table != "step" else f"{private}/key"))
    instance = ("--start", NOON)
    with reads_below(private) as read:
        for arguments in (
            ("status",),
            ("instance", "list", "clicks", *instance),
            ("instance", "status", "clicks_job", *instance),
            ("instance", "logs", "clicks_job", "--time", NOON),
            ("instance", "triage", "clicks", "--time", NOON),
            ("hold", "list"),
            ("quality", "show", "clicks", "--time", NOON),
            ("quality", "reject", "clicks", "--time", NOON, "--reason", "bad"),
            ("run", "get-files", "--min-batch", "1", "--max-batch", "9"),
            ("run", "get-properties", "clicks_job", "--cluster", "local"),
        ):
            feedctl(*arguments)
        site.makes("good")
        assert site.run("--force") == 0
    assert read == []
    assert (private / "key").exists()
    assert not list(site.root.rglob("opened"))
