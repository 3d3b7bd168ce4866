"""Servers that a page needs, and what they are called in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from tests.databases.postgresql import PostgresServer
    from tests.testbed.metastore import HiveMetastoreServer
    from tests.testbed.s3 import S3Store

POSTGRESQL = "feedctl@db.example.com/feedctl"
HDFS = "hdfs://namenode.example.com:8020"
METASTORE = "thrift://metastore.example.com:9083"
S3, BUCKET = "http://s3.example.com:9000", "example-bucket"


def stand_ins(need: str, request: pytest.FixtureRequest) -> Mapping[str, str]:
    """Return what takes the place of a server's name in the page; the server is started when none is there yet."""
    match need:
        case "postgresql":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            name = f"docs_{uuid4().hex}"
            server.create_database(name)
            return {POSTGRESQL: server.url(name).partition("://")[2]}
        case "hdfs":
            return {HDFS: request.getfixturevalue("hdfs_dir")}
        case "metastore":
            metastore: HiveMetastoreServer = request.getfixturevalue("metastore")
            return {METASTORE: metastore.uri}
        case "s3":
            store: S3Store = request.getfixturevalue("s3")
            return {S3: store.endpoint, BUCKET: request.getfixturevalue("s3_bucket")}
        case _:
            return {}


def variables(need: str, request: pytest.FixtureRequest) -> Mapping[str, str]:
    """Return the variables of the environment that a need brings."""
    match need:
        case "spark":
            return {"JAVA_HOME": str(request.getfixturevalue("java_home"))}
        case "s3":
            store: S3Store = request.getfixturevalue("s3")
            return store.environment
        case _:
            return {}
