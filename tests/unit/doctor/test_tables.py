"""Tests of what the doctor finds of the table of a feed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from toolkit.catalog.errors import NoSuchTable
from toolkit.catalog.model import Table, TableKind, TableName
from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.tables import table_findings
from toolkit.el.table_uri import TableUri

_URI = TableUri("catalog:logs:clicks#DS=${YEAR}-${MONTH}-${DAY};region=us")
_TABLE = table_of(TableName("logs", "clicks"), "hdfs://nn/clicks", ds="string", region="string")


def _found(table: Table, *values: tuple[str, ...]) -> CheckResult:
    metastore = MemoryMetastore(["logs"])
    metastore.create_table(table)
    metastore.add_partitions(table.name, [partition_of(table, *each) for each in values])
    (found,) = table_findings(metastore, _URI)
    return found


def test_a_table_with_its_partitions_is_as_it_should_be() -> None:
    found = _found(_TABLE, ("2026-03-01", "us"), ("2026-03-02", "us"))
    assert found.status is CheckStatus.OK
    assert found.found == "logs.clicks (Hive, ds string, region string): 2 partitions"


def test_partitions_that_are_not_the_feeds_are_counted_and_the_first_is_explained() -> None:
    found = _found(_TABLE, ("2026-03-01", "us"), ("2026-3-1", "us"), ("2026-03-01", "in"))
    assert found.status is CheckStatus.WARNING
    assert "2 not as the feed names them: ds=2026-03-01/region=in region is 'in', expected" in found.found


@pytest.mark.parametrize(
    ("table", "expected", "todo"),
    [
        (replace(_TABLE, parameters={"transactional": "true"}), "ACID", "DROP PARTITION"),
        (replace(_TABLE, kind=TableKind.VIEW), "is a view", "name its tables"),
        (replace(_TABLE, keys=_TABLE.keys[1:]), "it has no key DS; its keys are: region string", "`table`"),
        (replace(_TABLE, keys=()), "it has no key DS; it has no key region; its keys are: none", "`table`"),
    ],
)
def test_what_no_action_can_work_on_is_a_failure(table: Table, expected: str, todo: str) -> None:
    found = _found(table)
    assert (found.status, expected in found.found, todo in found.todo) == (CheckStatus.FAILED, True, True)


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(NoSuchTable, match=r"logs\.clicks"):
        list(table_findings(MemoryMetastore(["logs"]), _URI))
