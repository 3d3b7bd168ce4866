"""Random tables with values at the edges of every type that an import keeps, and some that it must refuse."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from toolkit.entities.vocabulary import DatasourceType
from toolkit.jdbc.dialect import Dialect, dialect

_PIECES = (*"aZ ,;'\"\\\n\r\t#|`$%?:é漢\u2028\x01", "\\N", "\U0001f600", "NULL", "null", "''", "  ", "\r\n")
_NAMES = ('"', "`", " b", ";", "--", "É", ".", "select", "x" * 40, "$", "'", "a,b", "%s", "?")
_MOST_ROWS, _MOST_COLUMNS = 25, 7

Literal = Callable[[random.Random, Dialect], str]
"""Gives a value as SQL."""


@dataclass
class RandomTable:
    """A table `t`.

    Attributes:
        script: makes it.
        wanted: types for `columns` of an import.
        refused: columns with a value that Spark has not.
        rows: how many it has.
    """

    script: str
    wanted: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    rows: int = 0


def random_table(rng: random.Random, kind: DatasourceType, *, backticks: bool) -> RandomTable:
    """Return a table; names have a backtick only where the format takes it."""
    own, table, columns = dialect(kind), RandomTable(script=""), []
    makers: list[Literal] = []
    for number in range(rng.randint(1, _MOST_COLUMNS)):
        spelling, maker, wanted = rng.choice(_TYPES[kind])(rng)
        name = f"{number}{rng.choice(_NAMES)}"
        name = name if backticks else name.replace("`", "")
        columns.append((name, spelling))
        makers.append(maker)
        if wanted:
            table.wanted[name] = wanted
    rows = []
    for _ in range(rng.randint(0, _MOST_ROWS)):
        row = []
        for (name, _spelling), maker in zip(columns, makers, strict=True):
            bad = _REFUSED[kind].get(_spelling.partition("(")[0])
            if bad and rng.random() < 0.01:
                row.append(bad)
                table.refused.add(name)
            else:
                row.append("NULL" if rng.random() < 0.2 else maker(rng, own))
        rows.append(f"({', '.join(row)})")
    table.rows = len(rows)
    fields = ", ".join(f"{own.quote(name)} {spelling} NULL" for name, spelling in columns)
    values = f"INSERT INTO t VALUES {', '.join(rows)}" if rows else ""  # noqa: S608 - literals of the dialect
    begin = "SET time_zone = '+00:00'; SET sql_mode = '';" if kind is DatasourceType.MYSQL else ""
    table.script = f"{begin} CREATE TABLE t ({fields}); {values}"
    return table


Column = tuple[str, Literal, str]
"""Type in the database, values, and the type for `columns` where it has none in Spark."""


def _integer(spelling: str, low: int, high: int) -> Callable[[random.Random], Column]:
    def values(rng: random.Random, _: Dialect) -> str:
        return str(rng.choice((low, high, 0, rng.randint(low, high), rng.randint(max(low, -9), 9))))

    return lambda _: (spelling, values, "")


def _decimal(rng: random.Random) -> Column:
    digits = rng.randint(1, 38)
    scale = rng.randint(0, min(digits, 30))

    def values(rng: random.Random, _: Dialect) -> str:
        edge = 10**digits - 1
        number = rng.choice((edge, -edge, 0, 1, -1, rng.randint(-edge, edge)))
        return format(Decimal(number).scaleb(-scale), "f")

    return f"decimal({digits},{scale})", values, ""


def _real(spelling: str, form: str, specials: tuple[str, ...]) -> Callable[[random.Random], Column]:
    def values(rng: random.Random, _: Dialect) -> str:
        size = struct.calcsize(form)
        (number,) = struct.unpack(form, rng.randbytes(size))
        finite = number == number and abs(number) != float("inf")  # noqa: PLR0124 - NaN alone differs from itself
        return rng.choice((*specials, "0.1", "-1.5", repr(number) if finite else "2"))

    return lambda _: (spelling, values, "")


def _text(spelling: str, most: int) -> Callable[[random.Random], Column]:
    def values(rng: random.Random, own: Dialect) -> str:
        text = "".join(rng.choice(_PIECES) for _ in range(rng.randint(0, most)))[:most]
        return own.literal(text)

    return lambda _: (spelling, values, "")


def _binary(spelling: str) -> Callable[[random.Random], Column]:
    return lambda _: (spelling, lambda rng, own: own.literal(rng.randbytes(rng.choice((0, 1, 5, 20)))), "")


def _time(spelling: str, low: str, high: str, form: str) -> Callable[[random.Random], Column]:
    first, last = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (low, high))
    edges = ("2026-03-08 02:30:00", "2026-11-01 01:30:00.5", "2026-03-29 02:30:00", "2000-02-29 23:59:59.999999")

    def values(rng: random.Random, _: Dialect) -> str:
        seconds = rng.uniform(0, (last - first).total_seconds())
        moments = [first, last, first + timedelta(seconds=int(seconds), microseconds=rng.randint(0, 999_999))]
        moments += [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in edges]
        moment = rng.choice(moments).replace(tzinfo=None)
        return f"'{moment.date() if form == _DAY else moment.isoformat(' ')}{form}'"

    return lambda _: (spelling, values, "")


def _chosen(spelling: str, *texts: str, wanted: str = "") -> Callable[[random.Random], Column]:
    return lambda _: (spelling, lambda rng, own: own.literal(rng.choice(texts)), wanted)


_DAY, _LOCAL, _MOMENT = " ", "", "+00"
"""Ends of texts of times."""
_JSON = ('{"a": [1, null, "x\\n"]}', "null", '"\\u00e9"', "[]", "1e2")
_TYPES: Mapping[DatasourceType, tuple[Callable[[random.Random], Column], ...]] = {
    DatasourceType.POSTGRES: (
        _integer("smallint", -(2**15), 2**15 - 1),
        _integer("integer", -(2**31), 2**31 - 1),
        _integer("bigint", -(2**63), 2**63 - 1),
        _decimal,
        _real("real", "<f", ("'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "1e-45")),
        _real("double precision", "<d", ("'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "5e-324")),
        _text("text", 30),
        _text("varchar(10)", 10),
        _text("char(6)", 6),
        _binary("bytea"),
        _time("date", "0001-01-01", "9999-12-31", _DAY),
        _time("timestamp", "0001-01-02", "9999-12-30 23:59:59.999999", _LOCAL),
        _time("timestamptz", "0001-01-02", "9999-12-30 23:59:59.999999", _MOMENT),
        _chosen("boolean", "t", "f"),
        _chosen("uuid", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
        _chosen("jsonb", *_JSON),
        _chosen("json", *_JSON),
        _chosen("inet", "10.0.0.1/8", "::1"),
        _chosen("interval", "1 day -00:00:01", "-3 mons 5.5 s", wanted="string"),
        _chosen("time", "24:00:00", "23:59:59.999999", wanted="string"),
        _chosen("bit(3)", "101", "000", wanted="string"),
        _chosen("int[]", "{1,NULL}", "{}", "[0:1]={1,2}", wanted="string"),
        _chosen("numeric", "1.23456789012345678901", "NaN", "Infinity", "9" * 60, wanted="string"),
    ),
    DatasourceType.MYSQL: (
        _integer("tinyint", -128, 127),
        _integer("tinyint(1)", -128, 127),
        _integer("smallint unsigned", 0, 2**16 - 1),
        _integer("mediumint", -(2**23), 2**23 - 1),
        _integer("int unsigned", 0, 2**32 - 1),
        _integer("bigint", -(2**63), 2**63 - 1),
        _integer("bigint unsigned", 0, 2**64 - 1),
        _decimal,
        _real("float", "<f", ("0", "1.1")),
        _real("double", "<d", ("0", "4.9e-324")),
        _text("text", 30),
        _text("varchar(10)", 10),
        _text("char(6)", 6),
        _binary("varbinary(20)"),
        _binary("blob"),
        _time("date", "1000-01-01", "9999-12-31", _DAY),
        _time("datetime(6)", "1000-01-01", "9999-12-31 23:59:59.999999", _LOCAL),
        _time("timestamp(6)", "1970-01-01 00:00:01", "2038-01-19 03:14:07", _LOCAL),
        _chosen("json", *_JSON),
        _chosen("enum('a','b,c')", "a", "b,c"),
        _chosen("set('a','b')", "a,b", ""),
        _chosen("year", "1901", "2155"),
        _chosen("time(6)", "-838:59:59", "23:59:59.999999", wanted="string"),
        _chosen("decimal(65,30)", "1." + "1" * 30, "-" + "9" * 35, wanted="string"),
    ),
}
_REFUSED: Mapping[DatasourceType, Mapping[str, str]] = {
    DatasourceType.POSTGRES: {
        "date": "'infinity'",
        "timestamp": "'10000-01-01'",
        "timestamptz": "'-infinity'",
        "decimal": "'NaN'",
    },
    DatasourceType.MYSQL: {"date": "'0000-00-00'", "datetime": "'2026-00-00'"},
}
