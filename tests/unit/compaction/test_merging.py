"""Work of an executor that merges files."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from toolkit.compaction.merging import Merged, write_merge
from toolkit.errors import FeedctlError
from toolkit.ingest.errors import CatalogUnreachable, StoreFailed
from toolkit.ingest.port import DataFile

FILE = DataFile(uri="file:///w/feedctl-merged-1-0.parquet", partition=("01",), rows=3, bytes=100)


@dataclass(frozen=True, kw_only=True)
class Merge:
    """A merge that ends as it is told."""

    error: FeedctlError | None = None

    def written(self) -> DataFile:
        if self.error is not None:
            raise self.error
        return FILE


def test_a_merge_that_fails_is_an_answer_and_the_others_go_on() -> None:
    failing = Merge(error=StoreFailed(table="c.web.clicks", cause="disk full"))
    ((failed,), (done,)) = (list(write_merge((number, each), 0)) for number, each in enumerate((failing, Merge())))
    assert done == Merged(number=1, file=FILE)
    assert (failed.number, failed.file) == (0, None)
    assert failed.error is not None
    assert "disk full" in failed.error[1]


def test_a_store_that_does_not_answer_is_asked_again_by_another_attempt() -> None:
    failing = Merge(error=CatalogUnreachable(place="memory", cause="gone"))
    with pytest.raises(CatalogUnreachable):
        list(write_merge((0, failing), 0))
