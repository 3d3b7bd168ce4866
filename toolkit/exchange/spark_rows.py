"""Rows by Spark: reads of a database become files, and files become rows of a staging table."""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql
from typing_extensions import override

from toolkit.entities.vocabulary import DatasourceType
from toolkit.errors import FeedctlError
from toolkit.exchange.rows import Merge, ReadRequest, Rows, RowsFailed, StageRequest, StoredFormat, WrittenRows
from toolkit.exchange.spark_files import (
    TYPED,
    checked,
    column_of,
    file_columns,
    hadoop_settings,
    jvm_of,
    read_files,
    write_files,
)
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.errors import DriverMissing
from toolkit.jdbc.gateway import CONNECT_SECONDS, STATEMENT_SECONDS, database_causes, detail_of, failure
from toolkit.jdbc.port import JdbcAccess
from toolkit.jdbc.types import TEXTS

_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.codegen.useIdInClassName": "false",  # splits differ in nothing else, and share what is compiled
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.readSideCharPadding": "false",
    "spark.sql.redaction.options.regex": "(?i)url|user|password|secret|token|key",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",
}
"""Settings of a session; they win over the cluster's, so that values mean the same everywhere."""
_CONTEXT_SETTINGS = {"spark.speculation": "false", "spark.ui.showConsoleProgress": "false"}
"""Settings of an application, which it takes when it starts: two attempts at a task would write rows twice."""
_CONNECTION_PROPERTIES: Mapping[DatasourceType, Mapping[str, str]] = {
    DatasourceType.POSTGRES: {
        "loginTimeout": str(CONNECT_SECONDS),
        "socketTimeout": str(int(STATEMENT_SECONDS)),
        "logServerErrorDetail": "false",  # it quotes rows
    },
    DatasourceType.MYSQL: {
        "connectTimeout": str(CONNECT_SECONDS * 1000),
        "socketTimeout": str(int(STATEMENT_SECONDS) * 1000),
        "sessionVariables": "time_zone='+00:00'",  # for writes: Spark begins only reads with a statement
    },
}
"""Properties under those of the datasource."""
_TIMES = {"date", "timestamp", "timestamp_ntz"}
"""Types that cross as texts: by Java's old classes, times before 1583 and in skipped hours become others."""
_LOADERS = {"MutableURLClassLoader", "ChildFirstURLClassLoader"}
"""Loaders of Spark's programs, of which all threads inherit; they take jars later too."""
_CHECK = re.compile(r"\[feedctl\](.*?)\[/feedctl\]", re.DOTALL)
_ABOUT_VALUES = re.compile(r"\[((?:MALFORMED|CAST|NUMERIC)_\w+)")
"""Conditions of Spark whose messages quote a value or a record."""
_FILE = re.compile(r"while reading file (\S+[^.\s])")
_CHANGED, _RANK, _NUMBER = "feedctl:changed", "feedctl:rank", "feedctl:number"


class SparkRows(Rows):
    """Rows moved by the Spark application of this process, which the first request starts.

    Args:
        hadoop_conf: settings of file systems, of the cluster whose files these are.
    """

    def __init__(self, hadoop_conf: Mapping[str, str] | None = None) -> None:
        logging.getLogger("py4j").setLevel(logging.INFO)  # at DEBUG it logs each call with its arguments
        self._hadoop_conf = dict(hadoop_conf or {})
        self._session: SparkSession | None = None
        self._jars: set[str] = set()

    @override
    def read(self, request: ReadRequest) -> WrittenRows:
        with _explained(request.access):
            session = self._opened(request.access)
            rows = _selected(session, request)
            merged = rows if request.merge is None else _merged(session, rows, request, request.merge)
            return write_files(session, merged, request)

    @override
    def columns(self, files: tuple[str, ...], stored: StoredFormat) -> Mapping[str, str]:
        with _explained(None):
            return file_columns(self._opened(None), files, stored)

    @override
    def count(self, files: tuple[str, ...], stored: StoredFormat) -> int | None:
        if stored.format not in TYPED:
            return None
        with _explained(None):
            reader = self._opened(None).read.format(str(stored.format))
            return reader.load(list(files)).count() if files else 0

    @override
    def stage(self, request: StageRequest) -> int:
        with _explained(request.access):
            session = self._opened(request.access)
            wanted = {name: kind for name, kind in request.columns.items() if name not in request.constants}
            found = file_columns(session, request.files, request.stored)
            if not found:
                return 0
            missing = [each for each in wanted if each not in found]
            if missing:
                detail = f"there is no column {', '.join(missing)} in {', '.join(request.files)}"
                raise RowsFailed(about=request.access.name, detail=detail)
            frame = read_files(session, request.files, request.stored, found, wanted)
            _insert(frame, request)
            return frame.count()

    @override
    def close(self) -> None:
        if self._session is not None:
            self._session.stop()
        self._session = None
        self._jars.clear()

    def _opened(self, access: JdbcAccess | None) -> SparkSession:
        if self._session is None:
            self._session = _started(self._hadoop_conf)
        for jar in () if access is None else access.jars:
            if jar not in self._jars:
                _add_jar(self._session, jar)
                self._jars.add(jar)
        return self._session


