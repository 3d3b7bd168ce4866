"""Iceberg tables of a Hive metastore, by PyIceberg, which locks a table in the metastore for each commit.

A lock protects against other engines; commits of feedctl are one at a time by their slot. Each commit also compares:
the metastore alters the table only if it still has the metadata that the commit was made on (HIVE-26882: Hive 2.3.10
and 4), so a request of a killed process that arrives late changes nothing. That is why its lock may be removed.
"""

from __future__ import annotations

import logging
import random
import re
import threading
import time
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from hive_metastore.ThriftHiveMetastore import Client
from hive_metastore.ttypes import (
    CheckLockRequest,
    EnvironmentContext,
    FieldSchema,
    GetTableRequest,
    InvalidOperationException,
    LockState,
    MetaException,
    NoSuchLockException,
    ShowLocksRequest,
    UnlockRequest,
)
from pyiceberg.catalog import METADATA_LOCATION, PREVIOUS_METADATA_LOCATION, WAREHOUSE_LOCATION
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.exceptions import CommitFailedException
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport
from typing_extensions import override

from toolkit.ingest.errors import TableLocked
from toolkit.runs.owner import ProcessTable

_CALL_SECONDS = 60
"""So long a call may take; a commit without an answer is looked up."""
_LOCK_SECONDS = 5.0
"""So long one attempt to commit waits for the lock; the committer tries again up to its own limit."""
_CHECK_SECONDS = (0.05, 0.3)
_DEAD_AFTER = timedelta(seconds=300)
"""A lock without a heartbeat for so long is dead: the metastore's own rule (`hive.txn.timeout`)."""
_AGENT = re.compile(r"feedctl (\d{1,9}) (\S+) (.+)")
_OWN = "feedctl."
logging.getLogger("thrift").addHandler(logging.NullHandler())  # it writes to stderr what it raises as well


def _compared(location: str) -> dict[str, str]:
    return {"expected_parameter_key": METADATA_LOCATION, "expected_parameter_value": location}


