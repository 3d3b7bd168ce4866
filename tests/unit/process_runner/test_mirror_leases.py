from __future__ import annotations

from collections.abc import Iterable

from toolkit.actions.output_leases import table_leases
from toolkit.catalog.model import TableName
from toolkit.entities.mirror_work import CopyWork, HiveMirror, TreeMirror
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LeaseMode
from toolkit.process_runner.output_leases import mirror_leases


def _tree(target: str, cluster: str = "backup") -> TreeMirror:
    return TreeMirror(source_cluster="primary", target_cluster=cluster, source_dir="/data", target_dir=target)


def _hive(*databases: str, tables: tuple[str, ...] = ()) -> HiveMirror:
    return HiveMirror(
        source_cluster="primary", target_cluster="backup", source_databases=databases, source_tables=tables
    )


def _conflict(one: CopyWork, other: CopyWork) -> bool:
    return _exclude(mirror_leases(one), mirror_leases(other))


def _exclude(one: Iterable[Wanted], other: Iterable[Wanted]) -> bool:
    modes = {each.resource: each.mode for each in one}
    return any(LeaseMode.EXCLUSIVE in {each.mode, modes[each.resource]} for each in other if each.resource in modes)


def test_no_two_mirrors_write_one_directory_or_one_in_another() -> None:
    assert _conflict(_tree("/mirror/a"), _tree("/mirror/a/"))
    assert _conflict(_tree("/mirror"), _tree("/mirror/a/b"))
    assert _conflict(_tree("/mirror/a/b"), _tree("/mirror"))
    assert not _conflict(_tree("/mirror/a"), _tree("/mirror/ab"))
    assert not _conflict(_tree("/mirror/a"), _tree("/mirror/a", cluster="third"))


def test_no_two_mirrors_write_one_database() -> None:
    assert _conflict(_hive("sales", "web"), _hive("WEB"))
    assert not _conflict(_hive("sales"), _hive("web"))
    assert not _conflict(_hive("sales"), _tree("/sales"))


def test_mirrors_of_single_tables_exclude_those_of_the_database_and_of_the_same_table() -> None:
    assert _conflict(_hive("sales", tables=("a", "b")), _hive("sales"))
    assert _conflict(_hive("sales", tables=("a", "b")), _hive("Sales", tables=("B",)))
    assert not _conflict(_hive("sales", tables=("a",)), _hive("sales", tables=("b",)))


def test_a_writer_of_an_instance_of_a_table_excludes_mirrors_of_it() -> None:
    for mode in LeaseMode:
        writer = table_leases("backup", TableName("sales", "a"), "2026-03-01T00:00Z", mode)
        assert _exclude(writer, mirror_leases(_hive("sales")))
        assert _exclude(writer, mirror_leases(_hive("sales", tables=("a",))))
        assert not _exclude(writer, mirror_leases(_hive("sales", tables=("b",))))
        assert not _exclude(writer, mirror_leases(_hive("web")))
