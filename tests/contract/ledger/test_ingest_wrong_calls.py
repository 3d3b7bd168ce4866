"""Wrong calls of the API of streaming ingest: each is refused with an error, and no right record is lost."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from tests.contract.ledger.test_ingest_api import ENDPOINT, SHORT, Site
from tests.unit.ingest.memory_table import COLUMNS, MemoryCatalog, MemoryTable, WordWriter
from toolkit.ingest.call_errors import BadFixedValue, BadTransactionCount, ConnectionIsClosed, NoOpenTransaction
from toolkit.ingest.connection import Connection, connect
from toolkit.ingest.port import IngestColumn
from toolkit.ingest.record_writer import BadRecord
from toolkit.ingest.writer_progress import WriterProgress, WrongProgress, progress_of
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import IngestTransactionState as State

pytestmark = pytest.mark.both_databases

DAY = IngestColumn(name="day", type="date")


@pytest.fixture
def site(ledger: Ledger) -> Site:
    """Return a site with an empty table."""
    return Site(ledger=ledger, table=MemoryTable())


def _fixed(ledger: Ledger, table: MemoryTable, values: Mapping[str, str]) -> Connection:
    endpoint = replace(ENDPOINT, partition_values=values)
    return connect(endpoint, ledger=ledger, agent="a", open_catalog=lambda _: MemoryCatalog(table=table))


@pytest.mark.parametrize("count", [0, -1])
def test_a_batch_without_a_transaction_is_refused(site: Site, count: int) -> None:
    with site.connect() as connection:
        with pytest.raises(BadTransactionCount, match=f"a batch of {count} transactions"):
            connection.transaction_batch(count, WordWriter())
        connection.transaction_batch(1, WordWriter())


def test_a_closed_connection_tells_no_progress_and_makes_no_other(site: Site) -> None:
    connection = site.connect()
    connection.close()
    with pytest.raises(ConnectionIsClosed):
        connection.progress("w")
    with pytest.raises(ConnectionIsClosed):
        connection.another("b")


def test_a_transaction_whose_bad_record_could_not_be_rejected_is_over(site: Site) -> None:
    taken: list[bytes] = []

    def reject(_: BadRecord, record: bytes) -> None:
        taken.append(record)
        raise OSError

    with site.connect() as connection, connection.transaction_batch(1, WordWriter(), rejects=reject) as batch:
        batch.begin()
        batch.write(b"a")
        with pytest.raises(OSError):  # noqa: PT011 - the caller's own
            batch.write([b"b", b"?", b"?"])
        with pytest.raises(NoOpenTransaction):
            batch.commit()
        assert (site.table.words, site.states(batch), taken) == ([], [State.ABORTED], [b"?"])


@pytest.mark.parametrize("document", [{"at": datetime(2026, 3, 1, tzinfo=UTC)}, {"at": {1}}, {"at": float("nan")}])
def test_progress_that_is_no_json_is_refused_before_any_commit(document: Mapping[str, object]) -> None:
    with pytest.raises(WrongProgress, match="'w' has a document that is no JSON"):
        WriterProgress(name="w", document=document)


def test_progress_without_a_name_is_refused() -> None:
    with pytest.raises(WrongProgress, match="has no name"):
        WriterProgress(name="", document={})


def test_progress_is_kept_as_it_was_when_it_was_made(site: Site) -> None:
    document: dict[str, object] = {"at": 1, "word": "\u00e9"}
    progress = WriterProgress(name="w", document=document)
    document["at"] = {1}
    with site.connect() as one, one.another("b") as two:
        batches = [each.transaction_batch(1, WordWriter(), timeout=SHORT) for each in (one, two)]
        for each in batches:
            each.begin()
            each.write(b"a")
        other = threading.Thread(target=batches[1].commit)
        other.start()
        batches[0].commit(progress=progress)
        other.join(60)
    assert site.table.words == ["a", "a"]
    assert progress_of(site.table.state(), "w") == {"at": 1, "word": "\u00e9"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dya": "2026-03-01"}, "fixes dya .* expected one of its partition columns: day"),
        ({"word": "a"}, "fixes word .* expected one of its partition columns: day"),
        ({"day": "1 March"}, "fixes day .* to '1 March', expected the text of a date"),
        ({"day": None}, "to None, expected the text of a date"),
    ],
)
def test_a_fixed_value_that_no_partition_column_can_have_is_refused_at_the_connection(
    ledger: Ledger, values: dict[str, str], message: str
) -> None:
    table = MemoryTable(columns=(*COLUMNS, DAY), partition_columns=("day",))
    with pytest.raises(BadFixedValue, match=message):
        _fixed(ledger, table, values)


def test_a_fixed_value_has_the_type_of_its_column_also_on_other_machines(ledger: Ledger) -> None:
    table = MemoryTable(columns=(*COLUMNS, DAY), partition_columns=("day",))
    with _fixed(ledger, table, {"day": "2026-03-01"}) as connection:
        batch = connection.transaction_batch(1, WordWriter())
        batch.begin()
        rows, bad = pickle.loads(pickle.dumps(batch.fill))(WordWriter().convert([b"a"], COLUMNS).rows)  # noqa: S301 - ours
        batch.write([b"a"])
        batch.commit()
    assert (rows.to_pylist(), bad, table.words) == ([{"word": "a", "day": date(2026, 3, 1)}], (), ["a"])
