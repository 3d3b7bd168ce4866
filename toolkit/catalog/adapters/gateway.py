"""The Java of this process: that of spark-submit, of a Spark context, or one of our own; no Spark context is made."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from py4j.java_gateway import JavaGateway
from pyspark import SparkContext
from pyspark.java_gateway import launch_gateway

from toolkit.catalog.adapters.thrift_json import Struct, names_struct
from toolkit.java import warn_of_missing_java
from toolkit.java_errors import keep_from_spark
from toolkit.variables import process_variables

JavaObject: TypeAlias = Any
"""Something that lives in Java; its methods are called by their Java names."""
_PARTED = "\n"
"""No name of a database, table or partition has one: Hive escapes it."""


class Java:
    """Gateway to the Java classes that the adapter needs; made once a process, for all its threads.

    A JVM of our own ends with this process, since it reads the end of a pipe then; it writes nothing to our output.
    """

    def __init__(self) -> None:
        running: JavaGateway | None = SparkContext._gateway  # noqa: SLF001 - pyspark's own way to know it
        launch: Any = launch_gateway  # pyspark has no types for it
        if running is None:
            warn_of_missing_java(process_variables())
        self._gateway = running or launch(popen_kwargs={"stdout": subprocess.DEVNULL})  # ends with its last user
        if running is None:
            keep_from_spark(self._gateway)  # a validation or a copy may start Spark's later
        self.jvm: JavaObject = self._gateway.jvm
        thrift = self.jvm.org.apache.thrift
        factory = getattr(self.jvm, "org.apache.thrift.protocol.TJSONProtocol$Factory")
        self._to_bytes: Callable[[], JavaObject] = lambda: thrift.TSerializer(factory())
        self._from_bytes: Callable[[], JavaObject] = lambda: thrift.TDeserializer(factory())
        self.api = self.jvm.org.apache.hadoop.hive.metastore.api

    def client(self, settings: dict[str, str]) -> JavaObject:
        """A connected ``HiveMetaStoreClient`` with these settings above those of Hive's and Hadoop's own files."""
        conf = self.jvm.org.apache.hadoop.hive.conf.HiveConf()
        for name, value in settings.items():
            conf.set(name, value)
        return self.jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)

    def stub(self, client: JavaObject) -> JavaObject:
        """The Thrift calls below a client: some have no method of the client (drop by names, get_table_req)."""
        field = client.getClass().getDeclaredField("client")
        field.setAccessible(True)
        return field.get(client)

    def struct(self, made: JavaObject) -> Struct:
        """Return the content of a Thrift struct.

        Raises:
            ValueError: it has a map whose keys are lists, as one of a table that is STORED AS DIRECTORIES.
        """
        found: Struct = json.loads(bytes(self._to_bytes().serialize(made)))
        return found

    def filled(self, empty: JavaObject, struct: Struct) -> JavaObject:
        """The Thrift struct, filled."""
        text = json.dumps(struct, separators=(",", ":"))  # Thrift takes no white space
        self._from_bytes().deserialize(empty, bytearray(text, "ascii"))
        return empty

    def texts(self, java_list: JavaObject) -> tuple[str, ...]:
        """Return all texts of a list of names, in one call."""
        joined: str = self.jvm.java.lang.String.join(_PARTED, java_list)
        return tuple(joined.split(_PARTED)) if joined else ()

    def list(self, texts: Iterable[str]) -> JavaObject:
        """A Java list of texts, in three calls."""
        return self.filled(self.api.RequestPartsSpec(), names_struct(texts)).getNames()
