"""Which processes can be run where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.entities.config_repo import repository
from tests.unit.planning.entities import cluster, process, table_feed
from toolkit.availability import NoRegistry
from toolkit.entities import Input
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.selection import NotAMirror, ProcessSelection, sites, unsupported


@pytest.mark.parametrize("has_registry", [True, False])
def test_a_process_over_a_table_runs_where_there_is_a_metastore(*, has_registry: bool) -> None:
    inputs = {"clicks": Input(feed="clicks", start="now(0,0)", end="now(0,0)")}
    feed = table_feed("clicks", "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}")
    on = cluster() if has_registry else replace(cluster(), interfaces=replace(cluster().interfaces, registry=None))
    found = unsupported(ProcessSite(process=process(inputs), cluster=on, feeds={"clicks": feed}))
    assert isinstance(found, NoRegistry) is not has_registry


def test_only_a_mirror_is_run_as_one() -> None:
    with pytest.raises(NotAMirror, match="--process clicks_hourly"):
        sites(repository(), ProcessSelection(name="clicks_hourly", cluster=None, must_mirror=True))