class _GuardedClient:
    """A client of the metastore whose changes of a table are a compare-and-set of its metadata."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - the library has no types
        self._client = client

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._client, name)

    def get_table(self, dbname: str, tbl_name: str) -> Any:  # noqa: ANN401
        """Return a table by the call that Hive 4 has too."""
        return self._client.get_table_req(GetTableRequest(dbName=dbname, tblName=tbl_name)).table

    def alter_table_with_environment_context(
        self,
        dbname: str,
        tbl_name: str,
        new_tbl: Any,  # noqa: ANN401
        environment_context: Any,  # noqa: ANN401
    ) -> None:
        """Change a table that has the metadata that the change was made on; readers have our properties from there."""
        new_tbl.parameters = {key: value for key, value in new_tbl.parameters.items() if not key.startswith(_OWN)}
        expected = _compared(new_tbl.parameters[PREVIOUS_METADATA_LOCATION])
        context = EnvironmentContext(properties=environment_context.properties | expected)
        self._client.alter_table_with_environment_context(dbname, tbl_name, new_tbl, context)

    def is_comparing(self, dbname: str, tbl_name: str) -> bool:
        """Return whether the metastore compares, by a change that no version makes: it refuses other partition keys."""
        table = self.get_table(dbname, tbl_name)
        table.partitionKeys = [FieldSchema("feedctl_never", "string")]
        try:
            context = EnvironmentContext(properties=_compared("feedctl compares"))
            self._client.alter_table_with_environment_context(dbname, tbl_name, table, context)
        except MetaException as error:
            return "has been modified" in str(error.message)
        except InvalidOperationException:
            return False
        return False


class _Connections:
    """Connections to the metastore, one for each call of the catalog: threads do not share any."""

    def __init__(self, uri: str) -> None:
        self._address = urlsplit(uri)
        self._open = threading.local()

    def __enter__(self) -> _GuardedClient:
        connection = TSocket(self._address.hostname, self._address.port)
        connection.setTimeout(_CALL_SECONDS * 1000)
        connection.open()
        self._open.connections = [*getattr(self._open, "connections", ()), connection]
        return _GuardedClient(Client(TBinaryProtocol(TBufferedTransport(connection))))

    def __exit__(self, *_: object) -> None:
        self._open.connections.pop().close()


class LockedHiveCatalog(HiveCatalog):
    """A catalog whose commits wait for a lock only as long as its holder may be alive."""

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **properties)
        self._processes = ProcessTable()
        self._id = uuid.uuid4().hex[:8]

    @staticmethod
    @override
    def _create_hive_client(properties: dict[str, str]) -> Any:
        return _Connections(properties["uri"])

    @override
    def _get_default_warehouse_location(self, database_name: str, table_name: str) -> str:
        """Never below the directory of the database: of two that create one at once, the metastore removes that."""
        return f"{self.properties[WAREHOUSE_LOCATION].rstrip('/')}/{database_name}/{table_name}"

    @override
    def _create_lock_request(self, database_name: str, table_name: str) -> Any:
        request = super()._create_lock_request(database_name, table_name)
        request.agentInfo = f"feedctl {self._processes.pid} {self._id} {self._processes.own_mark() or '-'}"
        return request

    @override
    def _wait_for_lock(self, database_name: str, table_name: str, lockid: int, open_client: Any) -> Any:
        until = time.monotonic() + _LOCK_SECONDS
        while True:
            response = open_client.check_lock(CheckLockRequest(lockid=lockid))
            if response.state == LockState.ACQUIRED:
                return response
            if response.state != LockState.WAITING:
                raise CommitFailedException
            holders = self._remove_dead(open_client, database_name, table_name, lockid)
            if time.monotonic() > until:
                raise TableLocked(table=f"{self.name}.{database_name}.{table_name}", holders=holders)
            time.sleep(random.uniform(*_CHECK_SECONDS))  # noqa: S311 - jitter

    def _remove_dead(self, client: _GuardedClient, database: str, table: str, own: int) -> tuple[str, ...]:
        """Remove the locks of dead processes of feedctl; returns the descriptions of the others that come first."""
        locks = client.show_locks(ShowLocksRequest(dbname=database, tablename=table)).locks
        # Both times are those of the metastore's database.
        now = next((each.lastheartbeat for each in locks if each.lockid == own), 0)
        holders = []
        for each in locks:
            if each.lockid < own:
                if self._is_dead(client, each, timedelta(milliseconds=now - each.lastheartbeat)):
                    with suppress(NoSuchLockException):
                        client.unlock(UnlockRequest(lockid=each.lockid))
                else:
                    holders.append(_described(each))
        return tuple(holders)

    def _is_dead(self, client: _GuardedClient, lock: Any, age: timedelta) -> bool:  # noqa: ANN401
        """Return whether a lock is one of feedctl whose process can commit nothing by it any more."""
        found = _AGENT.fullmatch(lock.agentInfo or "")
        if found is None:
            return False
        if age >= _DEAD_AFTER:
            return True
        pid, catalog, mark = found.groups()
        # One of our own catalog is of a commit that got no answer: there is one commit at a time.
        if catalog != self._id and not self._processes.has_ended(host=lock.hostname, pid=int(pid), mark=mark):
            return False
        return lock.state == LockState.WAITING or client.is_comparing(lock.dbname, lock.tablename)


def _described(lock: Any) -> str:  # noqa: ANN401
    at, beat = (datetime.fromtimestamp((each or 0) / 1000, UTC) for each in (lock.acquiredat, lock.lastheartbeat))
    since = f"since {at:%Y-%m-%dT%H:%M:%SZ}" if lock.acquiredat else "waiting"
    owner = f"{lock.user} on {lock.hostname} ({lock.agentInfo})"
    return f"lock {lock.lockid} of {owner}, {since}, last heartbeat {beat:%H:%M:%SZ}"
