"""Merge of staged rows, against a task of Spark that commits after the rows were counted."""

from __future__ import annotations

from contextlib import nullcontext
from unittest.mock import MagicMock

import pytest

from toolkit.entities.vocabulary import DatasourceType
from toolkit.exchange.export_batches import ExportBatch
from toolkit.exchange.rows import NotExchanged


def test_rows_that_were_staged_after_the_count_are_not_merged() -> None:
    plan, load = MagicMock(), MagicMock()
    database = plan.target.database.return_value
    database.access.type = DatasourceType.GENERIC
    session = database.transaction.return_value = MagicMock()
    database.transaction.return_value = nullcontext(session)
    session.query.return_value = []
    batch = ExportBatch(plan=plan, work=MagicMock(), rows=MagicMock(), positions=range(1))
    load.count.return_value = 4
    with pytest.raises(NotExchanged, match="the files have 2 rows, and the staging table has 4"):
        batch._merged(load, 2)  # noqa: SLF001 - between the check and the commit
    load.merge.assert_not_called()
