"""Tests of what a killed run had begun of partitions: the metastore tells what it has forgotten, and the data go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from tests.tables.tables import partition_of, table_of
from tests.unit.retention.acting import capabilities
from tests.unit.retention.feeds import FeedText, days, run
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.retention.tables import BASE, TableSite
from tests.unit.retention.test_writers import Held
from tests.unit.runs.fakes import MemoryRecorder, left_item
from toolkit.catalog.model import TableName
from toolkit.el import parse_instant
from toolkit.entities import Cluster, Hold, Interface, Interfaces
from toolkit.errors import Unavailable
from toolkit.ledger.runs.items import Item, NewItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode, Outcome, Status
from toolkit.retention import RetentionResult
from toolkit.runs.output_use import OutputUse
from toolkit.storage import aside_name

KEY = "2026-03-01T00:00Z"
OLD = "ds=2026-03-01"


def _partition(position: int = 0, name: str = OLD, table: str = "logs:clicks", run_id: int = 7) -> Item:
    path = f"catalog:{table}#{name}"
    return left_item(NewItem(position=position, kind="partition:data", path=path, instance_key=KEY), run_id)


def _data(position: int = 1, place: str = f"{BASE}/{OLD}", run_id: int = 7) -> Item:
    path = place if ":" in place else f"file://{place}"
    return left_item(NewItem(position=position, kind="partition_data:data", path=path, instance_key=KEY), run_id)


def _settled(site: TableSite) -> list[tuple[int, ItemState, str | None, str | None]]:
    return [
        (each.item.position, each.item.state, each.item.code, each.event.instance_key if each.event else None)
        for each in site.recorder.settled_left
    ]


GONE = [(0, ItemState.DONE, "found_gone", KEY), (1, ItemState.DONE, "found_gone", None)]


def test_killed_between_metadata_and_data_the_next_run_removes_the_data_and_tells() -> None:
    site = TableSite()
    site.system.put(f"{BASE}/{OLD}/part")
    result = site.run(left=[_partition(), _data()])
    assert (site.directories, _settled(site), result.status) == ([], GONE, Status.SUCCEEDED)


def test_killed_before_the_metadata_the_plan_takes_it_again() -> None:
    site = TableSite()
    site.add_days("01")
    site.run(left=[_partition(), _data()])
    assert _settled(site) == [(0, ItemState.FAILED, "not_done", None), (1, ItemState.FAILED, "not_done", None)]
    assert (site.names, site.directories) == ([], [])
    assert [each.instance_key for each in site.recorder.events()] == [KEY]


def test_data_of_a_partition_that_a_run_writes_anew_stay_until_that_run_is_over() -> None:
    """A backfill writes the files first: the metastore does not have the partition yet."""
    site = TableSite(outputs=Held(key=KEY))
    site.system.put(f"{BASE}/{OLD}/part")
    result = site.run(left=[_partition(), _data()])
    assert f"{BASE}/{OLD}/part" in site.system.files
    assert (_settled(site), result.exit_code) == ([], ExitCode.DONE)
    site.outputs = OutputUse()
    site.run(left=[_partition(), _data()])
    assert (site.directories, _settled(site)) == ([], GONE)


def test_a_row_that_names_no_partition_beside_a_writer_ends_no_run() -> None:
    site = TableSite(outputs=Held(key=KEY))
    site.system.put(f"{BASE}/{OLD}/part")
    site.run(left=[_partition(name="nonsense"), _data()])
    assert f"{BASE}/{OLD}/part" in site.system.files


@dataclass
class FailsOnce:
    """`NewHolds` of a ledger that does not answer the first time."""

    requested: int = 0

    def are_on(self, pairs: Sequence[tuple[str, str]]) -> bool:
        del pairs
        self.requested += 1
        if self.requested == 1:
            message = "the ledger is away"
            raise Unavailable(message)
        return False


def test_a_hold_that_could_not_be_looked_for_in_the_recovery_stops_the_rest_of_the_run_too() -> None:
    site = TableSite(new_holds=FailsOnce())
    site.add_days("02")
    site.system.put(f"{BASE}/{OLD}/part")
    result = site.run(left=[_partition(), _data()])
    assert (site.names, f"{BASE}/{OLD}/part" in site.system.files) == (["ds=2026-03-02"], True)
    assert {each.code for each in result.items} == {"ledger_unavailable"}
    site.run(left=[_partition(), _data()])
    assert (site.names, site.directories) == ([], [])


def _failures(result: RetentionResult) -> list[tuple[str, str]]:
    return [(each.item.uri, each.code) for each in result.items if each.outcome is Outcome.FAILED]


def test_data_of_which_the_ledger_names_no_partition_stay_open_and_fail_until_somebody_moves_them() -> None:
    site = TableSite()
    site.system.put("/data/x/one/part")
    result = site.run(left=[_data(place="/data/x/one")])
    assert (_failures(result), _settled(site)) == ([("file:///data/x/one", "unknown_owner")], [])
    assert "/data/x/one/part" in site.system.files
    assert "remove them or move them away" in [*result.items][-1].message
    site.system.files.pop("/data/x/one/part")
    site.system.directories.discard("/data/x/one")
    assert (_failures(site.run(left=[_data(place="/data/x/one")])), _settled(site)) == ([], GONE[1:])


def test_what_this_run_plans_anyway_is_no_failure() -> None:
    site = TableSite()
    site.add_days("01")
    result = site.run(left=[_data()])
    assert (_failures(result), _settled(site)) == ([], [(1, ItemState.FAILED, "not_done", None)])
    assert (site.names, site.directories) == ([], [])


@pytest.mark.parametrize("changed", ["1774008000", "0", "soon", ""])
def test_a_table_that_may_be_a_later_one_of_the_name_says_nothing_of_the_partitions(changed: str) -> None:
    site = TableSite()
    site.metastore.change_parameters(site.table.name, put={"transient_lastDdlTime": changed})
    site.system.put("/data/x/one/part")
    result = site.run(left=[_partition(), _data(place="/data/x/one")])
    assert (_failures(result), _settled(site)) == ([("file:///data/x/one", "unknown_owner")], [])
    assert "/data/x/one/part" in site.system.files
    assert "may be another one" in [*result.items][-1].message


def test_a_table_without_its_directory_leaves_everything_open_since_the_disk_may_not_be_mounted() -> None:
    site = TableSite()
    site.system.directories.clear()
    result = site.run(left=[_partition(), _data()])
    assert (_failures(result), _settled(site)) == ([(f"file://{BASE}/{OLD}", "not_found")], [])


def test_so_does_a_place_outside_of_it_whose_disk_may_not_be_mounted() -> None:
    site = TableSite()
    result = site.run(left=[_partition(), _data(place="/mnt/disk2/one")])
    assert (_failures(result), _settled(site)) == ([("file:///mnt/disk2/one", "unknown_owner")], [])


def test_a_place_on_another_store_is_named_once_without_asking_it_and_the_others_go_on() -> None:
    site = TableSite(unusable="s3")
    site.system.put(f"{BASE}/{OLD}/part")
    elsewhere = [_partition(2, "ds=2026-03-02"), _data(3, "s3://bucket/x/one")]
    result = site.run(left=[_partition(), _data(), *elsewhere])
    states = [(at, state, code) for at, state, code, _ in _settled(site)]
    assert states[:2] == [(2, ItemState.DONE, "found_gone"), (3, ItemState.FAILED, "unknown_owner")]
    assert [state for _, state, _ in states[2:]] == [ItemState.DONE] * 2
    assert _failures(result) == [(f"file://{BASE}", "unknown_owner")]
    assert "s3://bucket/x/one" in [*result.items][-1].message
    assert site.directories == []


def test_what_a_killed_removal_put_aside_goes_and_so_do_emptied_parents() -> None:
    site = TableSite(keys={"ds": "string", "region": "string"})
    place = f"{BASE}/{OLD}/region=us"
    site.system.has = capabilities(atomic_delete=False)
    site.system.put(f"{BASE}/{OLD}/{aside_name('region=us')}/part")
    site.run(left=[_partition(name=f"{OLD}/region=us"), _data(place=place)])
    assert (site.directories, _settled(site)) == ([], GONE)
    assert ("empty_directory:data", f"file://{BASE}/{OLD}", 7) in [
        (line.get("kind"), line.get("path"), line.get("of_run")) for line in site.audit.lines
    ]


def test_an_emptied_parent_that_cannot_be_removed_is_named() -> None:
    site = TableSite(keys={"ds": "string", "region": "string"})
    place = f"{BASE}/{OLD}/region=us"
    site.system.put(f"{place}/part")
    site.system.locked.add(f"{BASE}/{OLD}")
    result = site.run(left=[_partition(name=f"{OLD}/region=us"), _data(place=place)])
    assert (_failures(result), _settled(site)) == ([(f"file://{BASE}/{OLD}", "permission_denied")], GONE)


def test_a_place_that_a_partition_has_by_now_stays_and_is_named_once() -> None:
    site = TableSite()
    site.add("2026-03-20", location=f"{BASE}/{OLD}")
    result = site.run(left=[_partition(), _data()])
    assert f"{BASE}/{OLD}/part" in site.system.files
    assert _settled(site)[-1] == (1, ItemState.FAILED, "location_in_use", None)
    (item,) = result.items
    assert (item.code, result.exit_code) == ("location_in_use", ExitCode.FAILED)
    assert "data of the partition ds=2026-03-20, which stays" in item.message


def test_a_place_in_an_older_spelling_of_its_name_service_is_the_place_that_a_partition_has() -> None:
    site = _HighlyAvailable()
    site.metastore.alter_table(replace(site.table, storage=replace(site.table.storage, location=f"hdfs://ns1{BASE}")))
    young = partition_of(site.table, "2026-03-20", location=f"hdfs://ns1{BASE}/{OLD}")
    site.metastore.add_partitions(site.table.name, [young])
    site.system.put(f"{BASE}/{OLD}/part")
    site.run(left=[_partition(), _data(place=f"hdfs://nn1{BASE}/{OLD}")])
    assert f"{BASE}/{OLD}/part" in site.system.files
    assert _settled(site)[-1][1:3] == (ItemState.FAILED, "location_in_use")


class _HighlyAvailable(TableSite):
    @property
    def cluster(self) -> Cluster:
        names = {"dfs.nameservices": "ns1", "dfs.ha.namenodes.ns1": "a", "dfs.namenode.rpc-address.ns1.a": "nn1:8020"}
        write = Interface(endpoint="hdfs://ns1")
        return Cluster(name="primary", interfaces=Interfaces(write=write), hadoop_conf=names)


def test_a_place_of_another_table_stays() -> None:
    site = TableSite()
    site.metastore.create_table(table_of(TableName("web", "other"), f"file:{BASE}/{OLD}", x="int"))
    site.system.put(f"{BASE}/{OLD}/x/part")
    site.run(left=[_partition(), _data()])
    assert f"{BASE}/{OLD}/x/part" in site.system.files
    assert _settled(site)[-1][1:3] == (ItemState.FAILED, "location_in_use")


@pytest.mark.parametrize("left", [[_partition(table="logs:before"), _data()], [_partition(table="logs:before")]])
def test_what_was_of_another_table_stays_open(left: Sequence[Item]) -> None:
    site = TableSite()
    site.system.put(f"{BASE}/{OLD}/part")
    site.run(left=left)
    assert (_settled(site), site.directories) == ([], [OLD])


def test_data_that_cannot_be_removed_fail_the_run_and_stay_open() -> None:
    site = TableSite()
    site.system.put(f"{BASE}/{OLD}/part")
    site.system.locked.add(f"{BASE}/{OLD}/part")
    site.add_days("02")
    result = site.run(left=[_partition(), _data()])
    assert _settled(site) == []
    assert result.exit_code is ExitCode.PARTIAL
    assert [(each.item.uri, each.code) for each in result.items][-1] == (f"file://{BASE}/{OLD}", "permission_denied")


@pytest.mark.parametrize("how", ["hold", "hold file"])
def test_a_hold_keeps_what_a_killed_run_left(how: str) -> None:
    site = TableSite()
    site.system.put(f"{BASE}/{OLD}/part")
    if how == "hold file":
        site.system.files[f"{BASE}/.feedctl-hold"] = b""
    hold = Hold(feed="clicks", end=parse_instant("2026-03-01T12:00Z"), reason="case 7")
    site.run(left=[_partition(), _data()], holds=[hold] if how == "hold" else [])
    assert site.directories == [OLD]
    assert _settled(site) == []


def test_a_hold_on_any_instance_of_a_shared_place_keeps_it() -> None:
    site = TableSite()
    site.system.put("/data/x/one/part")
    later = NewItem(
        position=0, kind="partition:data", path="catalog:logs:clicks#ds=2026-03-05", instance_key="2026-03-05T00:00Z"
    )
    hold = Hold(feed="clicks", start=parse_instant("2026-03-04T00:00Z"), reason="case 7")
    site.run(left=[left_item(later), _partition(1), _data(2, "/data/x/one")], holds=[hold])
    assert ("/data/x/one/part" in site.system.files, _settled(site)) == (True, [])


def test_a_run_that_is_refused_removes_nothing_of_an_earlier_one() -> None:
    site = TableSite()
    site.system.put(f"{BASE}/{OLD}/part")
    site.add_days("02")
    site.run(left=[_partition(), _data()], limits=DeleteLimits(instances=0))
    assert OLD in site.directories


def test_partitions_that_shared_a_place_are_settled_together() -> None:
    site = TableSite()
    site.system.put(f"{BASE}/{OLD}/part")
    site.run(left=[_partition(0), _partition(1, "ds=2026-03-02"), _data(2)])
    assert site.directories == []
    assert [state for _, state, _, _ in _settled(site)] == [ItemState.DONE] * 3


def test_one_of_them_that_is_still_there_keeps_the_place() -> None:
    site = TableSite()
    site.add("2026-03-20", location="/data/x/one")
    site.run(left=[_partition(0), _partition(1, "ds=2026-03-20"), _data(2, "/data/x/one")])
    assert "/data/x/one/part" in site.system.files
    assert _settled(site)[1:] == [(1, ItemState.FAILED, "not_done", None), (2, ItemState.FAILED, "not_done", None)]


def test_an_instance_of_which_partitions_are_left_is_not_told_of() -> None:
    site = TableSite(keys={"ds": "string", "region": "string"})
    site.add("2026-03-01", "in")
    site.run(left=[_partition(name=f"{OLD}/region=us")])
    assert _settled(site) == [(0, ItemState.DONE, "found_gone", None)]
    assert [each.instance_key for each in site.recorder.events()] == [KEY]


def test_a_path_feed_leaves_open_what_was_of_its_table() -> None:
    recorder, system = MemoryRecorder(left=[_partition(), _data()]), MemoryFileSystem()
    system.put(*days(20))
    run(system, FeedText(), recorder=recorder)
    assert recorder.settled_left == []