def _started(hadoop_conf: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder.appName("feedctl exchange").config(map={**_SETTINGS, **_CONTEXT_SETTINGS})
    on_interrupt = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    if threading.current_thread() is threading.main_thread():
        # Spark sets a handler of its own for good: Ctrl-C would not end the run in order, nor work after the session.
        signal.signal(signal.SIGINT, on_interrupt)
    for name, text in hadoop_conf.items():  # not by the builder: an event log has its settings
        hadoop_settings(session).set(name, text)
    return session


def _add_jar(session: SparkSession, jar: str) -> None:
    """Let executors load a driver, and this JVM too, whose threads could not read its exceptions otherwise."""
    jvm = jvm_of(session)
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while loader is not None and loader.getClass().getSimpleName() not in _LOADERS:
        loader = loader.getParent()
    if loader is not None:
        loader.addURL(jvm.java.io.File(jar).toURI().toURL())
    session.sparkContext._jsc.addJar(jar)  # noqa: SLF001 - Python's Spark has no way to it


def _selected(session: SparkSession, request: ReadRequest) -> DataFrame:
    """Return the rows of the selects, a partition each; inside they have columns whose names no database minds."""
    kinds = {f"c{number}": kind for number, kind in enumerate(request.columns.values())}
    crossing = {name: _crossing(request.access.type, name, kind) for name, kind in kinds.items()}
    init = "; ".join([*request.access.init_statements, *filter(None, [request.init_statement])])
    options = {
        **_connection_options(request.access),
        "customSchema": ", ".join(f"{name} {kind}" for name, (_, kind) in crossing.items()),
        "fetchsize": str(request.fetch_size),
        **({"sessionInitStatement": init} if init else {}),
    }
    fields = ", ".join(text for text, _ in crossing.values())
    queries = [
        f"WITH feedctl_rows ({', '.join(kinds)}) AS ({select}) SELECT {fields} FROM feedctl_rows"  # noqa: S608 - ours
        for select in request.selects
    ]
    frames = [session.read.format("jdbc").options(**options).option("query", each).load() for each in queries]
    named = zip(kinds.items(), request.columns, strict=True)
    return reduce(DataFrame.union, frames).select(*(sql.col(own).cast(kind).alias(name) for (own, kind), name in named))


def _crossing(database: DatasourceType, name: str, kind: str) -> tuple[str, str]:
    """Return how a column is selected, and as which type Spark gets it."""
    if kind not in _TIMES or database not in TEXTS:
        return name, kind
    is_moment = kind == "timestamp" and database is DatasourceType.POSTGRES
    value = f"{name} AT TIME ZONE 'UTC'" if is_moment else name
    return f"CAST({value} AS {TEXTS[database]}) AS {name}", "string"


def _connection_options(access: JdbcAccess) -> dict[str, str]:
    """Return what opens a connection. Spark sends it to executors, and shows none of it in plans and event logs."""
    secrets = {"user": access.user, "password": None if access.password is None else access.password.text}
    return {
        **_CONNECTION_PROPERTIES.get(access.type, {}),
        **access.properties,
        **{name: text for name, text in secrets.items() if text is not None},
        "url": access.url,
        "driver": access.driver_class,
    }


def _merged(session: SparkSession, rows: DataFrame, request: ReadRequest, merge: Merge) -> DataFrame:
    changed, kept = rows.withColumn(_CHANGED, sql.lit(1)), _earlier(session, request, merge)
    both = changed if kept is None else changed.union(kept.withColumn(_CHANGED, sql.lit(0)))
    return _newest(both, request.columns, merge).coalesce(merge.parts)


def _earlier(session: SparkSession, request: ReadRequest, merge: Merge) -> DataFrame | None:
    found = file_columns(session, merge.previous, request.stored)
    lost = [each for each in found if each not in request.columns]
    if lost:
        detail = f"the earlier files have columns that the import has not: {', '.join(lost)}"
        raise RowsFailed(about=request.access.name, detail=f"{detail}; import in full once")
    return read_files(session, merge.previous, request.stored, found, request.columns) if found else None


def _newest(frame: DataFrame, columns: Iterable[str], merge: Merge) -> DataFrame:
    window = Window.partitionBy(*map(column_of, merge.key)).orderBy(
        column_of(merge.order).desc_nulls_last(), column_of(_CHANGED).desc()
    )
    ranked = frame.withColumn(_RANK, sql.rank().over(window)).withColumn(_NUMBER, sql.row_number().over(window))
    key = ", ".join(merge.key)
    empty = f"a row has no value of its merge_key ({key})"
    double = f"two rows have the same merge_key ({key}) and the same {merge.order}, so neither is the newest"
    if merge.is_unique:
        double = f"several rows have the same merge_key ({key}); name the columns that identify a row"
    first, *others = columns
    column = checked(column_of(first), column_of(_NUMBER) > 1, double)
    column = checked(column, reduce(Column.__or__, (column_of(each).isNull() for each in merge.key)), empty)
    chosen = ranked if merge.is_unique else ranked.where(column_of(_RANK) == 1)
    return chosen.select(column.alias(first), *map(column_of, others))


def _insert(frame: DataFrame, request: StageRequest) -> None:
    constants = {name: sql.lit(text).cast(request.columns[name]) for name, text in request.constants.items()}
    fields = {name: constants.get(name, column_of(name)) for name in request.columns}
    database = request.access.type
    sent = frame.select(*(_sent(each, request.columns[name], database).alias(name) for name, each in fields.items()))
    spread = sent.repartition if sent.rdd.getNumPartitions() < request.connections else sent.coalesce
    options = {
        **_connection_options(request.access),
        "dbtable": dialect(database).table(request.table),
        "batchsize": str(request.batch_rows),
        "isolationLevel": "READ_COMMITTED",
    }
    spread(request.connections).write.format("jdbc").options(**options).mode("append").save()


def _sent(column: Column, kind: str, database: DatasourceType) -> Column:
    """Return a column as the database gets it: times as texts in UTC, which say so where a server may be elsewhere."""
    if kind not in _TIMES or database not in TEXTS:
        return column
    is_moment = kind == "timestamp" and database is DatasourceType.POSTGRES
    return sql.concat(column.cast("string"), sql.lit("+00" if is_moment else ""))


@contextmanager
def _explained(access: JdbcAccess | None) -> Iterator[None]:
    """Raise errors of Spark as feedctl's own.

    Raises:
        FeedctlError: of `toolkit.jdbc.errors`, or `RowsFailed`.
    """
    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise _failure(access, error) from None  # its text may have values


def _failure(access: JdbcAccess | None, error: Py4JError | PySparkException) -> FeedctlError:
    about = "Spark" if access is None else access.name
    text = str(error)
    if found := _CHECK.search(text):
        return RowsFailed(about=about, detail=found[1])
    origin = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if access is not None and origin is not None and (chain := database_causes(origin)):
        return failure(access, Py4JJavaError("", chain[-1]))
    if access is not None and f"ClassNotFoundException: {access.driver_class}" in text:
        return DriverMissing(about=access.name, driver=access.driver_class, detail="the class is in none of its jars")
    if quoting := _ABOUT_VALUES.search(text):
        where = f" of {file[1]}" if (file := _FILE.search(text)) else ""
        detail = f"a record{where} is not of its format, or a value not of the type of its column"
        return RowsFailed(about=about, detail=f"{detail} (Spark: {quoting[1]})")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    caused = [line for line in lines if line.startswith("Caused by: ")]
    detail = (caused or lines or [type(error).__name__])[-1 if caused else 0]
    return RowsFailed(about=about, detail=detail_of(access, detail))
