"""Mirrors of databases: two metastores in memory, two directories of this disk."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.tables import TEXT, partition_of, table_of
from tests.unit.hive.mirror_site import CLICKS, DAYS, USERS, MirrorSite, codes
from tests.unit.hive.test_table_import import Dead, Life
from toolkit.catalog.errors import NoSuchDatabase, NoSuchTable
from toolkit.catalog.model import Column, TableKind, TableName
from toolkit.hive.mirror_drops import total
from toolkit.hive.registration_mark import LATEST_CALL


@pytest.fixture
def site(tmp_path: Path) -> MirrorSite:
    made = MirrorSite(root=tmp_path)
    made.filled()
    return made


def test_all_tables_come_with_their_partitions_and_a_second_run_does_nothing(site: MirrorSite) -> None:
    outcome = site.ran()
    assert (outcome.failed, dict(outcome.counters)) == ({}, {"COPY": 6, "BYTESCOPIED": 30, "DELETES": 0})
    assert site.rows(site.target) == site.rows(site.source)
    assert list(site.planned(site.mirror()).changes()) == []
    site.write("users", "newer")
    site.write(f"clicks/{DAYS[0]}", "newer")
    table = site.source.table(CLICKS)
    columns = (*table.storage.columns, Column(name="later", type="string"))
    site.source.alter_table(replace(table, storage=replace(table.storage, columns=columns)))
    changes = {(each.action, each.path, each.bytes) for each in site.planned(site.mirror()).changes()}
    assert {
        ("attributes", "sales.clicks", None),
        ("replace", f"sales.clicks/{DAYS[0]}", 14),
        ("replace", "sales.users", 14),
    } <= changes
    assert site.ran().failed == {}
    assert site.rows(site.target) == site.rows(site.source)
    assert [each.name for each in site.target.table(CLICKS).storage.columns][-1] == "later"


def test_a_view_comes_and_stays_when_the_source_drops_it(site: MirrorSite) -> None:
    name = TableName("sales", "seen")
    view = replace(table_of(name, ""), kind=TableKind.VIEW, view_original="SELECT 1", view_expanded="SELECT 1")
    site.source.create_table(replace(view, storage=replace(TEXT, location=None)))
    assert site.ran().failed == {}
    assert site.target.table(name).view_original == "SELECT 1"
    site.source.drop_table(name)
    assert site.planned(site.mirror()).notes == ("the view sales.seen stays; drop it by hand",)
    assert site.ran().counters["DELETES"] == 0
    assert "seen" in site.target.tables("sales")


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("ACID", {"transactional": "true"}),
        ("Iceberg", {"table_type": "ICEBERG"}),
        ("Delta", {"spark.sql.sources.provider": "delta"}),
        ("Hudi", {"spark.sql.sources.provider": "hudi"}),
    ],
)
def test_a_table_of_another_format_is_refused_by_name_and_the_others_come(
    site: MirrorSite, kind: str, parameters: dict[str, str]
) -> None:
    table = site.source.table(USERS)
    site.source.alter_table(replace(table, parameters={**table.parameters, **parameters}))
    outcome = site.ran()
    assert codes(outcome) == {"sales.users": "unsupported_table"}
    assert f"sales.users is a table of {kind} kind" in outcome.failed[USERS].message
    assert site.target.tables("sales") == ("clicks",)
    assert len(site.rows(site.target)) == 2


@pytest.mark.parametrize("hostile", ["clicks/ds=2026-03-01", "..", "a/../../b", ".feedctl-data-1", "a\nb", ""])
def test_a_table_whose_name_is_no_directory_is_refused(site: MirrorSite, hostile: str) -> None:
    name = TableName("sales", hostile)
    site.source.create_table(table_of(name, f"file:{site.root}/from/users"))
    outcome = site.ran()
    assert codes(outcome) == {str(name): "unsupported_table"}
    assert site.target.tables("sales") == ("clicks", "users")
    assert len(list((site.root / "to").rglob("*"))) == len(list((site.root / "to/sales.db").rglob("*"))) + 1


def test_named_tables_alone_are_mirrored_and_one_that_nobody_has_is_an_error(site: MirrorSite) -> None:
    assert site.ran(tables=["USERS"]).failed == {}
    assert site.target.tables("sales") == ("users",)
    with pytest.raises(NoSuchTable, match=r"sales\.orders"):
        site.ran(tables=["users", "orders"])
    with pytest.raises(NoSuchDatabase):
        site.mirror().names(["web"], [])


def test_what_the_source_dropped_goes_with_its_files(site: MirrorSite) -> None:
    site.ran()
    site.source.drop_partitions(CLICKS, [DAYS[0]])
    site.source.drop_table(USERS)
    site.drops = False
    assert list(site.planned(site.mirror()).changes()) == []
    assert site.ran().counters["DELETES"] == 0
    assert len(site.rows(site.target)) == 3
    site.drops = True
    removed = [each.path for each in site.planned(site.mirror()).changes()]
    assert removed == [f"sales.clicks/{DAYS[0]}", "sales.users"]
    assert total(site.target, ["sales"]) == 3
    outcome = site.ran()
    assert (outcome.failed, outcome.counters["DELETES"]) == ({}, 2)
    assert list(site.rows(site.target)) == [f"clicks/{DAYS[1]}"]
    assert site.left() == []
    site.source.drop_table(CLICKS)
    site.source.create_table(table_of(USERS, f"file:{site.root}/from/users"))
    assert site.ran().counters["DELETES"] == 1
    assert site.target.tables("sales") == ("users",)
    assert site.left() == []
    assert not (site.root / "to/sales.db/clicks").exists()


def test_what_others_made_at_the_target_stays_and_is_named(site: MirrorSite) -> None:
    site.ran()
    own, place = site.target.table(CLICKS), f"file:{site.root}/to/sales.db/clicks/ds=own"
    site.target.add_partitions(CLICKS, [partition_of(own, "own", location=place)])
    foreign = TableName("sales", "foreign")
    site.target.create_table(table_of(foreign, f"file:{site.root}/to/sales.db/foreign", ds="string"))
    notes = site.planned(site.mirror()).notes
    assert "1 of sales.clicks that this mirror has not made stay, the first: ds=own" in notes
    assert any("the table sales.foreign has no partitions that tell who made it" in each for each in notes)
    assert site.ran().counters["DELETES"] == 0
    assert "ds=own" in site.target.partition_names(CLICKS)
    site.source.drop_table(CLICKS)
    assert site.ran().counters["DELETES"] == 0
    assert len(site.target.partition_names(CLICKS)) == 3


def test_a_source_without_partitions_empties_no_table(site: MirrorSite) -> None:
    site.ran()
    site.source.drop_partitions(CLICKS, DAYS)
    (note,) = site.planned(site.mirror()).notes
    assert "sales.clicks has no partitions at the source" in note
    assert site.ran().counters["DELETES"] == 0
    assert len(site.rows(site.target)) == 3


def test_what_came_back_since_the_plan_is_not_dropped(site: MirrorSite) -> None:
    site.ran()
    parts, users = site.source.partitions(CLICKS, [DAYS[0]]), site.source.table(USERS)
    site.source.drop_partitions(CLICKS, [DAYS[0]])
    site.source.drop_table(USERS)
    mirror = site.mirror()
    plan = site.planned(mirror)
    site.source.add_partitions(CLICKS, parts)
    site.source.create_table(users)
    assert mirror.apply(plan).counters["DELETES"] == 0
    assert site.rows(site.target) == site.rows(site.source)


def test_data_that_another_partition_has_too_stays(site: MirrorSite) -> None:
    site.ran()
    (first,) = site.target.partitions(CLICKS, [DAYS[0]])
    site.target.add_partitions(CLICKS, [replace(first, values=("2026-03-09",), parameters={})])
    site.source.drop_partitions(CLICKS, [DAYS[0]])
    assert site.ran().counters["DELETES"] == 0
    assert len(site.target.partition_names(CLICKS)) == 3


def _dies_and_is_finished(root: Path, number: int, *, changes: bool) -> bool:
    """Have a run die after a number of effects, and the next finish; return False if it came to its end."""
    site = MirrorSite(root=root / f"{number}-{changes}")
    site.filled()
    allowed = [site.rows(site.source), {}]
    if changes:
        site.ran()
        for text in ("older than that", "newer"):
            site.write("users", text)
            site.write(f"clicks/{DAYS[0]}", text)
            if text != "newer":
                site.ran()
            allowed.append(site.rows(site.source))
        site.source.drop_partitions(CLICKS, [DAYS[1]])
    try:
        site.ran(Life(left=number))
    except Dead:
        seen = site.rows(site.target).items()
        assert all(not files or files in [each.get(name) for each in allowed] for name, files in seen), number
        for each in (site.root / "to").rglob(".feedctl-registering-*"):
            then = each.stat().st_mtime - LATEST_CALL.total_seconds()
            os.utime(each, (then, then))
        assert site.ran().failed == {}, number
        assert site.rows(site.target) == site.rows(site.source), number
        # A dropped partition whose files were about to go is known to nobody any more: docs/limits.md.
        assert [each for each in site.left() if ".feedctl-data-" in each or ".feedctl-copy-" in each] == [], number
        assert list(site.planned(site.mirror()).changes()) == [], number
        return True
    return False


@pytest.mark.parametrize("number", [4, 11, 18])
@pytest.mark.parametrize("changes", [False, True])
def test_a_run_that_dies_is_finished_by_the_next(tmp_path: Path, number: int, *, changes: bool) -> None:
    assert _dies_and_is_finished(tmp_path, number, changes=changes) or number > 12


@pytest.mark.extended
@pytest.mark.parametrize("changes", [False, True])
def test_after_whichever_effect_a_run_dies_readers_see_whole_partitions_and_the_next_run_finishes(
    tmp_path: Path, *, changes: bool
) -> None:
    deaths = 0
    while _dies_and_is_finished(tmp_path, deaths, changes=changes):
        deaths += 1
    assert 12 < deaths < 200
