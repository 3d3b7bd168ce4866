"""Which clusters have a say in how the stores of a replication of tables are reached."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from toolkit.actions.choosing import EntitySelection
from toolkit.actions.progress import NoProgress
from toolkit.bootstrap.action_context import ActionOptions, opened_context
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.hive import replicate_tables
from toolkit.bootstrap.replication import ReplicationOptions, ends
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities.not_implemented import Area
from toolkit.hive.targets import ImportRules
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
        stakes = partial(ends, ReplicationOptions(), tables=is_table)
        with ExitStack() as stack:
            context = opened_context(_options(tmp_path), SystemClock(), NeverStopped(), Area.REPLICATION, stack, stakes)
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
