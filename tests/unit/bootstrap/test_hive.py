"""Clusters of a replication of tables: how their stores are reached, and whose metastore is one."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, opened_context
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.hive import replicate_tables, table_action
from toolkit.bootstrap.replication import ReplicationOptions, ends
from toolkit.catalog.model import TableName
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities.not_implemented import Area
from toolkit.hive.batches import Mode
from toolkit.hive.table_context import TableContext
from toolkit.hive.targets import IMPORT, ImportRules, TableTarget
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LeaseMode, LifeCycle
from toolkit.runs.stop import NeverStopped

_VALIDITY = "validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}"
_CLUSTER = """kind: cluster
name: {name}
colo: {name}
interfaces: {{write: {{endpoint: "hdfs://{name}:8020"}}, registry: {{endpoint: "thrift://{name}:9083"}}}}
"""
_FEED = """kind: feed
name: {name}
frequency: days(1)
{what}
clusters: [{{name: {source}, type: source, {on}}}, {{name: {target}, type: target, {on}}}]
"""


def _write(repo: Path) -> None:
    (repo / "feeds").mkdir(parents=True)
    (repo / "clusters").mkdir()
    (repo / "repo.yaml").write_text("name: tables\n")
    for name in ("one", "other", "third"):
        (repo / f"clusters/{name}.yaml").write_text(_CLUSTER.format(name=name))
    table, path = 'table: "catalog:db:rows#ds=${YEAR}-${MONTH}-${DAY}"', "locations: {data: '/x/${YEAR}${MONTH}${DAY}'}"
    for name, what, source, target in (("rows", table, "one", "other"), ("files", path, "third", "other")):
        text = _FEED.format(name=name, what=what, source=source, target=target, on=_VALIDITY)
        (repo / f"feeds/{name}.yaml").write_text(text)


def _options(repo: Path) -> ActionOptions:
    return ActionOptions(
        selection=EntitySelection(everything=True, clusters=("other",)),
        repo=RepoRequest(config_repo=str(repo), variables=os.environ),
        nominal_time=parse_instant("2026-03-02T00:00Z"),
        dry_run=True,
        allow_dirty=True,
        no_ledger=True,
    )


def test_of_all_feeds_those_of_the_kind_that_is_copied_say_how_both_ends_are_reached(tmp_path: Path) -> None:
    _write(tmp_path)
    for is_table, feed, source in ((True, "rows", "one"), (False, "files", "third")):
        affected = partial(ends, ReplicationOptions(), tables=is_table)
        with ExitStack() as stack:
            context = opened_context(
                _options(tmp_path), SystemClock(), NeverStopped(), Area.REPLICATION, stack, affected
            )
            found = [(feed.name, cluster.name) for feed, cluster in context.choice.pairs]
            assert found == [(feed, "other"), (feed, source)]


def test_a_path_feed_that_cannot_be_copied_stops_no_replication_of_tables(tmp_path: Path) -> None:
    _write(tmp_path)
    files, rows = tmp_path / "feeds/files.yaml", tmp_path / "feeds/rows.yaml"
    files.write_text(files.read_text().replace("type: source, ", ""))
    rows.write_text(rows.read_text().replace("2026-03-01", "2026-03-03"))  # none is due, so that no metastore is asked
    own, clock, options = ReplicationOptions(), SystemClock(), _options(tmp_path)
    result = replicate_tables(own, ImportRules(), options, clock, NeverStopped(), NoProgress())
    assert [each.plan.notes for each in result.targets] == [("no instance is due that is not there",)]


def test_an_import_leases_the_table_for_all_clusters_of_its_metastore(tmp_path: Path) -> None:
    """Two imports of one instance, each for another of these clusters, would replace each other's data."""
    _write(tmp_path)
    cluster = tmp_path / "clusters/other.yaml"
    cluster.write_text(cluster.read_text().replace("thrift://other:9083", "thrift://spare:9083,thrift://ONE"))
    with ExitStack() as stack:
        pairs = partial(ends, ReplicationOptions(), tables=True)
        context = opened_context(_options(tmp_path), SystemClock(), NeverStopped(), Area.REPLICATION, stack, pairs)
        held = {name: _leases(context, name) for name in ("one", "other")}
    assert held["one"] == held["other"]
    assert {each.resource for each in held["one"] if each.mode is LeaseMode.EXCLUSIVE} == {
        f"table/{name}/db.rows/2026-03-01T00:00Z" for name in ("one", "other")
    }


def _leases(context: ActionContext, cluster: str) -> set[Wanted]:
    target = TableTarget(
        feed="rows",
        cluster=cluster,
        instance_key="2026-03-01T00:00Z",
        instant=parse_instant("2026-03-01T00:00Z"),
        table=TableName("db", "rows"),
    )
    action = table_action(IMPORT, LifeCycle.IMPORT, _no_mode, context)
    return {each for each in action.leases(target) if each.resource.startswith("table/")}


def _no_mode(context: TableContext) -> Mode:
    raise AssertionError(context)
