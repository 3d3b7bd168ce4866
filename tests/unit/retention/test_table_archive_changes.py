"""Partitions that change while others are archived: what came after their copy is not lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.unit.retention.test_table_archive import FILES, NAME, ArchivedTable, _left
from toolkit.catalog.export_metadata import METADATA
from toolkit.el import CanonicalPath
from toolkit.storage import LocalFileSystem


class Written(LocalFileSystem):
    """A disk to which somebody else writes, when the run describes what it has copied."""

    def __init__(self, write: Callable[[], object]) -> None:
        super().__init__()
        self._others = [write]

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        if path.name == METADATA and self._others:
            self._others.pop()()
        super().write(path, chunks, overwrite=overwrite)


@pytest.fixture
def site(tmp_path: Path) -> ArchivedTable:
    return ArchivedTable(root=tmp_path)


def test_rows_that_come_after_a_partition_was_copied_are_not_lost(site: ArchivedTable) -> None:
    place, other = site.add("01", "us"), site.add("02", "us")
    (message,) = site.run(Written(lambda: (place / "part-2").write_text("late")))
    assert "not archived, so it stays" in message
    assert (site.names, other.exists()) == (["ds=2026-03-01/region=us"], False)
    assert (place / "part-2").read_text() == "late"
    assert site.run() == []
    version = site.root / "archive/2026/03/01/ds=2026-03-01/.feedctl-version-2-region=us"
    assert {each.name: each.read_text() for each in version.iterdir()} == {**FILES, "part-2": "late"}


def test_data_that_come_to_a_partition_without_any_are_not_lost(site: ArchivedTable) -> None:
    place = site.add("01", "us", {})
    place.rmdir()

    def write() -> None:
        place.mkdir()
        (place / "part-0").write_text("late")

    (message,) = site.run(Written(write))
    assert "it had no data when it was archived" in message
    assert (site.names, (place / "part-0").read_text()) == (["ds=2026-03-01/region=us"], "late")


def test_a_row_of_the_ledger_does_not_prove_that_data_are_in_the_archive(site: ArchivedTable) -> None:
    place = site.add("01", "us")
    kept = site.add("02", "us")
    items = [(item.uri, item.kind) for item in site.plan().items if item.instance_key == "2026-03-01T00:00Z"]
    left = tuple(_left(position, uri, kind) for position, (uri, kind) in enumerate(items))
    site.metastore.drop_partitions(NAME, ["ds=2026-03-01/region=us"])
    assert site.run(left=left) == []
    assert (site.names, kept.exists()) == ([], False)
    assert {each.name: each.read_text() for each in place.iterdir()} == FILES
    archived = site.root / "archive/2026/03/01/ds=2026-03-01/region=us"
    archived.mkdir(parents=True)
    assert site.run(left=left) == []
    assert not place.exists()
