"""How the rows of a table are read for judging: as Hive reads them, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.tables.tables import TEXT, table_of
from toolkit.actions.validation import TableReading
from toolkit.catalog.model import Column, Serde, Table, TableName
from toolkit.hive.spark_format import NoReading, reading_of

ORC = Serde(library="org.apache.hadoop.hive.ql.io.orc.OrcSerde")


def table(hive_type: str = "bigint", *, serde: Serde = TEXT.serde, **parameters: str) -> Table:
    """A table of one column."""
    storage = replace(TEXT, columns=(Column(name="id", type=hive_type),), serde=serde)
    return replace(table_of(TableName("src", "clicks"), "/t", ds="string"), storage=storage, parameters=parameters)


def text(parameters: Mapping[str, str]) -> Table:
    """The same of text, with these parameters of its serde."""
    return table(serde=Serde(library=TEXT.serde.library, parameters=parameters))


def read(found: Table) -> TableReading:
    return reading_of(found, [found.storage])


@pytest.mark.parametrize(
    "hive_type",
    [
        "decimal(10,2)",
        "decimal(10, 2)",
        "varchar(20)",
        "array<string>",
        "map<string,array<struct<a:int,b_2:map<int,decimal(3,1)>>>>",
        "struct<a: int, b: array<date>>",
    ],
)
def test_a_type_is_taken_as_it_is(hive_type: str) -> None:
    assert read(table(hive_type, serde=ORC)).columns == {"id": hive_type}


@pytest.mark.parametrize(
    "hive_type",
    [
        "bigint, other string",
        "string) IS NULL OR (value",
        "string) IN (SELECT value FROM other",
        "bigint) USING text PARTITIONED BY (id",
        "bigint GENERATED ALWAYS AS (rand())",
        "array<int> , b int",
        "struct<a:int>, nested int",
        "map<int>",
        "int()",
        "rand()",
        "",
    ],
)
@pytest.mark.parametrize("serde", [ORC, TEXT.serde])
def test_what_is_more_than_a_type_gets_into_no_statement(hive_type: str, serde: Serde) -> None:
    with pytest.raises(NoReading):
        read(table(hive_type, serde=serde))
    with pytest.raises(NoReading):
        read(replace(table(serde=serde), keys=(Column(name="ds", type=hive_type),)))


@pytest.mark.parametrize(
    ("parameters", "sep"),
    [
        ({}, "\x01"),
        ({"field.delim": ","}, ","),
        ({"serialization.format": "9"}, "\t"),
        ({"field.delim": "", "serialization.format": "9"}, "\x01"),
        ({"field.delim": "300"}, "3"),
        ({"field.delim": "9" * 5000}, "9"),
        ({"field.delim": "||"}, "|"),
        ({"line.delim": "\n", "serialization.encoding": "UTF-8"}, "\x01"),
    ],
)
def test_a_separator_is_the_byte_that_hive_takes_it_for(parameters: dict[str, str], sep: str) -> None:
    assert read(text(parameters)).options["sep"] == sep


@pytest.mark.parametrize(
    "parameters",
    [
        {"field.delim": "\u015f"},
        {"escape.delim": ""},
        {"escape.delim": "\\"},
        {"escape.delim": "false"},
        {"timestamp.formats": "dd.MM.yyyy"},
        {"serialization.last.column.takes.rest": "true"},
        {"serialization.encoding": "latin1"},
        {"line.delim": ";"},
        {"skip.header.line.count": "1"},
    ],
)
def test_text_of_which_hive_makes_other_rows_is_not_read(parameters: dict[str, str]) -> None:
    with pytest.raises(NoReading):
        read(text(parameters))


def test_a_partition_that_has_its_own_header_is_not_read() -> None:
    own = replace(TEXT, serde=Serde(library=TEXT.serde.library, parameters={"Skip.header.line.count": "1"}))
    with pytest.raises(NoReading, match="header"):
        reading_of(table(), [TEXT, own])


def test_a_null_format_that_is_said_twice_is_none() -> None:
    name = "serialization.null.format"
    found = replace(text({name: "-"}), parameters={name: ""})
    with pytest.raises(NoReading, match=name):
        read(found)
    assert read(replace(found, parameters={name: "-"})).options["nullValue"] == "-"


def test_json_that_hive_cannot_read_makes_no_nulls() -> None:
    found = read(table(serde=Serde(library="org.apache.hive.hcatalog.data.JsonSerDe")))
    assert (found.format, found.options) == ("json", {"mode": "FAILFAST"})


def test_partitions_may_have_fewer_columns_than_their_table_and_no_others_in_their_places() -> None:
    of_table = table(serde=ORC)
    more = (*of_table.storage.columns, Column(name="what", type="string"))
    wider = replace(of_table, storage=replace(of_table.storage, columns=more))
    assert list(reading_of(wider, [wider.storage, of_table.storage]).columns) == ["id", "what"]
    with pytest.raises(NoReading, match="the column what where the table has id"):
        reading_of(wider, [replace(wider.storage, columns=more[::-1])])
