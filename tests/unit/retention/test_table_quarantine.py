"""Partitions in quarantine: they come back with their definition, whoever dies when, and nothing leads elsewhere."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.soak.chance import seeded
from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.retention.archiving import Dead, Dying
from tests.unit.retention.feeds import FeedText, acted, cluster, context_on, request_of, retention
from tests.unit.retention.quarantining import LATER, OLD_ONLY, manifests, restored
from tests.unit.retention.test_writers import Held
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder, left_item
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import Partition, Table, TableKind, TableName
from toolkit.catalog.port import Metastore
from toolkit.catalog.restricted import RestrictedMetastore
from toolkit.el import CanonicalPath, Frequency, parse_instant
from toolkit.entities import Cluster, ClusterLocations, ExpiryAction, Feed, Hold, Interface
from toolkit.ledger.runs.items import Item
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode, Status
from toolkit.retention import RetentionResolver, RetentionResult, SharedDataIndex
from toolkit.retention.quarantine import digest_of
from toolkit.retention.restorable import RestorableInstance, RestoreChoice, chosen, described
from toolkit.retention.restore import reader_of
from toolkit.retention.shared_tables import SharedTables
from toolkit.runs.output_use import OutputUse
from toolkit.runs.stop import StopSignal
from toolkit.storage import FileSystem, LocalFileSystem

NAME = TableName("logs", "clicks")
URI = "catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY}"
NOW = "2026-03-20T12:00Z"


class DyingMetastore(MemoryMetastore):
    """A metastore in memory; the run that uses it dies before or after a change when its disk has no effects left."""

    disk: FileSystem | None = None

    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        self._die()
        super().add_partitions(name, partitions)
        self._die()

    def drop_partitions(self, name: TableName, names: Sequence[str]) -> tuple[str, ...]:
        self._die()
        found = super().drop_partitions(name, names)
        self._die()
        return found

    def _die(self) -> None:
        if isinstance(self.disk, Dying):
            self.disk._count()  # noqa: SLF001 - a change of the metastore is an effect as well


@dataclass
class QuarantinedTable:
    """A table on a local disk, or in a bucket, whose old partitions go into quarantine.

    Attributes:
        root: of everything.
        endpoint: of the bucket; empty: it is on the disk.
        left: what killed runs left open in the ledger; None: runs have none.
    """

    root: Path
    kind: TableKind = TableKind.EXTERNAL
    metastore: DyingMetastore = field(default_factory=lambda: DyingMetastore(["logs", "web"]))
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    left: list[Item] | None = None
    runs: int = 0
    endpoint: str = ""
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        table = table_of(NAME, f"{self.endpoint or f'file:{self.root}'}/wh/clicks", ds="string", region="string")
        parameters = {**table.parameters, "transient_lastDdlTime": "1772323200"}
        self.table = replace(table, kind=self.kind, parameters=parameters)
        self.metastore.create_table(self.table)
        (self.root / "wh/clicks").mkdir(parents=True)

    def add(self, day: str, region: str = "us", *, at: str = "", has_data: bool = True) -> Path:
        """Add a partition with statistics and a serializer of its own, and return its directory."""
        location = f"file:{self.root}/{at}" if at else ""
        parameters = {"numRows": "7", "team": "web", "odd": "\x01'\"é"}
        plain = partition_of(self.table, f"2026-03-{day}", region, location=location, parameters=parameters)
        serde = replace(plain.storage.serde, parameters={"field.delim": "\t"})
        partition = replace(plain, storage=replace(plain.storage, serde=serde, columns=plain.storage.columns[:1]))
        self.metastore.add_partitions(NAME, [partition])
        place = Path(partition.location.removeprefix("file:"))
        if has_data:
            place.mkdir(parents=True, exist_ok=True)
            (place / f"part-{day}-{region}").write_text(f"rows of {day} {region}")
        return place

    @property
    def cluster(self) -> Cluster:
        plain = cluster(default_fs=self.endpoint or "file:///")
        registry = Interface(endpoint="thrift://nowhere:9083")
        own = ClusterLocations(tables=() if self.endpoint else (f"{self.root}/wh", f"{self.root}/own"))
        return replace(plain, interfaces=replace(plain.interfaces, registry=registry), locations=own)

    def feed(self, limit: str = "days(10)", action: ExpiryAction = ExpiryAction.QUARANTINE) -> Feed:
        """Keeps ten days, and the others for three days in quarantine."""
        plain = replace(FeedText(limit=limit).feed(), locations=None, table=URI)
        (each,) = plain.clusters
        assert each.retention is not None
        keep = Frequency.parse("days(3)") if action is ExpiryAction.QUARANTINE else None
        kept = replace(each.retention, action=action, quarantine=keep)
        return replace(plain, clusters=(replace(each, retention=kept),))

    def resolver(self, feed: Feed, nominal: str, disk: FileSystem, holds: Sequence[Hold] = ()) -> RetentionResolver:
        self.metastore.disk = disk
        feeds, clusters = (feed,), (self.cluster,)

        def opened(on: Cluster) -> Metastore:
            return RestrictedMetastore(self.metastore, lambda: None, LocationPolicy(cluster=on))

        return RetentionResolver(
            nominal_time=parse_instant(nominal),
            keep_beyond_validity=False,
            holds=tuple(holds),
            storage=lambda _: disk,
            shared_data=SharedDataIndex(feeds=feeds, clusters=clusters),
            shared_tables=SharedTables(feeds=feeds, clusters=clusters),
            metastore=opened,
        )

    def evict(
        self,
        *,
        limit: str = "days(10)",
        action: ExpiryAction = ExpiryAction.QUARANTINE,
        nominal: str = NOW,
        run_name: str = "1",
        disk: FileSystem | None = None,
        holds: Sequence[Hold] = (),
        dry_run: bool = False,
        outputs: OutputUse | None = None,
    ) -> RetentionResult:
        disk, feed = disk or LocalFileSystem(), self.feed(limit, action)
        targets = self.resolver(feed, nominal, disk, holds).resolve([(feed, self.cluster)], must_all_work=True)
        with self._recording():
            return acted(
                retention(limits=DeleteLimits()),
                targets,
                request_of(nominal, dry_run=dry_run),
                _opening(disk, run_name, outputs),
                recorder=self.recorder,
                audit=AuditMemory(),
            )

    def restore(
        self,
        choice: RestoreChoice | None = None,
        *,
        run_name: str = "2",
        disk: FileSystem | None = None,
        outputs: OutputUse | None = None,
    ) -> RetentionResult:
        disk, feed = disk or LocalFileSystem(), self.feed()
        (target,) = self.resolver(feed, LATER, disk).restorable([(feed, self.cluster)])
        with self._recording():
            return restored(target, choice, _opening(disk, run_name, outputs), self.recorder)

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """Keep what a run leaves open, as the ledger does."""
        self.recorder = recorder = MemoryRecorder(left=list(self.left or ()))
        self.runs += 1
        try:
            yield
        finally:
            if self.left is not None:
                gone = {(each.left.run_id, each.left.position) for each in recorder.settled_left}
                self.left = [each for each in self.left if (each.run_id, each.position) not in gone]
                settled = {each.position for step in recorder.steps for each in step.settled}
                intended = [each for step in recorder.steps for each in step.intended]
                self.left += [left_item(each, self.runs) for each in intended if each.position not in settled]

    def listed(self) -> list[RestorableInstance]:
        disk, feed = LocalFileSystem(), self.feed()
        (target,) = self.resolver(feed, LATER, disk).restorable([(feed, self.cluster)])
        reader = reader_of(target, lambda _: disk, lambda: None)
        return [each for entry in chosen(reader, RestoreChoice()) if (each := described(reader, entry)) is not None]

    @property
    def state(self) -> tuple[dict[str, Partition], dict[str, str]]:
        """The partitions that readers find, and the files outside of the quarantine."""
        names = self.metastore.partition_names(NAME)
        files = (each for each in self.root.rglob("*") if each.is_file() and "/.feedctl" not in str(each))
        found = {self.table.partition_name(each): each for each in self.metastore.partitions(NAME, names)}
        return found, {str(each.relative_to(self.root)): each.read_text() for each in files}

    @property
    def events(self) -> list[tuple[str, str]]:
        late = [each.event for each in self.recorder.settled_left if each.event is not None]
        return [(each.kind.value, each.instance_key) for each in (*self.recorder.events(), *late)]


def _opening(
    disk: FileSystem, run_name: str, outputs: OutputUse | None = None
) -> Callable[[StopSignal, Sequence[Condition]], RunContext]:
    def opened(signal: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        context = context_on(disk, signal, conditions)
        return replace(context, run_name=run_name, outputs=outputs or context.outputs)

    return opened


def outcomes(result: RetentionResult, *kinds: str) -> list[tuple[str, str]]:
    return [(each.outcome.value, each.code) for each in result.items if not kinds or each.item.type in kinds]


@pytest.fixture
def site(tmp_path: Path) -> QuarantinedTable:
    return QuarantinedTable(tmp_path)


@pytest.mark.parametrize("is_moved", [True, False])
def test_an_instance_is_announced_when_all_of_its_partitions_are_back(
    site: QuarantinedTable, *, is_moved: bool
) -> None:
    disk = LocalFileSystem() if is_moved else WithoutRenames()
    site.add("01", "us"), site.add("01", "in"), site.add("02")
    site.evict(disk=disk)
    first, second = (each.manifest for each in site.listed() if each.instance_key == "2026-03-01T00:00Z")
    site.restore(RestoreChoice(manifest=CanonicalPath.parse(first)), disk=disk)
    assert (len(site.state[0]), site.events) == (1, [])
    site.restore(RestoreChoice(manifest=CanonicalPath.parse(second)), disk=disk)
    assert (len(site.state[0]), site.events) == (2, [("available", "2026-03-01T00:00Z")])


@pytest.mark.parametrize("places", [("own/us", "wh/clicks/zz"), ("wh/clicks/zz", "own/us")])
def test_of_a_partition_that_was_evicted_from_two_places_the_newest_comes_back(
    site: QuarantinedTable, places: tuple[str, str]
) -> None:
    """A partition that is replaced gets another directory, so that two manifests are about it."""
    for number, place in enumerate(places):
        site.add("01", at=place)
        (site.root / place / "part").write_text(f"version {number}")
        site.evict(run_name=f"{number}")
    for number, each in enumerate(sorted(site.root.glob("wh/clicks/.feedctl/quarantine/*/*/*.json"))):
        os.utime(each, (1_800_000_000 + number, 1_800_000_000 + number))
    result = site.restore()
    assert (result.exit_code, outcomes(result)) == (ExitCode.DONE, [("done", "")])
    assert site.state[1][f"{places[1]}/part"] == "version 1"
    assert site.events == [("available", "2026-03-01T00:00Z")]
    assert [each.run for each in site.listed()] == ["0"]


def test_an_instance_with_a_partition_that_cannot_be_restored_is_not_announced(site: QuarantinedTable) -> None:
    site.add("01", "us"), site.add("01", "in")
    site.evict()
    Path(site.listed()[0].manifest.removeprefix("file:")).write_text("{}")
    site.restore()
    assert (len(site.state[0]), site.events) == (1, [])


def test_a_restore_that_is_killed_halfway_announces_nothing(tmp_path: Path) -> None:
    site = QuarantinedTable(tmp_path, left=[])
    site.add("01", "us"), site.add("01", "in")
    site.evict()
    for effects in range(12):  # the manifests are the last effect of each
        with suppress(Dead):
            site.restore(disk=Dying(effects))
        if len(site.state[0]) == 1:
            break
    with suppress(Dead):
        site.restore(disk=Dying(0))
    assert (len(site.state[0]), site.events) == (1, [])
    site.restore()
    assert (len(site.state[0]), site.events) == (2, [("available", "2026-03-01T00:00Z")])


@pytest.mark.parametrize("kind", [TableKind.EXTERNAL, TableKind.MANAGED])
def test_partitions_come_back_with_their_definitions_and_rows(tmp_path: Path, kind: TableKind) -> None:
    site = QuarantinedTable(tmp_path, kind)
    site.add("01", "us"), site.add("01", "in"), site.add("19")
    before = site.state
    result = site.evict()
    assert {each.outcome.value for each in result.items} == {"done"}
    assert site.events == [("evicted", "2026-03-01T00:00Z")]
    assert list(site.state[0]) == ["ds=2026-03-19/region=us"]
    assert list(site.state[1].values()) == ["rows of 19 us"]
    assert not (tmp_path / "wh/clicks/ds=2026-03-01").exists()
    assert [each.problem for each in site.listed()] == ["", ""]
    assert outcomes(site.restore()) == [("done", "")] * 2
    assert site.state == before
    assert site.events == [("available", "2026-03-01T00:00Z")]
    assert manifests(tmp_path) == []


def test_partitions_elsewhere_with_a_common_directory_and_without_data_come_back(site: QuarantinedTable) -> None:
    site.add("01", "us", at="own/shared"), site.add("01", "in", at="own/shared")
    site.add("03", "us", at="own/around"), site.add("03", "in", at="own/around/inside")
    site.add("04", has_data=False)
    before = site.state
    site.evict()
    assert site.state == ({}, {})
    assert len(manifests(site.root)) == 3
    site.evict(run_name="3")  # and a manifest without data beside it stays for its time
    assert len(manifests(site.root)) == 3
    assert outcomes(site.restore()) == [("done", "")] * 3
    assert site.state == before
    assert sorted(site.events) == [("available", f"2026-03-0{day}T00:00Z") for day in (1, 3, 4)]


@pytest.mark.parametrize("day", ["02", "19"])
def test_a_directory_that_a_partition_of_another_instance_shares_stays(site: QuarantinedTable, day: str) -> None:
    site.add("01", "us", at="own/shared"), site.add(day, "us", at="own/shared")
    before = site.state
    assert outcomes(site.evict()) == []
    assert site.state == before


def test_a_partition_outside_of_the_clusters_places_stays(site: QuarantinedTable) -> None:
    site.add("01", at="foreign/place")
    before = site.state
    assert outcomes(site.evict()) == []
    assert site.state == before


def test_a_dry_run_writes_nothing_and_names_the_quarantine(site: QuarantinedTable) -> None:
    site.add("01")
    before = site.state
    items = [each.item for each in site.evict(dry_run=True).items]
    folder = f"file://{site.root}/wh/clicks/.feedctl/quarantine/clicks"
    assert [str(each.quarantine) for each in items] == ["None", folder]
    assert (site.state, manifests(site.root)) == (before, [])


def test_a_purge_waits_for_its_time_and_for_the_limit_and_the_holds_of_now(site: QuarantinedTable) -> None:
    site.add("01"), site.add("19")
    site.evict()
    assert outcomes(site.evict(run_name="3")) == []
    assert outcomes(site.evict(limit="months(1200)", nominal=LATER, run_name="4")) == []
    hold = Hold(feed="clicks", reason="audit")
    assert outcomes(site.evict(limit=OLD_ONLY, nominal=LATER, run_name="5", holds=[hold])) == []
    assert outcomes(site.evict(limit=OLD_ONLY, nominal=LATER, run_name="6"), "quarantined") == [("done", "")]
    assert not list(site.root.rglob("*01-us*"))
    assert (manifests(site.root), list(site.state[0])) == ([], ["ds=2026-03-19/region=us"])


def test_a_purge_goes_on_when_the_feed_deletes_by_now(site: QuarantinedTable) -> None:
    site.add("01"), site.add("19")
    site.evict()
    result = site.evict(limit=OLD_ONLY, nominal=LATER, run_name="6", action=ExpiryAction.DELETE)
    assert outcomes(result, "quarantined") == [("done", "")]


@pytest.mark.parametrize("is_registered", [True, False])
def test_an_occupied_place_is_refused_and_both_stay(site: QuarantinedTable, *, is_registered: bool) -> None:
    place = site.add("01")
    site.evict()
    if is_registered:
        elsewhere = f"file:{site.root}/own/new"
        site.metastore.add_partitions(NAME, [partition_of(site.table, "2026-03-01", "us", location=elsewhere)])
    else:
        place.mkdir(parents=True)
        (place / "new").write_text("new")
    before = site.state
    assert outcomes(site.restore()) == [("failed", "already_exists")]
    assert (site.state, len(manifests(site.root))) == (before, 1)


def test_what_another_table_has_by_now_is_not_touched_by_a_restore(site: QuarantinedTable) -> None:
    site.add("01", at="own/place")
    site.evict()
    site.metastore.create_table(table_of(TableName("web", "other"), f"file:{site.root}/own", ds="string"))
    before = site.state
    assert outcomes(site.restore()) == [("failed", "already_exists")]
    assert site.state == before


@pytest.mark.parametrize("place", ["/etc", "{root}/foreign", "{root}/own/other", "hdfs://elsewhere:8020/x"])
def test_an_edited_definition_leads_nowhere(site: QuarantinedTable, place: str) -> None:
    site.add("01")
    site.evict()
    (manifest,) = manifests(site.root)
    found: dict[str, Any] = json.loads(manifest.read_text())
    own, other = f"file:{site.root}/wh/clicks/ds=2026-03-01/region=us", place.format(root=site.root)
    found["definition"] = found["definition"].replace(own, other)
    manifest.write_text(json.dumps(found))
    before = site.state
    result = site.restore()
    assert [*result.items] == []
    assert "cannot be restored" in " ".join(result.targets[0].plan.notes)
    site.evict(limit=OLD_ONLY, nominal=LATER, run_name="3")
    assert (site.state, len(manifests(site.root))) == (before, 1)


def test_an_instance_is_chosen_by_its_time(site: QuarantinedTable) -> None:
    site.add("01"), site.add("02")
    site.evict()
    site.restore(RestoreChoice(instance_key="2026-03-02T00:00Z"))
    assert list(site.state[0]) == ["ds=2026-03-02/region=us"]


class WithoutRenames(LocalFileSystem):
    """A disk that is used as an object store is: nothing can be renamed."""

    capabilities = replace(LocalFileSystem.capabilities, atomic_rename=False)

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        raise AssertionError(source, target)


def test_where_nothing_is_renamed_the_metastore_alone_forgets_until_the_purge(site: QuarantinedTable) -> None:
    site.add("01"), site.add("02"), site.add("03", at="own/place"), site.add("19")
    before, disk = site.state, WithoutRenames()
    site.evict(disk=disk)
    left = ["ds=2026-03-03/region=us", "ds=2026-03-19/region=us"]  # one is where the table gives it no directory
    assert (list(site.state[0]), site.state[1]) == (left, before[1])
    assert outcomes(site.evict(disk=disk, run_name="3")) == []
    assert outcomes(site.restore(disk=disk)) == [("done", "")] * 2
    assert (site.state, manifests(site.root)) == (before, [])
    site.evict(disk=disk, run_name="4")
    purged = site.evict(limit=OLD_ONLY, nominal=LATER, disk=disk, run_name="5")
    assert outcomes(purged, "quarantined") == [("done", "")] * 2
    assert (list(site.state[0]), manifests(site.root)) == (left, [])
    assert sorted(site.state[1].values()) == ["rows of 03 us", "rows of 19 us"]


@pytest.mark.parametrize("how", ["registered", "written", "of another table"])
def test_where_nothing_is_renamed_what_is_used_again_is_not_purged(site: QuarantinedTable, how: str) -> None:
    place, disk = site.add("01"), WithoutRenames()
    before = site.state
    site.evict(disk=disk)
    if how == "registered":
        site.metastore.add_partitions(NAME, list(before[0].values()))
    elif how == "written":
        (place / "new").write_text("new")
    else:
        site.metastore.create_table(table_of(TableName("web", "other"), f"file:{place}", ds="string"))
    assert (place / "part-01-us").exists()
    result = site.evict(limit="days(10)", nominal=LATER, disk=disk, run_name="3")
    assert "done" not in [code for code, _ in outcomes(result, "quarantined")]
    assert (place / "part-01-us").exists()
    assert manifests(site.root)


def forged(site: QuarantinedTable, place: Path) -> dict[str, Any]:
    """Write the manifest of an old partition at a place, as a run that was killed after the drop leaves it."""
    site.add("01")
    site.evict()
    (manifest,) = manifests(site.root)
    found: dict[str, Any] = json.loads(manifest.read_text())
    own = f"file:{site.root}/wh/clicks/ds=2026-03-01/region=us"
    found["definition"] = found["definition"].replace(own, f"file:{place}")
    found["path"] = f"file://{place}"
    shutil.rmtree(manifest.parent)
    path = CanonicalPath.parse(found["path"])
    target = manifest.parent / f"{manifest.name.rpartition('-')[0]}-{digest_of(path)}.json"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(found))
    return found


@pytest.mark.parametrize("nominal", [NOW, LATER])
@pytest.mark.parametrize("place", ["own/victim", "wh/clicks/victim", "wh/clicks/ds=2026-03-19/region=us"])
@pytest.mark.parametrize("disk", [LocalFileSystem(), WithoutRenames()])
def test_a_forged_manifest_neither_moves_nor_purges(
    site: QuarantinedTable, place: str, nominal: str, disk: FileSystem
) -> None:
    forged(site, site.root / place)
    site.add("19")
    (site.root / place).mkdir(parents=True, exist_ok=True)
    (site.root / place / "rows").write_text("of somebody")
    os.utime(site.root / place / "rows", (0, 0))
    before, limit = site.state, OLD_ONLY if nominal == LATER else "days(10)"
    assert "done" not in {code for code, _ in outcomes(site.evict(limit=limit, nominal=nominal, disk=disk))}
    assert site.state == before


@pytest.mark.parametrize("action", [ExpiryAction.DELETE, ExpiryAction.QUARANTINE])
@pytest.mark.parametrize("place", ["wh/clicks/.feedctl", "wh/clicks/.feedctl/quarantine/clicks"])
def test_a_row_of_the_metastore_does_not_take_the_quarantine(
    site: QuarantinedTable, place: str, action: ExpiryAction
) -> None:
    site.add("01")
    before = site.state
    site.evict()
    site.add("02", at=place, has_data=False)
    assert outcomes(site.evict(run_name="3", action=action)) == []
    site.metastore.drop_partitions(NAME, ["ds=2026-03-02/region=us"])
    assert outcomes(site.restore()) == [("done", "")]
    assert site.state == before


def test_a_partition_whose_definition_cannot_come_back_stays(site: QuarantinedTable) -> None:
    site.add("01")
    (found,) = site.state[0].values()
    site.metastore.drop_partitions(NAME, ["ds=2026-03-01/region=us"])
    serde = replace(found.storage.serde, parameters={"avro.schema.url": "hdfs://elsewhere:8020/x"})
    site.metastore.add_partitions(NAME, [replace(found, storage=replace(found.storage, serde=serde))])
    before = site.state
    assert ("failed", "not_restorable") in outcomes(site.evict())
    assert (site.state, manifests(site.root)) == (before, [])


def test_what_another_program_drops_meanwhile_is_not_moved(site: QuarantinedTable) -> None:
    """A program that drops a partition itself may want its data, so no manifest makes a later run move it."""
    site.add("01")
    _, files = site.state

    class Meanwhile(LocalFileSystem):
        def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
            super().write(path, chunks, overwrite=overwrite)
            site.metastore.disk = None
            site.metastore.drop_partitions(NAME, ["ds=2026-03-01/region=us"])

    site.evict(disk=Meanwhile())
    assert (site.state, manifests(site.root)) == (({}, files), [])
    assert outcomes(site.evict(run_name="3")) == []
    assert site.state == ({}, files)


def test_a_partition_that_comes_back_meanwhile_is_not_dropped_without_a_manifest(site: QuarantinedTable) -> None:
    site.add("01", "us", at="own/shared"), site.add("01", "in", at="own/shared")
    before, looks = site.state, 0
    known = site.metastore.partitions

    def blinking(name: TableName, names: Sequence[str]) -> Sequence[Partition]:
        nonlocal looks
        looks += 1
        found = known(name, names)
        return found[:1] if looks == 2 else found  # the plan looks first, and the drop after the manifest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site.metastore, "partitions", blinking)
        assert {code for _, code in outcomes(site.evict())} == {"already_gone", "partition_stays"}
    assert looks > 2
    assert (site.state, manifests(site.root)) == (before, [])
    assert outcomes(site.evict(run_name="3")) == [("done", "")] * 3


def test_what_a_killed_run_left_waits_for_a_run_that_writes_there(site: QuarantinedTable) -> None:
    place = left_behind(site)
    assert outcomes(site.evict(run_name="3", outputs=Held(key="2026-03-01T00:00Z"))) == [("skipped", "lease_held")]
    assert place.exists()
    assert outcomes(site.evict(run_name="4")) == [("done", "")]
    assert not place.exists()


def test_a_restore_waits_for_a_run_that_writes_the_partition(site: QuarantinedTable) -> None:
    site.add("01")
    site.evict()
    assert outcomes(site.restore(outputs=Held(key="2026-03-01T00:00Z"))) == [("skipped", "lease_held")]
    assert (site.state, len(manifests(site.root))) == (({}, {}), 1)
    assert outcomes(site.restore(outputs=Held(key="2026-03-02T00:00Z"))) == [("done", "")]


def test_a_restore_where_nothing_is_renamed_wants_all_of_the_data(site: QuarantinedTable) -> None:
    place, disk = site.add("01"), WithoutRenames()
    (place / "other").write_text("more")
    site.evict(disk=disk)
    (place / "other").unlink()
    before = site.state
    assert outcomes(site.restore(disk=disk)) == [("failed", "not_whole")]
    assert (site.state, len(manifests(site.root))) == (before, 1)


def test_a_partition_without_data_does_not_take_what_others_put_there(site: QuarantinedTable) -> None:
    place = site.add("01", has_data=False)
    site.evict()
    place.mkdir(parents=True)
    (place / "new").write_text("new")
    before = site.state
    assert outcomes(site.restore()) == [("failed", "already_exists")]
    assert site.state == before


def left_behind(site: QuarantinedTable) -> Path:
    """Return the directory of a partition that the metastore has forgotten, of a run that was killed then."""
    place = site.add("01")
    for effects in range(20):
        if died(effects, lambda disk: site.evict(disk=disk)) and not site.state[0]:
            break
    assert (site.state[0], place.exists()) == ({}, True)
    return place


def test_a_manifest_that_another_one_replaces_moves_nothing_later(site: QuarantinedTable) -> None:
    """A run was killed before the drop, the next one evicts, and then another program writes there again."""
    place = site.add("01")
    for effects in range(20):
        if died(effects, lambda disk: site.evict(disk=disk)) and manifests(site.root):
            break
    assert len(site.state[0]) == 1
    site.evict(run_name="3")
    assert len(manifests(site.root)) == 1
    place.mkdir(parents=True)
    (place / "new").write_text("new rows")
    assert outcomes(site.evict(run_name="4")) == []
    assert list(site.state[1].values()) == ["new rows"]


def test_data_that_may_be_newer_than_its_manifest_is_neither_moved_nor_purged(site: QuarantinedTable) -> None:
    """A run was killed after the drop, and the next one comes when the time in quarantine is over."""
    place = left_behind(site)
    result = site.evict(limit=OLD_ONLY, nominal=LATER, run_name="3")
    assert outcomes(result, "quarantined") == [("failed", "location_in_use")]
    assert place.exists()
    assert outcomes(site.restore()) == [("done", "")]
    assert (list(site.state[0]), place.exists()) == (["ds=2026-03-01/region=us"], True)


class DyingWithoutRenames(Dying):
    """The same on a store without renames."""

    capabilities = WithoutRenames.capabilities


def died(effects: int, act: Callable[[FileSystem], object], disk_of: Callable[[int], FileSystem] = Dying) -> bool:
    try:
        act(disk_of(effects))
    except Dead:
        return True
    return False


@dataclass(frozen=True)
class CrashRound:
    """A round of deaths over a table: a partition is there with its rows, or a restore brings it back.

    Attributes:
        root: of the table.
        renames: whether its store has them.
        has_ledger: whether its runs have a ledger.
    """

    root: Path
    renames: bool = True
    has_ledger: bool = True

    def run(self, days: Sequence[str], evicting: int, restoring: int, purging: int) -> None:
        site = QuarantinedTable(self.root, left=[] if self.has_ledger else None)
        for day in days:
            site.add(day)
        site.add("19")
        before = site.state
        self._died(evicting, lambda disk: site.evict(disk=disk))
        assert site.restore(run_name="2", disk=self._disk).status is Status.SUCCEEDED
        assert site.state == before
        self._died(evicting, lambda disk: site.evict(disk=disk, run_name="3"))
        first = site.events
        assert site.evict(run_name="4", disk=self._disk).status is Status.SUCCEEDED
        self._require_events(days, "evicted", [*first, *site.events])
        assert list(site.state[0]) == ["ds=2026-03-19/region=us"]
        assert not self.renames or list(site.state[1].values()) == ["rows of 19 us"]
        self._died(restoring, lambda disk: site.restore(disk=disk, run_name="5"))
        first = site.events
        assert site.restore(run_name="6", disk=self._disk).status is Status.SUCCEEDED
        self._require_events(days, "available", [*first, *site.events])
        assert site.state == before
        site.evict(run_name="7", disk=self._disk)
        self._died(purging, lambda disk: site.evict(limit=OLD_ONLY, nominal=LATER, disk=disk, run_name="8"))
        for run_name in ("9", "10"):
            site.evict(limit=OLD_ONLY, nominal=LATER, run_name=run_name, disk=self._disk)
        assert list(site.state[1].values()) == ["rows of 19 us"]
        assert (manifests(self.root), [each for each in self.root.rglob("part-*") if "19" not in each.name]) == ([], [])
        assert not site.left

    @property
    def _disk(self) -> FileSystem:
        return LocalFileSystem() if self.renames else WithoutRenames()

    def _died(self, effects: int, act: Callable[[FileSystem], object]) -> None:
        died(effects, act, Dying if self.renames else DyingWithoutRenames)

    def _require_events(self, days: Sequence[str], what: str, events: Sequence[tuple[str, str]]) -> None:
        """Without a ledger a killed run has no events."""
        keys = {key for kind, key in events if kind == what}
        assert not self.has_ledger or keys == {f"2026-03-{day}T00:00Z" for day in days}


@pytest.mark.parametrize("has_ledger", [True, pytest.param(False, marks=pytest.mark.extended)])
@pytest.mark.parametrize("renames", [True, False])
def test_a_run_that_dies_before_any_of_its_effects_can_be_run_again(
    tmp_path: Path, *, renames: bool, has_ledger: bool
) -> None:
    for effects in range(12):
        CrashRound(tmp_path / str(effects), renames, has_ledger).run(["01"], effects, effects, effects)


@pytest.mark.parametrize(
    "rounds",
    [pytest.param(5, marks=pytest.mark.extended), pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(0)])],
)
def test_random_tables_survive_random_deaths(tmp_path: Path, rounds: int) -> None:
    chance = seeded()
    for number in range(rounds):
        days = [f"{day:02}" for day in range(1, 10) if chance.random() < 0.5] or ["01"]
        root = tmp_path / str(number)
        one = CrashRound(root, renames=chance.random() < 0.5, has_ledger=chance.random() < 0.5)
        one.run(days, *(chance.randrange(50) for _ in range(3)))
        shutil.rmtree(root)
