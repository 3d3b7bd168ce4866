"""Places of the instances of an entity, for each life cycle."""

from __future__ import annotations

import pytest

from tests.unit.management.repo import managed, repo
from toolkit.el import format_instant, parse_instant
from toolkit.entities.errors import NotInEnvironment, UnknownName
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.management.errors import NoState, NoSuchLifeCycle
from toolkit.management.locations import managed_entity


def test_a_process_is_executed_on_each_of_its_clusters() -> None:
    found = managed("daily_job")
    assert (found.life_cycle, found.clusters) == (LifeCycle.EXECUTION, ("primary", "backup"))


def test_a_feed_is_replicated_to_its_targets_within_the_validity_of_both_sides() -> None:
    (location,) = managed("clicks").locations
    assert (location.cluster, location.counterpart) == ("backup", "primary")
    assert str(location.validity) == "2026-03-10T00:00Z to 2026-04-01T00:00Z"
    start, end = parse_instant("2026-03-09T22:00Z"), parse_instant("2026-03-10T02:00Z")
    assert list(map(format_instant, location.instants(start, end))) == ["2026-03-10T00:00Z", "2026-03-10T01:00Z"]
    assert location.count(start, end) == 2


def test_evictions_have_no_planned_instances() -> None:
    found = managed("clicks", LifeCycle.EVICTION)
    assert [location.cluster for location in found.locations] == ["primary", "backup"]
    start, end = parse_instant("2026-03-11T00:00Z"), parse_instant("2026-03-12T00:00Z")
    assert {location.count(start, end) for location in found.locations} == {0}


@pytest.mark.parametrize(
    ("name", "life_cycle", "message"),
    [
        ("counts", None, "counts has no replication on primary; its file says what is done with it"),
        ("clicks", LifeCycle.IMPORT, "give --life-cycle replication or --life-cycle eviction"),
        ("daily_job", LifeCycle.EVICTION, "give --life-cycle execution"),
    ],
)
def test_a_life_cycle_that_an_entity_does_not_have_is_refused_with_those_it_has(
    name: str, life_cycle: LifeCycle | None, message: str
) -> None:
    with pytest.raises(NoSuchLifeCycle, match=message):
        managed(name, life_cycle)


def test_clusters_and_datasources_have_no_runs() -> None:
    with pytest.raises(NoState, match="primary is a cluster and has no runs"):
        managed("primary")


def test_an_environment_leaves_out_the_clusters_that_it_may_not_act_on() -> None:
    assert managed_entity(repo("dev"), "daily_job").clusters == ("primary",)
    with pytest.raises(NotInEnvironment, match="cluster backup is not in environment dev"):
        managed_entity(repo("dev"), "daily_job", clusters=["backup"])


def test_a_cluster_that_the_entity_is_not_on_is_unknown() -> None:
    with pytest.raises(UnknownName, match="process count_job has no cluster named 'backup'"):
        managed("count_job", None, "backup")
