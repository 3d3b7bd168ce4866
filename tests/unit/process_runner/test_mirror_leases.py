from __future__ import annotations

from toolkit.entities.mirror_work import CopyWork, HiveMirror, TreeMirror
from toolkit.ledger.vocabulary import LeaseMode
from toolkit.process_runner.output_leases import mirror_leases


def _tree(target: str, cluster: str = "backup") -> TreeMirror:
    return TreeMirror(source_cluster="primary", target_cluster=cluster, source_dir="/data", target_dir=target)


def _hive(*databases: str) -> HiveMirror:
    return HiveMirror(source_cluster="primary", target_cluster="backup", source_databases=databases)


def _conflict(one: CopyWork, other: CopyWork) -> bool:
    modes = {each.resource: each.mode for each in mirror_leases(one)}
    return any(
        LeaseMode.EXCLUSIVE in {each.mode, modes[each.resource]}
        for each in mirror_leases(other)
        if each.resource in modes
    )


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
