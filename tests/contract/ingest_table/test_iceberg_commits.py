"""Commits to an Iceberg table of an SQL catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.ingest_table.tables import ROWS, SPEC, address
from toolkit.ingest.errors import CommitConflict, NoSuchIngestTable
from toolkit.ingest.iceberg import open_catalog, shown_address
from toolkit.ingest.port import TableCommit


def test_files_and_properties_become_visible_together(tmp_path: Path) -> None:
    catalog = open_catalog(address(tmp_path))
    with pytest.raises(NoSuchIngestTable):
        catalog.open("web", "clicks")
    table = catalog.create("web", "clicks", SPEC)
    catalog.create("web", "clicks", SPEC)
    files = table.write(ROWS, "feedctl-7")
    assert not table.files()
    table.commit(TableCommit(transactions=(7,), files=files, properties={"feedctl.writer.w": "1"}), table.state())
    assert {(one.partition, one.rows) for one in table.files()} == {(("01",), 2), (("02",), 1)}
    assert table.state().properties == {"feedctl.writer.w": "1"}
    assert table.committed([6, 7]) == {7}
    assert table.state().columns == SPEC.columns
    catalog.close()


def test_a_commit_of_properties_alone_conflicts_with_another(tmp_path: Path) -> None:
    catalog = open_catalog(address(tmp_path))
    table = catalog.create("web", "clicks", SPEC)
    base = table.state()
    table.commit(TableCommit(properties={"feedctl.fence": "1"}), base)
    with pytest.raises(CommitConflict):
        table.commit(TableCommit(properties={"feedctl.fence": "2"}), base)
    with pytest.raises(CommitConflict):
        table.commit(TableCommit(transactions=(1,), files=table.write(ROWS, "feedctl-1")), base)
    assert table.state().properties == {"feedctl.fence": "1"}
    assert not table.files()
    catalog.close()


def test_a_password_is_in_no_message() -> None:
    assert shown_address("postgresql+psycopg://u:sec/ret@h/d?x=y") == "postgresql+psycopg://h/d"
