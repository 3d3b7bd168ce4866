"""Schemas and statements with which the lineage of a step is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from tests.unit.programs.calls import a_call
from toolkit.availability import DataAccess
from toolkit.catalog.errors import NoSuchTable
from toolkit.catalog.model import Column, StorageDescriptor, Table, TableKind, TableName
from toolkit.catalog.port import Metastore
from toolkit.el import Frequency
from toolkit.entities import (
    Cluster,
    Engine,
    Feed,
    FeedCluster,
    Input,
    Interface,
    Interfaces,
    Locations,
    Output,
    Process,
    ProcessCluster,
    Validity,
    Workflow,
)
from toolkit.entities.feed import FeedSchema
from toolkit.ledger.column_lineage import StatementLineage
from toolkit.lineage.columns import Schemas
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner import column_lineage
from toolkit.process_runner.column_lineage import StepColumns
from toolkit.process_runner.resolution import resolve_instance

START = datetime(2026, 3, 1, tzinfo=UTC)
ALWAYS = Validity(start=START, end=START + timedelta(days=36_500))
ON = (FeedCluster(name="primary", validity=ALWAYS),)
HOURLY = Frequency.parse("hours(1)")
TABLE = "catalog:Web:Clicks#DS=${YEAR}-${MONTH}-${DAY}-${HOUR}"


class KnownTable:
    """A metastore of one table, or of none."""

    def __init__(self, *columns: str) -> None:
        self._columns = tuple(Column(name=each, type="string") for each in columns)

    def table(self, name: TableName) -> Table:
        if not self._columns:
            raise NoSuchTable(about=str(name))
        *columns, key = self._columns
        storage = StorageDescriptor(columns=tuple(columns))
        return Table(name=name, kind=TableKind.EXTERNAL, storage=storage, keys=(key,))


def site() -> ProcessSite:
    """A process that makes a path feed of a table."""
    feeds = {
        "clicks": Feed(
            name="clicks",
            frequency=HOURLY,
            table=TABLE,
            clusters=ON,
            schema=FeedSchema(location="clicks.avsc", provider="avro"),
        ),
        "counts": Feed(
            name="counts",
            frequency=HOURLY,
            locations=Locations(data="/counts/${YEAR}${MONTH}${DAY}${HOUR}"),
            clusters=ON,
        ),
    }
    process = Process(
        name="count",
        frequency=HOURLY,
        clusters=(ProcessCluster(name="primary", validity=ALWAYS),),
        inputs={"clicks": Input(feed="clicks", start="now(0,0)", end="now(0,0)")},
        outputs={"counts": Output(feed="counts", instance="now(0,0)")},
        workflow=Workflow(engine=Engine.SPARK_SQL, path="count.sql"),
    )
    cluster = Cluster(name="primary", interfaces=Interfaces(write=Interface(endpoint="hdfs://nn:8020")))
    return ProcessSite(process=process, cluster=cluster, feeds=feeds)


def given_to_reader(
    tmp_path: Path, metastore: KnownTable, monkeypatch: pytest.MonkeyPatch
) -> tuple[Sequence[tuple[str, str]], Schemas]:
    """Return the statements and schemas that a step's script is read with."""
    found: list[tuple[Sequence[tuple[str, str]], Schemas]] = []

    def take(statements: Sequence[tuple[str, str]], schemas: Schemas, _timeout: float) -> tuple[StatementLineage, ...]:
        found.append((statements, schemas))
        return ()

    monkeypatch.setattr(column_lineage, "script_lineage", take)
    assert step_columns(tmp_path, metastore, monkeypatch).begin().writes("count") == ()
    return found[0]


def step_columns(tmp_path: Path, metastore: KnownTable, monkeypatch: pytest.MonkeyPatch) -> StepColumns:
    """The lineage of a step with a script."""
    monkeypatch.setattr(column_lineage, "_PATIENCE", 60.0)
    at = site()
    resolved = resolve_instance(at, START, lambda _feed: lambda _instant: True)
    script = tmp_path / "count.sql"
    script.write_text("INSERT OVERWRITE DIRECTORY '${counts}' USING csv\nSELECT * FROM web.clicks")
    call = a_call(tmp_path, script, engine=Engine.SPARK_SQL)
    data = DataAccess(
        stores=lambda _: pytest.fail("no store is asked"), metastores=lambda _: cast("Metastore", metastore)
    )
    call = replace(call, properties=resolved.properties, directory=tmp_path)
    return StepColumns(site=at, resolved=resolved, data=data, call=call)


def test_an_error_in_reading_lineage_is_logged_and_not_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(column_lineage, "script_lineage", lambda *_: 1 / 0)

    assert step_columns(tmp_path, KnownTable("n", "ds"), monkeypatch).begin().writes("count") == ()
    assert "lineage_unknown" in caplog.text


def test_a_table_has_the_columns_of_the_metastore_and_paths_are_those_of_feeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements, schemas = given_to_reader(tmp_path, KnownTable("Url", "n", "ds"), monkeypatch)

    assert schemas.columns == {"web.clicks": ("url", "n", "ds")}
    assert schemas.paths == {"/counts/2026030100": "counts"}
    ((text, source),) = statements
    assert "'hdfs://nn:8020/counts/2026030100'" in text
    assert source == "INSERT OVERWRITE DIRECTORY '${counts}' USING csv\nSELECT * FROM web.clicks"


def test_a_table_that_the_metastore_has_not_has_those_of_the_schema_of_its_feed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clicks.avsc").write_text('{"type": "record", "fields": [{"name": "Url"}, {"name": "agent"}]}')

    assert given_to_reader(tmp_path, KnownTable(), monkeypatch)[1].columns == {"web.clicks": ("url", "agent", "ds")}


def test_a_schema_outside_of_the_repo_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clicks.avsc").symlink_to("/etc/hostname")

    assert given_to_reader(tmp_path, KnownTable(), monkeypatch)[1].columns == {}
