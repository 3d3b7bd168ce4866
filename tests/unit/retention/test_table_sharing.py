"""Feeds on one table: they are found however the metastore is written, and a partition of both counts once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.retention.feeds import FeedText, cluster
from tests.unit.retention.tables import DS
from toolkit.entities import Cluster, Feed, Interface
from toolkit.retention.shared_tables import SharedTables

_CLICKS: Feed = replace(FeedText().feed(), locations=None, table=DS)


def _with_registry(name: str, endpoint: str) -> Cluster:
    on = cluster()
    return replace(on, name=name, interfaces=replace(on.interfaces, registry=Interface(endpoint=endpoint)))


@pytest.mark.parametrize(
    ("endpoint", "is_one"),
    [
        ("thrift://ms1:9083,thrift://ms2:9083", True),
        ("thrift://ms2:9083,thrift://MS1:9083", True),
        ("thrift://ms3:9083, thrift://ms2", True),
        ("THRIFT://ms1/", True),
        ("thrift://ms1:9084", False),
        ("thrift://ms3:9083", False),
    ],
)
def test_a_metastore_is_one_when_a_server_is_in_both_lists(endpoint: str, *, is_one: bool) -> None:
    primary, second = (
        _with_registry("primary", "thrift://ms1:9083,thrift://ms2:9083"),
        _with_registry("second", endpoint),
    )
    other = replace(_CLICKS, name="other", clusters=(replace(_CLICKS.clusters[0], name="second"),))
    shared = SharedTables(feeds=(_CLICKS, other), clusters=(primary, second))
    assert shared.of(_CLICKS, primary) == ((("other", "second"),) if is_one else ())
