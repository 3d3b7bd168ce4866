"""Small JVM of our own in which JDBC drivers run, and connections in it; Spark is not needed for that."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

from toolkit.errors import FeedctlError
from toolkit.java import java_command, missing_java
from toolkit.java_errors import keep_from_spark
from toolkit.jdbc.errors import DatabaseError, DatabaseTimeout, DatabaseUnreachable, DriverMissing
from toolkit.jdbc.meanings import meaning
from toolkit.jdbc.port import JdbcAccess, Row, Value
from toolkit.variables import Variables

JavaObject: TypeAlias = Any
"""Something that lives in Java; its methods are called by their Java names."""
CONNECT_SECONDS = 20
"""So long a server may take to accept a connection and its login."""
CALL_SECONDS = 60.0
"""So long a server may be silent about definitions."""
STATEMENT_SECONDS = 3600.0
"""So long it may be silent while it counts or merges; then it hangs, and the connection is given up."""

_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8")
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "KRB5_CONFIG", "KRB5CCNAME", "HADOOP_CONF_DIR")
_DETAIL_CHARACTERS, _MOST_CAUSES = 600, 12  # a chain of causes may be a ring
_SELF = "JDBC"
_INTEGERS, _DECIMALS = {-6, 5, 4, -5}, {2, 3}
_DATE, _TIMESTAMPS, _BINARIES = 91, {93, 2014}, {-2, -3, -4}
"""Numbers of `java.sql.Types`."""


class JdbcGateway:
    """JVM with JDBC drivers; it ends with this process, also when that is killed.

    Neither its arguments nor its environment have a password.

    Args:
        jars: of the drivers, and what else its callers use.
        variables: JAVA_HOME, PATH and the like.

    Raises:
        DatabaseError: no Java can be started.
    """

    def __init__(self, jars: Sequence[str], variables: Variables) -> None:
        logging.getLogger("py4j").setLevel(logging.INFO)  # at DEBUG it logs each call with its arguments
        own = spark_jars("py4j-*.jar")
        if not own:
            raise DatabaseError(about=_SELF, detail="pyspark has no jar of py4j; install feedctl[spark]")
        self._process = _started([*own, *jars], variables)
        with ExitStack() as on_error:
            on_error.callback(self._process.kill)
            self._java = self._connected()
            on_error.pop_all()

    def connect(self, access: JdbcAccess) -> JdbcConnection:
        """Open a connection; each one belongs to one thread at a time.

        Raises:
            FeedctlError: one of `toolkit.jdbc.errors`.
        """
        jvm = self._java.jvm
        absent = [each for each in access.jars if not Path(each).is_file()]
        if absent:
            raise DriverMissing(about=access.name, driver=access.driver_class, detail=f"there is no {absent[0]}")
        properties = jvm.java.util.Properties()
        secrets = {"user": access.user, "password": None if access.password is None else access.password.text}
        for name, text in {**access.properties, **secrets}.items():
            if text is not None:
                properties.setProperty(name, text)
        try:
            jvm.java.lang.Class.forName(access.driver_class)
        except Py4JJavaError as error:
            detail = "the class is in none of its jars" if access.jars else "no jar is given"
            raise DriverMissing(about=access.name, driver=access.driver_class, detail=detail) from error
        except Py4JError as error:
            raise DatabaseUnreachable(about=access.name, detail="its JVM has ended") from error
        jvm.java.sql.DriverManager.setLoginTimeout(CONNECT_SECONDS)
        with _explained(access, is_connecting=True):
            connection = jvm.java.sql.DriverManager.getConnection(access.url, properties)
        opened = JdbcConnection(access, self._java, connection)
        for statement in access.init_statements:
            opened.execute(statement, seconds=CALL_SECONDS)
        return opened

    def hadoop_secret(self, access: JdbcAccess, alias: str, provider: str) -> str | None:
        """Return a password of a Hadoop credential provider; None: the provider does not have the alias.

        Raises:
            DatabaseError: the provider cannot be read.
        """
        with _explained(access):
            conf = self._java.jvm.org.apache.hadoop.conf.Configuration()
            conf.set("hadoop.security.credential.provider.path", provider)
            found = conf.getPassword(alias)
            return None if found is None else "".join(found)

    def close(self) -> None:
        """End the JVM."""
        with suppress(Py4JError, OSError):
            self._java.close()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _connected(self) -> JavaGateway:
        output = self._process.stdout
        port, token = (output.readline().decode().strip(), output.readline().decode().strip()) if output else ("", "")
        if not port.isdigit():
            raise DatabaseError(about=_SELF, detail="the JVM for drivers did not start; see JAVA_HOME")
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=int(port), auth_token=token))
        keep_from_spark(gateway)
        return gateway


class JdbcConnection:
    """A connection; statements are prepared, and values cross as what they are."""

    def __init__(self, access: JdbcAccess, java: JavaGateway, connection: JavaObject) -> None:
        self._access, self._java, self._connection = access, java, connection
        self._threads = java.jvm.java.util.concurrent.ForkJoinPool.commonPool()

    def begin(self, *, read_only: bool, isolation: str) -> None:
        """Begin a transaction of an isolation, named as in `java.sql.Connection`; a connection has one after another.

        Raises:
            FeedctlError: one of `toolkit.jdbc.errors`.
        """
        with _explained(self._access):
            self._limit(CALL_SECONDS)  # a pool answers logins alone, and the server behind it may hang
            self._connection.setAutoCommit(True)
            self._connection.setReadOnly(read_only)
            level = getattr(self._java.jvm.java.sql.Connection, isolation)
            self._connection.setTransactionIsolation(level)
            self._connection.setAutoCommit(False)

    def query(self, statement: str, *values: Value, seconds: float = STATEMENT_SECONDS) -> list[Row]:
        """Return all rows.

        Args:
            statement: with a ``?`` for each value.
            values: the parameters.
            seconds: how long the server may be silent.

        Raises:
            FeedctlError: one of `toolkit.jdbc.errors`.
        """
        with _explained(self._access), closing(self._prepared(statement, values, seconds)) as prepared:
            return _rows(prepared.executeQuery())

    def execute(self, statement: str, *values: Value, seconds: float = STATEMENT_SECONDS) -> int:
        """Execute a statement and return the number of rows that it changed; the rest is as in `query`."""
        with _explained(self._access), closing(self._prepared(statement, values, seconds)) as prepared:
            return 0 if prepared.execute() else int(prepared.getLargeUpdateCount())

    def commit(self) -> None:
        """Commit the transaction.

        Raises:
            FeedctlError: one of `toolkit.jdbc.errors`; whether it was committed is unknown then.
        """
        with _explained(self._access):
            self._connection.commit()

    def close(self) -> None:
        """Roll back what is open, and end the connection."""
        with suppress(Py4JError):  # the last statement's limit may be an hour, and the server may hang
            self._limit(CALL_SECONDS)
        with suppress(Py4JError):
            if not self._connection.getAutoCommit():
                self._connection.rollback()
        with suppress(Py4JError):
            self._connection.close()

    def _limit(self, seconds: float) -> None:
        self._connection.setNetworkTimeout(self._threads, int(seconds * 1000))

    def _prepared(self, statement: str, values: Sequence[Value], seconds: float) -> JavaObject:
        self._limit(seconds)
        prepared = self._connection.prepareStatement(statement)
        for index, value in enumerate(values, 1):
            self._set(prepared, index, value)
        return prepared

    def _set(self, prepared: JavaObject, index: int, value: Value) -> None:
        jvm = self._java.jvm
        match value:
            case None:
                prepared.setNull(index, 0)
            case bool():
                prepared.setBoolean(index, value)
            case int() | Decimal():
                prepared.setBigDecimal(index, jvm.java.math.BigDecimal(format(Decimal(value), "f")))
            case bytes():
                prepared.setBytes(index, bytearray(value))
            case datetime():
                java_time = jvm.java.time.LocalDateTime if value.tzinfo is None else jvm.java.time.OffsetDateTime
                prepared.setObject(index, java_time.parse(value.isoformat()))
            case date():
                prepared.setObject(index, jvm.java.time.LocalDate.parse(value.isoformat()))
            case str():
                prepared.setString(index, value)


def _started(class_path: Sequence[str], variables: Variables) -> subprocess.Popen[bytes]:
    problem = missing_java(variables)
    if problem:
        raise DatabaseError(about=_SELF, detail=problem)
    server = ["py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
    return subprocess.Popen(  # noqa: S603 - a list of arguments, by no shell
        [java_command(variables), *_OPTIONS, "-cp", os.pathsep.join(class_path), *server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: variables[name] for name in _PASSED if name in variables},
        process_group=0,  # Ctrl-C is for this process, which rolls back first
    )


@contextmanager
def _explained(access: JdbcAccess, *, is_connecting: bool = False) -> Iterator[None]:
    try:
        yield
    except Py4JError as error:
        raise failure(access, error, is_connecting=is_connecting) from error


def detail_of(access: JdbcAccess | None, text: str) -> str:
    """Return the beginning of a message of another program, without the password."""
    text = text[:_DETAIL_CHARACTERS]
    if access is None or access.password is None or not access.password.text:
        return text
    return text.replace(access.password.text, str(access.password))


def failure(access: JdbcAccess, error: Py4JError, *, is_connecting: bool = False) -> FeedctlError:
    """Return the error that an exception of Java means; its text has no password."""
    if not isinstance(error, Py4JJavaError):
        what = "its JVM has ended" if isinstance(error, Py4JNetworkError) else "its JVM does not answer as expected"
        return DatabaseUnreachable(about=access.name, detail=what)
    try:
        chain = _causes(error.java_exception)
        state, code, texts = _facts(chain)
    except Py4JError:
        return DatabaseUnreachable(about=access.name, detail="its JVM has ended")
    text = detail_of(access, " ".join(next((each for each in texts if each), "no message").split()))
    if "No suitable driver" in text:
        return DriverMissing(about=access.name, driver=access.driver_class, detail=f"it does not take {access.url}")
    kind = meaning(state, code, [str(each.getClass().getName()) for each in chain], text)
    if is_connecting and issubclass(kind, DatabaseTimeout):
        kind = DatabaseUnreachable
    return kind(about=access.name, detail=text)


def _causes(exception: JavaObject) -> list[JavaObject]:
    chain = [exception]
    while (cause := chain[-1].getCause()) is not None and len(chain) < _MOST_CAUSES:
        chain.append(cause)
    return chain


def database_causes(exception: JavaObject) -> list[JavaObject]:
    """Return the exceptions of a JDBC driver behind one, outermost first; none too when the JVM has ended."""
    found = []
    with suppress(Py4JError):
        for each in _causes(exception):
            with suppress(Py4JError):
                each.getSQLState()
                found.append(each)
    return found


def _facts(chain: Sequence[JavaObject]) -> tuple[str, int, list[str]]:
    own = database_causes(chain[0])[:1]
    state, code = next(((str(each.getSQLState() or ""), int(each.getErrorCode())) for each in own), ("", 0))
    return state, code, [str(each.getMessage() or "") for each in chain]


def _rows(result: JavaObject) -> list[Row]:
    described = result.getMetaData()
    columns = range(1, described.getColumnCount() + 1)
    types: Mapping[int, int] = {each: described.getColumnType(each) for each in columns}
    rows: list[Row] = []
    while result.next():
        rows.append(tuple(_value(result, each, types[each]) for each in columns))
    return rows


def _value(result: JavaObject, column: int, kind: int) -> Value:
    if kind in _BINARIES:
        found = result.getBytes(column)
        return None if found is None else bytes(found)
    text: str | None = result.getString(column)
    return None if text is None else _parsed(text, kind)


def _parsed(text: str, kind: int) -> Value:
    """Return the value of a text, or the text itself where Python has no such value, as of ``infinity``."""
    with suppress(ValueError, InvalidOperation):
        if kind in _INTEGERS:
            return int(text)
        if kind in _DECIMALS:
            number = Decimal(text)
            return number if number.is_finite() else text
        if kind == _DATE:
            return date.fromisoformat(text)
        if kind in _TIMESTAMPS:
            return datetime.fromisoformat(text)
    return text


def spark_jars(*patterns: str) -> list[str]:
    """Return jars by their names, of pyspark or of the Spark of a cluster; none: it has none of that name."""
    spark = find_spec("pyspark")
    homes = [Path(str(spark.origin)).parent] if spark and spark.origin else []
    homes += [each.parents[1] for each in homes if each.parent.name == "python"]  # SPARK_HOME/python/pyspark
    homes += [each.parents[3] for each in homes if each.parent.suffix == ".zip"]  # SPARK_HOME/python/lib/pyspark.zip
    return [str(jar) for home in homes for pattern in patterns for jar in sorted(home.glob(f"jars/{pattern}"))]
