"""Partitions: listed, added, altered and dropped by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.metastore.conftest import Place
from tests.tables.tables import partition_of
from toolkit.catalog.errors import BadMetadata, CatalogAlreadyExists, NoSuchPartition
from toolkit.catalog.model import Column
from toolkit.catalog.partition_name import NULL
from toolkit.catalog.port import READ_BATCH

_STRANGE = ("a/b=c:d%e", "'\"#*?\\{[]^", "ü €😀", "a b", "a\nb\tc", "100%", "a+b.c_d", NULL, "%2F", "x\x7fy")


def test_partitions_are_read_back_as_they_were_added(place: Place) -> None:
    table = place.made()
    plain = partition_of(table, "2026-03-01", "us", parameters={"source": "x"})
    other = replace(
        partition_of(table, "2026-03-02", "us"),
        storage=replace(
            table.storage, location=f"{place.directory}/else where", columns=(Column(name="id", type="int"),)
        ),
    )
    place.metastore.add_partitions(table.name, [plain, other])
    names = place.metastore.partition_names(table.name)
    assert names == ("ds=2026-03-01/region=us", "ds=2026-03-02/region=us")
    found = {each.values: each for each in place.metastore.partitions(table.name, names)}
    assert found.keys() == {plain.values, other.values}
    for each in (plain, other):
        assert found[each.values].storage == each.storage
        assert found[each.values].parameters.items() >= each.parameters.items()


def test_values_with_special_characters_and_null_come_back_by_name(place: Place) -> None:
    table = place.made()
    added = [partition_of(table, "1", text, location=f"{place.directory}/x{n}") for n, text in enumerate(_STRANGE)]
    place.metastore.add_partitions(table.name, added)
    names = place.metastore.partition_names(table.name)
    assert set(names) == {table.partition_name(each) for each in added}
    assert list(names) == sorted(names)
    assert {each.values for each in place.metastore.partitions(table.name, names)} == {each.values for each in added}
    for each in added:
        name = table.partition_name(each)
        assert place.metastore.partition_names(table.name, matching={"region": each.values[1]}) == (name,)
        assert place.metastore.drop_partitions(table.name, [name]) == (name,)
    assert place.metastore.partition_names(table.name) == ()


def test_names_are_found_by_whole_values_of_some_keys(place: Place) -> None:
    table = place.made(ds="string", n="int", region="string")
    values = [("1", "3", "us"), ("1", "30", "in"), ("10", "3", "us"), ("1", "3", "u_"), ("1", "3", "u.*")]
    place.metastore.add_partitions(table.name, [partition_of(table, *each) for each in values])
    found = place.metastore.partition_names
    assert found(table.name, matching={"ds": "10"}) == ("ds=10/n=3/region=us",)
    assert found(table.name, matching={"n": "30"}) == ("ds=1/n=30/region=in",)
    assert found(table.name, matching={"region": "u_", "ds": "1"}) == ("ds=1/n=3/region=u_",)
    assert found(table.name, matching={"region": "u.*"}) == (table.partition_name(("1", "3", "u.*")),)
    assert found(table.name, matching={"region": "u"}) == ()
    assert found(table.name, matching={"no_key": "u"}) == ()


def test_a_table_without_keys_has_no_partition_names(place: Place) -> None:
    table = place.made(ds="string")
    unpartitioned = replace(table, name=place.named("flat"), keys=())
    place.metastore.create_table(unpartitioned)
    assert place.metastore.partition_names(unpartitioned.name) == ()


def test_names_that_are_not_there_are_left_out(place: Place) -> None:
    table = place.made()
    place.metastore.add_partitions(table.name, [partition_of(table, "1", "us")])
    found = place.metastore.partitions(table.name, ["ds=1/region=us", "ds=2/region=us"])
    assert [each.values for each in found] == [("1", "us")]
    assert place.metastore.partitions(table.name, []) == ()


def test_any_number_is_asked_for_at_once(place: Place) -> None:
    table, there = place.made(), [(str(number), "us") for number in (0, READ_BATCH, 2 * READ_BATCH)]
    place.metastore.add_partitions(table.name, [partition_of(table, *each) for each in there])
    found = place.metastore.partitions(table.name, [f"ds={number}/region=us" for number in range(2 * READ_BATCH + 1)])
    assert {each.values for each in found} == set(there)


def test_adding_one_that_is_there_adds_none(place: Place) -> None:
    table = place.made()
    first, second = partition_of(table, "1", "us"), partition_of(table, "2", "us")
    place.metastore.add_partitions(table.name, [first])
    with pytest.raises(CatalogAlreadyExists, match=r"\.clicks"):
        place.metastore.add_partitions(table.name, [second, replace(first, parameters={"other": "1"})])
    assert place.metastore.partition_names(table.name) == ("ds=1/region=us",)
    assert "other" not in place.metastore.partitions(table.name, ["ds=1/region=us"])[0].parameters


def test_a_partition_with_too_few_values_is_refused_and_none_is_added(place: Place) -> None:
    table = place.made()
    good = partition_of(table, "1", "us")
    with pytest.raises(BadMetadata, match=r"\.clicks"):
        place.metastore.add_partitions(table.name, [good, replace(good, values=("2",))])
    assert place.metastore.partition_names(table.name) == ()


def test_adding_and_dropping_nothing_is_nothing(place: Place) -> None:
    table = place.made()
    place.metastore.add_partitions(table.name, [])
    place.metastore.alter_partitions(table.name, [])
    assert place.metastore.drop_partitions(table.name, []) == ()


def test_location_and_parameters_of_partitions_are_altered_and_figures_stay_as_given(place: Place) -> None:
    table = place.made()
    place.metastore.add_partitions(table.name, [partition_of(table, str(n), "us", parameters={"a": "1"}) for n in "12"])
    figures = {"numRows": "7", "numFiles": "3", "totalSize": "99", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    moved = partition_of(table, "1", "us", location=f"{place.directory}/moved", parameters={"b": "2", **figures})
    place.metastore.alter_partitions(table.name, [moved])
    first, second = (place.metastore.partitions(table.name, [f"ds={n}/region=us"])[0] for n in "12")
    assert first.location == f"{place.directory}/moved"
    assert first.parameters.items() >= moved.parameters.items()
    assert "a" not in first.parameters
    assert second.location.endswith("/ds=2/region=us")


def test_statistics_of_added_partitions_stay_as_given(place: Place) -> None:
    table = place.made()
    figures = {"numRows": "7", "numFiles": "3", "totalSize": "99", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    place.metastore.add_partitions(table.name, [partition_of(table, "1", "us", parameters=figures)])
    (found,) = place.metastore.partitions(table.name, ["ds=1/region=us"])
    assert found.parameters.items() >= figures.items()


def test_altering_one_that_is_not_there_alters_none(place: Place) -> None:
    table = place.made()
    there = partition_of(table, "1", "us", parameters={"a": "1"})
    place.metastore.add_partitions(table.name, [there])
    changed = replace(there, parameters={"a": "2"})
    with pytest.raises(NoSuchPartition, match=r"\.clicks"):
        place.metastore.alter_partitions(table.name, [changed, replace(changed, values=("2", "us"))])
    assert place.metastore.partitions(table.name, ["ds=1/region=us"])[0].parameters["a"] == "1"
    assert place.metastore.partition_names(table.name) == ("ds=1/region=us",)


def test_dropped_partitions_are_told_and_those_that_were_gone_are_not(place: Place) -> None:
    table = place.made()
    place.metastore.add_partitions(table.name, [partition_of(table, str(n), "us") for n in range(3)])
    names = ["ds=1/region=us", "ds=9/region=us", "ds=0/region=us"]
    assert sorted(place.metastore.drop_partitions(table.name, names)) == ["ds=0/region=us", "ds=1/region=us"]
    assert place.metastore.partition_names(table.name) == ("ds=2/region=us",)
    assert place.metastore.drop_partitions(table.name, names) == ()
    assert place.metastore.tables(place.database) == ("clicks",)


def test_a_batch_that_fails_in_part_names_those_that_are_there(place: Place) -> None:
    table = place.made()
    wanted = [partition_of(table, "1", region) for region in ("a/b", "us", "ü €")]
    place.metastore.add_partitions(table.name, wanted[:1])
    with pytest.raises(CatalogAlreadyExists) as raised:
        place.metastore.add_partitions(table.name, wanted)
    assert raised.value.about == f"{table.name}/{table.partition_name(wanted[0])}"
    assert place.metastore.partition_names(table.name) == (table.partition_name(wanted[0]),)


def test_partitions_of_several_formats_are_read_back_each_with_its_own(place: Place) -> None:
    table = place.made()
    columns = [(), (Column(name="id", type="int"),), (Column(name="id", type="int", comment="x"),), ()]
    added = [
        replace(each, storage=replace(each.storage, columns=own or table.storage.columns))
        for n, own in enumerate(columns)
        for each in [partition_of(table, str(n), "us")]
    ]
    place.metastore.add_partitions(table.name, added)
    found = place.metastore.partitions(table.name, place.metastore.partition_names(table.name))
    assert {each.values: each.storage for each in found} == {each.values: each.storage for each in added}
