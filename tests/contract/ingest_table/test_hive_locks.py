"""Locks of Iceberg tables in a Hive metastore: those of processes that ended are removed, and no others."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hive_metastore.ttypes import (
    EnvironmentContext,
    LockComponent,
    LockLevel,
    LockRequest,
    LockType,
    MetaException,
    SerDeInfo,
    ShowLocksRequest,
    StorageDescriptor,
    UnlockRequest,
)
from hive_metastore.ttypes import Table as HiveTable

from tests.contract.ingest_table.tables import ROWS, SPEC, commit_one
from tests.databases.postgresql import PostgresServer
from tests.testbed.metastore_on_postgres import DATABASE
from toolkit.ingest import hive_catalog
from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.errors import CatalogUnreachable, TableLocked, TableMismatch
from toolkit.ingest.hive_catalog import LockedHiveCatalog
from toolkit.ingest.iceberg import IcebergCatalog, open_catalog
from toolkit.ingest.iceberg_table import IcebergTable
from toolkit.runs.owner import ProcessTable

ENDED = f"feedctl 4194303 00000000 {ProcessTable().own_mark()}"
"""Agent of a lock whose process does not run on this machine."""


NUMBERS = itertools.count(2)


@dataclass(frozen=True, kw_only=True)
class Site:
    """A table with one commit, and its catalog.

    Attributes:
        table: the table.
        catalog: its catalog.
        postgres: the server of the metastore.
    """

    table: IcebergTable
    catalog: LockedHiveCatalog
    postgres: PostgresServer

    @property
    def client(self) -> Any:  # noqa: ANN401 - the library has no types
        """Return a connection to the metastore."""
        return self.catalog._client  # noqa: SLF001

    def commit(self) -> None:
        """Commit the rows."""
        commit_one(self.table, next(NUMBERS))

    def lock(self, agent: str, host: str = ProcessTable().host) -> int:
        """Lock the table as another process."""
        what = LockComponent(
            level=LockLevel.TABLE, type=LockType.EXCLUSIVE, dbname="web", tablename="clicks", isTransactional=True
        )
        with self.client as client:
            request = LockRequest(component=[what], user="etl", hostname=host, agentInfo=agent)
            return int(client.lock(request).lockid)

    def unlock(self, lock: int) -> None:
        """Remove a lock."""
        with self.client as client:
            client.unlock(UnlockRequest(lockid=lock))

    @property
    def locks(self) -> list[int]:
        """Return the locks of the table."""
        with self.client as client:
            found = client.show_locks(ShowLocksRequest(dbname="web", tablename="clicks"))
        return [each.lockid for each in found.locks]

    def age(self, lock: int, seconds: int) -> None:
        """Have the last heartbeat of a lock be so long ago."""
        statement = f"UPDATE hive_locks SET hl_last_heartbeat = hl_last_heartbeat - {seconds * 1000}"  # noqa: S608
        with psycopg.connect(self.postgres.url(DATABASE).replace("+psycopg", "")) as connection:
            connection.execute(f"{statement} WHERE hl_lock_ext_id = {lock}".encode())


@pytest.fixture
def site(
    hive_place: CatalogAddress, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """Yield a table on a metastore; a commit waits a moment for a lock."""
    monkeypatch.setattr(hive_catalog, "_LOCK_SECONDS", 0.5)
    with closing(open_catalog(hive_place)) as catalog:
        table = catalog.create("web", "clicks", SPEC)
        commit_one(table, 1)
        assert isinstance(table.catalog, LockedHiveCatalog)
        found = Site(table=table, catalog=table.catalog, postgres=postgres_server)
        yield found
        for each in found.locks:
            found.unlock(each)


def test_the_lock_of_a_process_that_ended_is_removed_and_also_its_waiting_one(site: Site) -> None:
    held, waiting = site.lock(ENDED), site.lock(ENDED)
    assert site.locks == [held, waiting]
    site.commit()
    assert site.locks == []
    assert len(site.table.files()) == 4


@pytest.mark.extended
@pytest.mark.parametrize(
    ("agent", "host"),
    [("Iceberg-4711", ProcessTable().host), (f"feedctl 4194303 00000000 {ProcessTable().own_mark()}", "other-host")],
    ids=["another engine", "another host"],
)
def test_the_lock_of_a_holder_that_may_be_alive_stays_and_is_told(site: Site, agent: str, host: str) -> None:
    held = site.lock(agent, host)
    with pytest.raises(TableLocked, match=re.escape(f"lock {held} of etl on {host} ({agent}), since 20")) as caught:
        site.commit()
    assert "HIVE_LOCKS" in str(caught.value)
    assert site.locks == [held]
    site.age(held, 301)
    if agent.startswith("feedctl"):
        site.commit()
        return
    with pytest.raises(TableLocked):
        site.commit()
    site.unlock(held)
    site.commit()


@pytest.mark.extended
def test_a_lock_that_a_broken_connection_of_ours_left_is_removed(site: Site) -> None:
    request = site.catalog._create_lock_request("web", "clicks")  # noqa: SLF001
    with site.client as client:
        client.lock(request)
    site.commit()
    assert site.locks == []


@pytest.mark.extended
def test_a_metastore_that_does_not_compare_keeps_the_lock_for_five_minutes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.ingest.hive_catalog._GuardedClient.is_comparing", lambda *_: False)
    held = site.lock(ENDED)
    with pytest.raises(TableLocked):
        site.commit()
    site.age(held, 301)
    site.commit()


def test_a_request_of_a_killed_commit_that_arrives_late_changes_nothing(site: Site) -> None:
    with site.client as client:
        assert client.is_comparing("web", "clicks")
        late = client.get_table("web", "clicks")
        assert late.parameters["table_type"] == "ICEBERG"  # retention and replication refuse it
        late.parameters |= {"previous_metadata_location": late.parameters["metadata_location"]}
        site.commit()
        context = EnvironmentContext(properties={})
        with pytest.raises(MetaException, match="has been modified"):
            client.alter_table_with_environment_context("web", "clicks", late, context)
        assert not [key for key in client.get_table("web", "clicks").parameters if key.startswith("feedctl.")]
    assert len(site.table.files()) == 4


@pytest.mark.extended
def test_a_table_of_hive_is_no_table_to_ingest_into(hive_place: CatalogAddress, site: Site, tmp_path: Path) -> None:
    sd = StorageDescriptor(cols=[], location=f"file://{tmp_path}/plain", serdeInfo=SerDeInfo())
    with site.client as client:
        client.create_table(HiveTable(dbName="web", tableName="plain", sd=sd, parameters={"EXTERNAL": "TRUE"}))
    try:
        with closing(open_catalog(hive_place)) as catalog, pytest.raises(TableMismatch, match="an Iceberg table"):
            catalog.open("web", "plain")
    finally:
        with site.client as client:
            client.drop_table("web", "plain", deleteData=False)


@pytest.mark.extended
def test_a_metastore_that_is_down_is_told(hive_place: CatalogAddress, catalog_down: IcebergCatalog) -> None:
    with pytest.raises(CatalogUnreachable, match=r"thrift://127\.0\.0\.1:1 does not answer: TTransportException"):
        catalog_down.open("web", "clicks")
    down = replace(open_catalog(hive_place).create("web", "clicks", SPEC), catalog=catalog_down.catalog)
    with pytest.raises(CatalogUnreachable):
        down.write(ROWS, "feedctl-1")


@pytest.fixture
def catalog_down(hive_place: CatalogAddress) -> IcebergCatalog:
    """Return a catalog where nothing listens."""
    return open_catalog(replace(hive_place, uri="thrift://127.0.0.1:1"))
