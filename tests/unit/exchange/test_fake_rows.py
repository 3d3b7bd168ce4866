"""The fake of the port of rows keeps the port's words, so that tests of actions by it mean something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.exchange.fake_rows import FakeRows, rows_of
from toolkit.entities.vocabulary import DatasourceType
from toolkit.exchange.rows import Merge, ReadRequest, RowsFailed, StageRequest, StoredFormat
from toolkit.jdbc.port import JdbcAccess, RelationName

ACCESS = JdbcAccess(name="datasource crm", type=DatasourceType.POSTGRES, url="jdbc:postgresql:x", driver_class="D")
COLUMNS = {"id": "int", "name": "string"}


def _read(target: Path, *selects: str) -> ReadRequest:
    return ReadRequest(
        access=ACCESS,
        init_statement=None,
        selects=selects,
        columns=COLUMNS,
        fetch_size=10,
        stored=StoredFormat(),
        target=f"file://{target}",
    )


def test_rows_of_all_selects_are_written_and_staged_again(tmp_path: Path) -> None:
    rows = FakeRows({"a": [(1, "x")], "b": [(10, None), (9, "y")]})
    written = rows.read(_read(tmp_path / "new", "a", "b"))
    assert (written.rows, written.files) == (3, 2)
    files = (f"file://{tmp_path / 'new'}",)
    assert rows.columns(files, StoredFormat()) == COLUMNS
    stage = StageRequest(access=ACCESS, table=RelationName(("s",)), files=files, stored=StoredFormat(), columns=COLUMNS)
    assert rows.stage(stage) == 3
    assert rows.staged == {RelationName(("s",)): [(1, "x"), (10, None), (9, "y")]}


def test_the_newest_row_of_a_key_is_kept_and_a_key_without_a_value_is_refused(tmp_path: Path) -> None:
    rows = FakeRows({"old": [(1, "x"), (2, "y")], "new": [(2, "z")], "bad": [(None, "z")]})
    rows.read(_read(tmp_path / "old", "old"))

    def merge(select: str) -> ReadRequest:
        own = Merge(previous=(f"file://{tmp_path / 'old'}",), key=("id",), order="name")
        return replace(_read(tmp_path / select, select), merge=own)

    assert rows.read(merge("new")).rows == 2
    assert rows_of([f"file://{tmp_path / 'new'}"]) == [(1, "x"), (2, "z")]
    with pytest.raises(RowsFailed, match="no value of its key"):
        rows.read(merge("bad"))


def test_a_failure_leaves_something_behind(tmp_path: Path) -> None:
    rows = FakeRows({"": [(1, "x")]}, failure=RowsFailed(about="files", detail="disk full"))
    with pytest.raises(RowsFailed, match="disk full"):
        rows.read(_read(tmp_path, "a"))
    assert list(tmp_path.iterdir())
