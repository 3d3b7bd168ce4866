"""Files of rows, as Spark writes and reads them: what they hold comes back as it was, or the job fails."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from toolkit.entities.vocabulary import DataFormat
from toolkit.exchange.rows import ReadRequest, RowsFailed, StoredFormat, WrittenRows
from toolkit.jdbc.gateway import JavaObject
from toolkit.jdbc.types import MOST_DIGITS

_STRICT = {
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "mode": "FAILFAST",
    "recursiveFileLookup": "true",
}
"""Options that win over the cluster's: a file that cannot be read fails the action."""
_TEXT_TIMES = {
    "dateFormat": "yyyy-MM-dd",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Forms with microseconds, which Spark leaves out by default."""
TYPED = {DataFormat.PARQUET, DataFormat.ORC}
"""Formats whose files have types, and a footer with their number of rows."""
_JOB = re.compile(r"part-\d+-([0-9a-f]{8}(?:-[0-9a-f]{4,12}){4})")
"""Name of a file that Spark writes, with the number of its job."""
_DECIMAL = re.compile(r"decimal\((?P<digits>\d+),(?P<scale>\d+)\)")


def write_files(session: SparkSession, frame: DataFrame, request: ReadRequest) -> WrittenRows:
    """Write the rows, and count what the files have: Spark's own count says what it meant to write."""
    stored, columns = request.stored, request.columns
    if len({each.lower() for each in columns}) < len(columns):
        detail = "names of columns differ only in their case, which most readers of files do not see"
        raise RowsFailed(about=request.access.name, detail=f"{detail}: rename one in a view, or exclude it")
    if stored.format is DataFormat.ORC and any("`" in each for each in columns):
        raise RowsFailed(about=request.access.name, detail="ORC has no names of columns with `: write parquet")
    directory = jvm_of(session).org.apache.hadoop.fs.Path(request.target)
    system = directory.getFileSystem(hadoop_settings(session))
    system.setWriteChecksum(False)
    options = {**_options(stored), **({} if stored.format in TYPED else _TEXT_TIMES)}
    options["mapreduce.fileoutputcommitter.marksuccessfuljobs"] = "false"  # the flag belongs to publication
    fields = [_writable(name, kind, stored) for name, kind in columns.items()]
    if stored.format is DataFormat.CSV and not stored.null_text and len(columns) == 1:
        (name,) = columns
        why = f"the column {name} is the only one, and a null of it would be no line of CSV; set a null_string"
        fields = [checked(fields[0], column_of(name).isNull(), why).alias(name)]
    writer = frame.select(*fields).write
    writer.format(str(stored.format)).options(**options).mode("append").save(request.target)
    files = [each for each in system.listStatus(directory) if not str(each.getPath().getName()).startswith((".", "_"))]
    names = (_JOB.match(str(each.getPath().getName())) for each in files)
    if len({found[1] for found in names if found}) > 1:
        raise RowsFailed(about=request.access.name, detail=f"another run writes to {request.target} too; run again")
    return WrittenRows(
        rows=_count(session, [each.getPath() for each in files], request),
        bytes=sum(int(each.getLen()) for each in files),
        files=len(files),
    )


def _count(session: SparkSession, files: Sequence[JavaObject], request: ReadRequest) -> int:
    """Return how many rows the files have; those of Parquet say so, and another job would read no more of them."""
    if request.stored.format is not DataFormat.PARQUET:
        return read_files(session, (request.target,), request.stored, request.columns, request.columns).count()
    parquet = jvm_of(session).org.apache.parquet.hadoop
    rows = 0
    for each in files:
        source = parquet.util.HadoopInputFile.fromPath(each, hadoop_settings(session))
        with closing(parquet.ParquetFileReader.open(source)) as reader:
            rows += int(reader.getRecordCount())
    return rows


def _options(stored: StoredFormat) -> dict[str, str]:
    """Return Spark's options of a format, with which each value comes back as it was."""
    if stored.format is DataFormat.CSV:
        edges = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
        return {"header": "true", "nullValue": stored.null_text, "escape": '"', "encoding": "UTF-8", **edges}
    return {"ignoreNullFields": "false", "encoding": "UTF-8"} if stored.format is DataFormat.JSON else {}


def _writable(name: str, kind: str, stored: StoredFormat) -> Column:
    """Return a column as files of CSV can keep it: binary as hexadecimal digits, and no text that means null."""
    column = column_of(name)
    if stored.format is DataFormat.CSV and kind == "binary":
        return sql.hex(column).alias(name)
    if stored.format is DataFormat.CSV and kind == "string":
        why = f"a text in the column {name} is {stored.null_text!r}, which means null in CSV; set another null_string"
        return checked(column, column == sql.lit(stored.null_text), why).alias(name)
    return column


def file_columns(session: SparkSession, files: Sequence[str], stored: StoredFormat) -> dict[str, str]:
    """Return the columns of files; none, where there is no file."""
    names = {"mergeSchema": "true", "primitivesAsString": "true"}
    try:
        reader = session.read.format(str(stored.format)).options(**_options(stored), **_STRICT, **names)
        return {each.name: each.dataType.simpleString() for each in reader.load(list(files)).schema} if files else {}
    except PySparkException as error:
        if "UNABLE_TO_INFER_SCHEMA" in str(error):
            return {}
        raise


def read_files(
    session: SparkSession,
    files: Sequence[str],
    stored: StoredFormat,
    found: Mapping[str, str],
    wanted: Mapping[str, str],
) -> DataFrame:
    """Return the rows of files with columns of these types; a column that is in none of the files is null.

    Args:
        session: the session.
        files: URIs.
        stored: their form.
        found: types of the columns in the files, in their order.
        wanted: types of the result.
    """
    types = {name: _read_type(stored, wanted.get(name, "string"), kind) for name, kind in found.items()}
    schema = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
    options = {**_options(stored), **_STRICT}
    if stored.format is DataFormat.CSV:
        options |= {"multiLine": "true", "enforceSchema": "false"}  # names of the first line are compared
    frame = session.read.schema(schema).format(str(stored.format)).options(**options).load(list(files))
    return frame.select(*(_converted(name, kind, types.get(name), stored) for name, kind in wanted.items()))


def _read_type(stored: StoredFormat, wanted: str, found: str) -> str:
    """Return the type with which a column of files is read; text takes the wanted one, with room for more digits."""
    if stored.format in TYPED:
        return found
    if wanted == "binary" and stored.format is DataFormat.CSV:
        return "string"
    decimal = _DECIMAL.fullmatch(wanted)
    if decimal is None:
        return wanted
    digits, scale = int(decimal["digits"]), int(decimal["scale"])
    return f"decimal({MOST_DIGITS},{max(scale, min(18, MOST_DIGITS - (digits - scale)))})"


def _converted(name: str, kind: str, found: str | None, stored: StoredFormat) -> Column:
    """Return a column as another type; a value that is another one when it is converted back fails the job."""
    column, own = column_of(name), quoted(name)
    if found is None:
        return sql.lit(None).cast(kind).alias(name)
    if found == kind:
        return column
    if stored.format is DataFormat.CSV and kind == "binary":
        return sql.unhex(column).alias(name)
    back = sql.expr(f"try_cast(try_cast({own} AS {kind}) AS {found})")
    why = f"the column {name} has a value of type {found} that is no {kind}"
    return checked(sql.expr(f"try_cast({own} AS {kind})"), ~back.eqNullSafe(column), why).alias(name)


def column_of(name: str) -> Column:
    """Return a column by its exact name."""
    return sql.col(quoted(name))


def quoted(name: str) -> str:
    """Return a name as an identifier of Spark's SQL."""
    return f"`{name.replace('`', '``')}`"


def checked(column: Column, is_bad: Column, why: str) -> Column:
    """Return a column that fails its job with a text in marks where the condition holds."""
    return sql.when(is_bad, sql.raise_error(sql.lit(f"[feedctl]{why}[/feedctl]"))).otherwise(column)


def jvm_of(session: SparkSession) -> JavaObject:
    """Return the JVM of an application."""
    return session._jvm  # noqa: SLF001 - Python's Spark has no way to it


def hadoop_settings(session: SparkSession) -> JavaObject:
    """Return the settings of Hadoop of an application."""
    return session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
