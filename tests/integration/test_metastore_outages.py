"""A metastore that is down, frozen or started anew, and what is none."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore import HiveMetastoreServer
from tests.unit.doctor.servers import listening, unused_port
from toolkit.catalog.adapters.hive import HiveMetastore
from toolkit.catalog.errors import MetastoreUnreachable
from toolkit.catalog.model import TableName
from toolkit.catalog.port import CatalogSpec
from toolkit.errors import InvalidInput

_PATIENCE = 20.0
"""Seconds; one call that is not answered."""


def test_a_metastore_that_is_down_is_named_at_once_and_one_that_is_up_again_is_used(
    restartable_metastore: HiveMetastoreServer,
) -> None:
    metastore = plain_metastore(restartable_metastore.spec)
    assert "default" in metastore.databases()
    restartable_metastore.stop()
    begun = time.monotonic()
    with pytest.raises(MetastoreUnreachable, match=rf"{restartable_metastore.uri}: Connection refused") as failure:
        metastore.databases()
    assert time.monotonic() - begun < _PATIENCE
    assert failure.value.retriable
    restartable_metastore.start()
    assert "default" in metastore.databases()


@pytest.mark.extended
def test_a_metastore_that_was_started_anew_between_two_calls_is_used_without_an_error(
    restartable_metastore: HiveMetastoreServer,
) -> None:
    metastore = plain_metastore(restartable_metastore.spec)
    before = metastore.databases()
    restartable_metastore.stop()
    restartable_metastore.start()
    assert metastore.databases() == before


@pytest.mark.extended
def test_a_frozen_metastore_is_given_up_after_the_time_of_a_call_and_used_when_it_goes_on(
    restartable_metastore: HiveMetastoreServer,
) -> None:
    metastore = HiveMetastore(restartable_metastore.spec, seconds=5)
    metastore.version()
    restartable_metastore.freeze()
    begun = time.monotonic()
    with pytest.raises(MetastoreUnreachable, match="may still happen"):
        metastore.databases()
    assert time.monotonic() - begun < _PATIENCE
    restartable_metastore.thaw()
    assert "default" in metastore.databases()


def test_of_several_end_points_one_that_is_up_is_enough(metastore: HiveMetastoreServer) -> None:
    spec = CatalogSpec(uris=f"thrift://127.0.0.1:{unused_port()}, {metastore.uri}")
    assert "default" in plain_metastore(spec).databases()


def test_what_is_no_metastore_is_unreachable(metastore: HiveMetastoreServer) -> None:
    del metastore  # Java has been started
    with listening({b"\x80": b"HTTP/1.1 400 Bad Request\r\n\r\n"}) as port:
        opened = HiveMetastore(CatalogSpec(uris=f"thrift://127.0.0.1:{port}"), seconds=_PATIENCE)
        with pytest.raises(MetastoreUnreachable, match=f"thrift://127.0.0.1:{port}"):
            opened.databases()


@pytest.mark.parametrize("uris", ["", "hive2://host:1", "thrift://host", "thrift://:9083", "thrift://h:x", "host:9083"])
def test_an_end_point_that_is_none_is_refused_with_what_was_expected(uris: str) -> None:
    with pytest.raises(InvalidInput, match="expected thrift://HOST:PORT"):
        plain_metastore(CatalogSpec(uris=uris))


def test_threads_share_a_metastore(metastore: HiveMetastoreServer) -> None:
    opened, name = plain_metastore(metastore.spec), TableName("threads", "t")
    create_database(metastore.spec, name.database, f"{metastore.warehouse}/threads")
    table = table_of(name, f"{metastore.warehouse}/threads/t", ds="string")
    opened.create_table(table)

    opened.add_partitions(name, [partition_of(table, str(number)) for number in range(16)])

    def values(number: int) -> tuple[str, ...]:
        (found,) = opened.partitions(name, [f"ds={number}"])
        return found.values

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(values, range(16))] == [(str(number),) for number in range(16)]
