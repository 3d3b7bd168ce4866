"""Tests of what an environment may act on."""

from __future__ import annotations

from toolkit.entities import Environment


def test_an_environment_that_names_no_clusters_may_act_on_all() -> None:
    assert Environment(name="dev").allows("primary")


def test_an_environment_that_names_clusters_may_act_on_these() -> None:
    environment = Environment(name="dev", clusters=("primary",))
    assert (environment.allows("primary"), environment.allows("backup")) == (True, False)
