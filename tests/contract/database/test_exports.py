"""Exports of a feed to a database: what each load does, what is refused, and what a run after a killed one finds."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.databases.datasources import DataServer
from tests.databases.export_repo import ALLOWINSERT, REPLACE, T1, T2, UPDATEONLY, ExportRepo, make_export_repo
from toolkit.errors import InvalidInput
from toolkit.exchange.rows import RowsFailed
from toolkit.jdbc.errors import DatabaseUnreachable, PermissionRefused
from toolkit.jdbc.port import Database
from toolkit.jdbc.staging import ExportKey, StagedLoad

NEW = [(1, "2026-03-01", "new"), (3, "2026-03-01", None)]
LEFT = [("1", "2026-03-01", "old"), ("2", "2026-03-02", "old")]
REPLACED = [("1", "2026-03-01", "new"), ("2", "2026-03-02", "old"), ("3", "2026-03-01", "None")]


@pytest.fixture
def repo(data: DataServer, database: Database, tmp_path: Path) -> ExportRepo:
    """A feed of orders, and their table."""
    return make_export_repo(tmp_path, data, database)


def shown(repo: ExportRepo) -> list[tuple[str, ...]]:
    """Return the rows with a null as Python writes it, whatever the client of the database says."""
    return [tuple(each.replace("NULL", "None") for each in row) for row in repo.table()]


@pytest.mark.parametrize(
    ("load", "expected"), [(UPDATEONLY, REPLACED[:2]), (ALLOWINSERT, REPLACED), (REPLACE, REPLACED)]
)
def test_an_instance_is_exported_once_as_its_load_says(
    repo: ExportRepo, load: str, expected: list[tuple[str, ...]]
) -> None:
    repo.write(load)
    repo.instance(NEW)
    assert repo.run(dry_run=True) == 0
    assert "expected rows: 2, by the footers of the files" in repo.text
    assert repo.document["instances"][0]["expected_rows"] == 2
    assert repo.table() == LEFT
    assert "feedctl_export" not in repo.tables()
    assert "note varchar(20) from string" in repo.text.replace("character varying", "varchar")
    assert repo.run() == 0
    assert repo.document["instances"][0]["expected_rows"] is None
    assert shown(repo) == expected
    assert repo.tables() == {"orders", "feedctl_export"}
    repo.data.run("UPDATE orders SET note = 'by hand' WHERE id = 2")
    requests = len(repo.rows.requests)
    assert repo.run(start=T1) == 0
    assert "nothing to do: run 1 exported the same files to orders, 2 rows" in repo.text
    assert len(repo.rows.requests) == requests


def test_a_changed_instance_is_exported_again(repo: ExportRepo) -> None:
    repo.write(REPLACE)
    repo.instance(NEW)
    assert repo.run() == 0
    repo.instance([(7, "2026-03-01", "later")])
    assert repo.run(start=T1) == 0
    assert repo.table() == [LEFT[1], ("7", "2026-03-01", "later")]


def test_a_slice_whose_column_the_files_lack_gets_its_value(repo: ExportRepo) -> None:
    repo.write(REPLACE)
    repo.instance([(8, "new")], columns={"id": "int", "note": "string"})
    assert repo.run() == 0
    assert repo.table() == [LEFT[1], ("8", "2026-03-01", "new")]


@pytest.mark.parametrize(
    ("load", "rows", "code", "text"),
    [
        (ALLOWINSERT, [*NEW, (1, "2026-03-01", "twice")], "duplicate_keys", "for example 1: 2 rows"),
        (ALLOWINSERT, [(None, "2026-03-01", "x")], "key_missing", "1 rows have no value in id"),
        (ALLOWINSERT, [], "no_rows", "set export.allow_empty: true"),
        (REPLACE, [(1, "2026-03-09", "x")], "outside_slice", "1 rows are not of the slice"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_the_table_stays(
    repo: ExportRepo,
    load: str,
    rows: list[tuple[object, ...]],
    code: str,
    text: str,
) -> None:
    if code == "key_missing":
        repo.data.run("DROP TABLE orders")
        repo.data.run("CREATE TABLE orders (id int, day date NOT NULL, note varchar(20))")
        repo.data.run("INSERT INTO orders VALUES (1, '2026-03-01', 'old'), (2, '2026-03-02', 'old')")
    repo.write(load, ", update_key: [id]" if load is ALLOWINSERT else "")
    repo.instance(rows)
    assert repo.run() == 1
    (item,) = repo.document["items"]
    assert item["code"] == code
    assert text in item["message"]
    assert repo.table() == LEFT
    assert repo.tables() == {"orders", "feedctl_export"}


@pytest.mark.parametrize(
    ("load", "columns", "more", "code"),
    [
        (ALLOWINSERT, {"id": "int", "Note": "string"}, "", "unknown_column"),
        (ALLOWINSERT, {"day": "date"}, "", "no_key"),
        (UPDATEONLY, {"id": "int"}, "", "nothing_to_update"),
        ('{type: replace, slice: {id: "${YEAR}-x"}}', {"day": "date"}, "", "bad_slice"),
        ('{type: replace, slice: {nothing: "x"}}', {"day": "date"}, "", "unknown_column"),
        ('{type: replace, slice: {note: "${YEAR}"}}', {"id": "int", "day": "date"}, "", "shared_slice"),
    ],
)
def test_columns_that_do_not_fit_are_refused_before_a_row_is_written(
    repo: ExportRepo, load: str, columns: dict[str, str], more: str, code: str
) -> None:
    repo.write(load, more)
    repo.instance([], columns=columns)
    assert repo.run() == 1
    (target,) = repo.document["instances"]
    assert target["failure"]["code"] == code
    assert repo.tables() == {"orders"}


def test_an_empty_instance_that_is_allowed_empties_the_slice(repo: ExportRepo) -> None:
    repo.write(REPLACE, ", allow_empty: true")
    place = repo.instance([])
    (place / "part-0.parquet").unlink()
    assert repo.run() == 0
    assert repo.table() == LEFT[1:]


def test_an_instance_that_is_not_there_is_waited_for_and_exported_by_a_later_run(
    repo: ExportRepo,
) -> None:
    repo.write(ALLOWINSERT)
    (repo.instance(NEW) / "_SUCCESS").unlink()
    assert repo.run() == 75
    assert "is not available on primary" in repo.text
    assert repo.tables() == {"orders"}
    repo.instance(NEW)
    repo.instance([(9, "2026-03-02", "next")], key=T2)
    assert repo.run(T2) == 0
    assert shown(repo) == [*REPLACED, ("9", "2026-03-02", "next")]


def test_an_old_instance_that_is_named_brings_no_others_with_it(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    for day in range(1, 6):
        repo.instance([(10 + day, "2026-03-01", "x")], key=f"2026-03-0{day}")
    ids = []
    for time, start in (("2026-03-03T00:00Z", None), (T2, T1), ("2026-03-05T00:00Z", None)):
        assert repo.run(time, start=start) == 0
        ids.append({int(row[0]) - 10 for row in repo.table()} - {-9, -8})
    assert ids == [{3}, {1, 3}, {1, 3, 4, 5}]


def test_an_instance_that_changes_while_it_is_read_is_not_merged(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    repo.instance(NEW)
    repo.rows.after = partial(repo.instance, [*NEW, (4, "2026-03-01", "more")])
    assert repo.run() == 1
    assert repo.table() == LEFT
    repo.rows.after = lambda: None
    assert repo.run() == 0
    assert [row[0] for row in repo.table()] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("extra", [0, 1])
def test_rows_that_were_not_all_staged_or_twice_are_not_merged(repo: ExportRepo, extra: int) -> None:
    repo.write(ALLOWINSERT)
    repo.instance(NEW)
    repo.rows.extra = extra
    repo.rows.failure = None if extra else RowsFailed(about="files", detail="one is broken")
    assert repo.run() == 1
    assert repo.table() == LEFT
    assert repo.tables() == {"orders", "feedctl_export"}


def test_a_run_after_a_killed_one_drops_its_staging_table_and_no_other(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    repo.instance(NEW)
    own = ExportKey(feed="orders", cluster="primary", instance_key=T1, table="orders").staging_name("99")
    foreign = ExportKey(feed="clicks", cluster="primary", instance_key=T1, table="orders").staging_name("99")
    for name in (own, foreign, "feedctl_stage_of_mine"):
        repo.data.run(f"CREATE TABLE {name} (id int)")
    assert repo.run(dry_run=True) == 0
    assert own in repo.tables()
    assert repo.run() == 0
    assert repo.tables() == {"orders", "feedctl_export", foreign, "feedctl_stage_of_mine"}


def test_a_commit_whose_answer_was_lost_is_settled_by_the_next_run(
    repo: ExportRepo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo.write(REPLACE)
    repo.instance(NEW)

    def lost(*_: object) -> None:
        raise DatabaseUnreachable(about="datasource crm", detail="the connection ended")

    with monkeypatch.context() as patched:
        patched.setattr("toolkit.exchange.export_batches.copy_counters", lost)
        patched.setattr("toolkit.exchange.export_batches.ExportBatch._drop", lost)
        assert repo.run() == 1
    assert shown(repo) == REPLACED
    assert repo.run() == 0
    assert "of its 1 open items 1 had been finished" in repo.text
    assert "nothing to do" in repo.text
    assert shown(repo) == REPLACED
    assert repo.tables() == {"orders", "feedctl_export"}


def test_a_table_that_is_gone_fails_and_nothing_is_left(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    repo.instance(NEW)
    repo.data.run("DROP TABLE orders")
    assert repo.run() == 1
    (target,) = repo.document["instances"]
    assert target["failure"]["code"] == "no_such_relation"
    assert repo.tables() == set()


def test_a_table_that_may_not_be_written_fails_and_stays_as_it_was(
    repo: ExportRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(ALLOWINSERT)
    repo.instance(NEW)

    def refused(*_: object) -> int:
        raise PermissionRefused(about="datasource crm", detail="permission denied for table orders")

    monkeypatch.setattr(StagedLoad, "merge", refused)
    assert repo.run() == 1
    assert "grant it to the datasource's user" in repo.text
    assert repo.table() == LEFT
    assert repo.tables() == {"orders", "feedctl_export"}


def test_a_feed_without_an_export_is_refused(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    text = (repo.path / "feeds/orders.yaml").read_text()
    (repo.path / "feeds/orders.yaml").write_text(text.partition("    export:")[0])
    with pytest.raises(InvalidInput, match="feed orders has no `export` on cluster primary"):
        repo.run()


def test_an_instance_whose_times_the_table_would_round_is_refused(repo: ExportRepo) -> None:
    repo.data.run("ALTER TABLE orders ADD at timestamp(0) NULL")
    repo.write(ALLOWINSERT)
    columns = {"id": "int", "day": "date", "at": "timestamp"}
    repo.instance([(1, "2026-03-01", "2026-03-01 10:00:00.7")], columns=columns)
    assert repo.run() == 1
    (item,) = repo.document["items"]
    assert item["code"] == "value_cut"
    assert "the table cannot keep values of at as they are" in item["message"]
    assert repo.table() == LEFT


def test_a_table_of_exports_that_is_somebody_elses_is_neither_believed_nor_written(repo: ExportRepo) -> None:
    repo.write(ALLOWINSERT)
    repo.instance(NEW)
    repo.data.run("CREATE VIEW feedctl_export AS SELECT id AS feed FROM orders")
    assert repo.run() == 1
    (target,) = repo.document["instances"]
    assert target["failure"]["code"] == "unfit_table"
    assert repo.tables() == {"orders", "feedctl_export"}
    assert repo.table() == LEFT
