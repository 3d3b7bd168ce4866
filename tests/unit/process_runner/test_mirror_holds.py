"""Holds on feeds of tables that stop a mirror of their database."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.unit.actions.fake_action import context
from toolkit.entities import Hold, Process
from toolkit.entities.mirror_work import HiveMirror, MirrorSettings
from toolkit.process_runner import mirror_holds
from toolkit.process_runner.mirror_holds import MirrorHolds
from toolkit.runs.stop import NeverStopped


def _process(**values: Any) -> Process:  # noqa: ANN401 - values of a mirror
    mirror = HiveMirror(source_cluster="one", target_cluster="two", source_databases=("Sales",), **values)
    return cast("Process", SimpleNamespace(workflow=SimpleNamespace(mirror=MirrorSettings(hive=mirror))))


@pytest.mark.parametrize(
    ("held_on", "tables", "is_held"),
    [("two", (), True), ("two", ("ORDERS",), True), ("two", ("other",), False), ("one", (), False)],
)
def test_a_hold_on_a_table_feed_stops_the_mirror_of_its_database(
    monkeypatch: pytest.MonkeyPatch, held_on: str, tables: tuple[str, ...], *, is_held: bool
) -> None:
    table = SimpleNamespace(database="sales", table="orders")
    found = [(SimpleNamespace(name="orders"), SimpleNamespace(name=name), table) for name in ("one", "two")]
    monkeypatch.setattr(mirror_holds, "tables_on_clusters", lambda *_: found)
    holds = MirrorHolds(
        repository=cast("Any", SimpleNamespace(feeds={}, clusters={})),
        place=lambda name, directory: pytest.fail(f"{name} {directory}"),
        holds=lambda: [Hold(feed="orders", cluster=held_on, reason="a lawsuit")],
    )
    problem = holds.problem(_process(source_tables=tables), context(NeverStopped()))
    assert (problem is not None) is is_held
    assert problem is None or "keeps the feed orders on two, and sales.orders has data of it" in problem.message
