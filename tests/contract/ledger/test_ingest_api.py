"""The API of streaming ingest over a ledger and a table in memory."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.ingest.memory_table import COLUMNS, MemoryCatalog, MemoryTable, WordWriter, other_engine
from toolkit.errors import FeedctlError
from toolkit.ingest import call_errors
from toolkit.ingest.batch import TransactionBatch
from toolkit.ingest.connection import Connection, connect
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.errors import (
    BadRecords,
    CatalogUnreachable,
    CommitConflict,
    CommitUnknown,
    NoSuchIngestTable,
    ProgressMoved,
    StoreFailed,
    TableMismatch,
)
from toolkit.ingest.exclusive import ExclusiveCommits
from toolkit.ingest.port import IngestColumn, TableCommit, TableSpec, TableState
from toolkit.ingest.slot import SLOT_PROPERTY, CommitSlots, LedgerIsBehind, SlotLost
from toolkit.ingest.writer_progress import WriterProgress
from toolkit.ledger import ingest
from toolkit.ledger.database import Ledger
from toolkit.ledger.ingest import IntendedTransaction
from toolkit.ledger.vocabulary import IngestTransactionState as State

pytestmark = pytest.mark.both_databases

ENDPOINT = Endpoint(
    catalog=CatalogAddress(type="sql", uri="memory:", warehouse="memory:"), namespace="web", table="clicks"
)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SHORT = timedelta(seconds=2)


@dataclass(kw_only=True)
class Site:
    """A table and its ledger."""

    ledger: Ledger
    table: MemoryTable

    def connect(self) -> Connection:
        """Connect as one more process."""
        catalog = MemoryCatalog(table=self.table)
        return connect(ENDPOINT, ledger=self.ledger, agent="web-1", open_catalog=lambda _: catalog)

    def states(self, batch: TransactionBatch) -> list[State]:
        """Return the states of the transactions of a batch."""
        found = self.ledger.read(lambda tx: ingest.states(tx, batch.opened.transactions))
        return [found[each] for each in batch.opened.transactions]


@pytest.fixture
def site(ledger: Ledger) -> Site:
    """Return a site with an empty table."""
    return Site(ledger=ledger, table=MemoryTable())


@pytest.fixture
def batch(site: Site) -> Iterator[TransactionBatch]:
    """Yield an open batch of three transactions."""
    with site.connect() as connection, connection.transaction_batch(3, WordWriter(), timeout=SHORT) as opened:
        yield opened


@pytest.mark.parametrize(
    ("found", "spec", "message"),
    [
        (("bigint", False), TableSpec(columns=COLUMNS), "has columns word bigint, expected word string"),
        (("string", True), TableSpec(columns=COLUMNS), "has columns word string required, expected word string"),
        (("string", False), TableSpec(columns=()), ""),
        (("string", True), TableSpec(columns=()), "has columns word string required, expected word (missing)"),
        (
            ("string", False),
            TableSpec(columns=COLUMNS, partition_columns=("word",)),
            "has partition columns none, expected word",
        ),
    ],
)
def test_a_table_that_does_not_fit_its_definition_is_refused_at_the_connection(
    site: Site, found: tuple[str, bool], spec: TableSpec, message: str
) -> None:
    site.table.columns = (IngestColumn(name="word", type=found[0], is_required=found[1]),)
    catalog = MemoryCatalog(table=site.table)
    refused = nullcontext() if not message else pytest.raises(TableMismatch, match=re.escape(message))
    with refused:
        connect(ENDPOINT, ledger=site.ledger, agent="a", open_catalog=lambda _: catalog, create=spec).close()
    assert catalog.closed == 1


def test_what_is_committed_is_visible_and_what_is_aborted_leaves_no_file(site: Site, batch: TransactionBatch) -> None:
    batch.flush_bytes = 1
    batch.begin()
    batch.write([b"a", b"b"])
    assert site.table.words == []
    batch.commit()
    batch.begin()
    batch.write(b"c")
    batch.abort()
    assert (site.table.words, site.table.left_over) == (["a", "b"], [])
    assert (batch.remaining, batch.state, batch.current_id) == (1, "idle", None)
    assert site.states(batch) == [State.COMMITTED, State.ABORTED, State.OPEN]


@pytest.mark.parametrize(
    ("calls", "error"),
    [
        (("write",), call_errors.NoOpenTransaction),
        (("commit",), call_errors.NoOpenTransaction),
        (("abort",), call_errors.NoOpenTransaction),
        (("begin", "begin"), call_errors.TransactionIsOpen),
        (("begin", "commit", "commit"), call_errors.NoOpenTransaction),
        (("begin", "abort", "write"), call_errors.NoOpenTransaction),
        (("begin", "abort") * 3 + ("begin",), call_errors.BatchUsedUp),
        (("close", "begin"), call_errors.BatchIsClosed),
        (("begin", "close", "write"), call_errors.BatchIsClosed),
        (("close", "heartbeat"), call_errors.BatchIsClosed),
    ],
)
def test_a_call_in_a_wrong_order_has_an_error_of_its_own(
    batch: TransactionBatch, calls: tuple[str, ...], error: type[FeedctlError]
) -> None:
    made: dict[str, Callable[[], None]] = {
        "begin": batch.begin,
        "write": lambda: batch.write(b"a"),
        "commit": batch.commit,
        "abort": batch.abort,
        "heartbeat": batch.heartbeat,
        "close": batch.close,
    }
    for each in calls[:-1]:
        made[each]()
    with pytest.raises(error):
        made[calls[-1]]()


def test_a_connection_has_one_open_batch_and_none_after_its_end(site: Site) -> None:
    with site.connect() as connection:
        connection.transaction_batch(1, WordWriter())
        with pytest.raises(call_errors.BatchIsOpen):
            connection.transaction_batch(1, WordWriter())
    with pytest.raises(call_errors.ConnectionIsClosed):
        connection.transaction_batch(1, WordWriter())


def test_a_missing_table_is_created_only_on_request(ledger: Ledger) -> None:
    catalog = MemoryCatalog()
    with pytest.raises(NoSuchIngestTable):
        connect(ENDPOINT, ledger=ledger, agent="a", open_catalog=lambda _: catalog)
    assert catalog.closed == 1
    spec = TableSpec(columns=COLUMNS)
    connect(ENDPOINT, ledger=ledger, agent="a", open_catalog=lambda _: catalog, create=spec).close()
    assert catalog.table is not None


def test_an_exception_in_the_body_aborts(site: Site) -> None:
    left: list[TransactionBatch] = []

    def body() -> None:
        with site.connect() as connection, connection.transaction_batch(1, WordWriter()) as batch:
            left.append(batch)
            batch.begin()
            batch.write(b"a")
            raise KeyError

    with pytest.raises(KeyError):
        body()
    assert (site.table.words, site.states(left[0])) == ([], [State.ABORTED])


def test_bad_records_are_an_error_or_rejected(site: Site, batch: TransactionBatch) -> None:
    batch.begin()
    with pytest.raises(BadRecords):
        batch.write([b"a", b"?"])
    rejected: list[bytes] = []
    batch.rejects = lambda _, record: rejected.append(record)
    batch.write([b"b", b"?"])
    batch.commit()
    assert (site.table.words, rejected) == (["b"], [b"?"])


def test_a_commit_of_a_lapsed_batch_is_refused(site: Site, batch: TransactionBatch) -> None:
    clock = site.ledger.clock
    late = replace(site.ledger, clock=lambda connection: clock(connection) + SHORT * 2)
    batch.begin()
    batch.write(b"a")
    late.write(lambda tx: ingest.abort_lapsed(tx, site.table.name))
    with pytest.raises(call_errors.CommitRefused):
        batch.commit()
    with pytest.raises(call_errors.BatchLapsed):
        batch.heartbeat()
    assert (site.table.words, site.table.written) == ([], {})


def test_a_commit_of_another_engine_in_between_is_no_error(site: Site, batch: TransactionBatch) -> None:
    left = [1, 2, 3]

    def before(_: TableCommit) -> None:
        if left:
            left.pop()
            other_engine(site.table)

    site.table.before = before
    batch.begin()
    batch.write(b"a")
    batch.commit()
    assert site.table.words == ["a"]


@pytest.mark.parametrize("is_committed", [True, False])
def test_an_unknown_outcome_is_looked_up_and_nothing_is_written_twice(
    site: Site,
    batch: TransactionBatch,
    is_committed: bool,  # noqa: FBT001 - a parameter
) -> None:
    def fail(commit: TableCommit) -> None:
        if commit.files:
            raise CommitUnknown(table="t", cause="no answer")

    if is_committed:
        site.table.after = fail
    else:
        site.table.before = fail
    batch.begin()
    batch.write(b"a")
    if is_committed:
        batch.commit()
    else:
        with pytest.raises(CommitConflict):
            batch.commit()
    assert site.table.words == ["a"] * is_committed
    assert site.states(batch)[0] is (State.COMMITTED if is_committed else State.ABORTED)


def test_an_outcome_that_cannot_be_looked_up_is_not_called_a_failure(site: Site) -> None:
    def lost(commit: TableCommit) -> None:
        if commit.files:
            raise CommitUnknown(table="t", cause="no answer")

    with site.connect() as connection:
        with connection.transaction_batch(1, WordWriter(), timeout=3 * SHORT) as batch:
            site.table.after, site.table.is_away = lost, True
            batch.begin()
            batch.write(b"a")
            with pytest.raises(CommitUnknown):
                batch.commit()
        site.table.after, site.table.is_away = lambda _: None, False
        assert (site.table.words, site.states(batch)[0]) == (["a"], State.INTENDED)
        with connection.transaction_batch(1, WordWriter()) as later:
            later.begin()
            later.write(b"b")
            later.commit()
    assert (site.table.words, site.states(batch)[0]) == (["a", "b"], State.COMMITTED)


def test_rows_that_could_not_be_written_early_end_the_transaction(site: Site, batch: TransactionBatch) -> None:
    batch.begin()
    batch.write(b"a")
    batch.flush_bytes, site.table.is_full = 1, True
    with pytest.raises(StoreFailed):
        batch.write(b"b")
    site.table.is_full = False
    with pytest.raises(call_errors.NoOpenTransaction):
        batch.commit()
    assert (site.table.words, site.states(batch)[0]) == ([], State.ABORTED)


def test_a_table_that_is_ahead_of_the_ledger_is_not_written_to(site: Site, batch: TransactionBatch) -> None:
    site.table.properties[SLOT_PROPERTY] = "500"
    batch.begin()
    batch.write(b"a")
    with pytest.raises(LedgerIsBehind, match="slot 500"):
        batch.commit()
    assert (site.table.words, site.states(batch)[0]) == ([], State.ABORTED)


def test_snapshots_expire_in_processes_that_commit_once(site: Site) -> None:
    for _ in range(41):
        with site.connect() as connection, connection.transaction_batch(1, WordWriter(), timeout=SHORT) as one:
            one.begin()
            one.write(b"a")
            one.commit()
    assert site.table.expired


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_no_caller_waits_for_ever_after_an_error_of_the_program(site: Site) -> None:
    def fail(_: TableCommit) -> None:
        time.sleep(0.3)
        raise ZeroDivisionError

    site.table.before = fail
    errors: list[FeedctlError] = []

    def write(one: TransactionBatch) -> None:
        one.begin()
        one.write(b"a")
        with pytest.raises(FeedctlError) as caught:
            one.commit()
        errors.append(caught.value)

    with site.connect() as connection, connection.another("b") as sibling:
        batches = [each.transaction_batch(1, WordWriter(), timeout=SHORT) for each in (connection, sibling)]
        threads = [threading.Thread(target=write, args=(each,)) for each in batches]
        for each in threads:
            each.start()
            time.sleep(0.1)
        for each in threads:
            each.join(60)
        assert not any(each.is_alive() for each in threads)
        assert len(errors) == 2
        site.table.before = lambda _: None


def test_a_stalled_writer_commits_nothing_after_another_resolved_it(site: Site, batch: TransactionBatch) -> None:
    def steal(commit: TableCommit) -> None:
        if commit.files:  # the other took the slot after 30 s
            site.table.before = lambda _: None
            other = CommitSlots(table=site.table, ledger=_late(site.ledger))
            fence, left = other.acquire(_soon())
            assert [each.transaction_id for each in left] == [batch.opened.transactions[0]]
            assert other.resolve(left, fence, lambda *_: None, _soon()) == frozenset()

    site.table.before = steal
    batch.begin()
    batch.write(b"a")
    with pytest.raises(SlotLost):
        batch.commit()
    assert (site.table.words, site.states(batch)[0]) == ([], State.ABORTED)


def _late(ledger: Ledger) -> Ledger:
    return replace(ledger, clock=lambda connection: ledger.clock(connection) + ingest.SLOT_TIME * 2)


def _soon() -> float:
    return time.monotonic() + 60


def test_a_writer_of_the_same_name_is_refused(site: Site) -> None:
    with site.connect() as one, site.connect() as two:
        assert one.progress("w") is two.progress("w") is None
        for number, connection in enumerate((one, two)):
            batch = connection.transaction_batch(2, WordWriter(), timeout=SHORT)
            batch.begin()
            batch.write(b"a")
            if number:
                with pytest.raises(ProgressMoved):
                    batch.commit(progress=WriterProgress(name="w", document={"at": number}))
            else:
                batch.commit(progress=WriterProgress(name="w", document={"at": number}))
        assert two.progress("w") == {"at": 0}
    assert site.table.words == ["a"]


def test_connections_of_a_process_share_commits(site: Site) -> None:
    with site.connect() as first:
        writers = [threading.Thread(target=_write_ten, args=(first.another(str(each)),)) for each in range(8)]
        for each in writers:
            each.start()
        for each in writers:
            each.join()
    assert len(site.table.words) == 80
    assert sum(1 for each in site.table.commits if each.files) < 80


def _write_ten(connection: Connection) -> None:
    with connection, connection.transaction_batch(10, WordWriter()) as batch:
        for number in range(10):
            batch.begin()
            batch.write(str(number).encode())
            batch.commit()


def test_the_next_slot_resolves_what_a_dead_writer_intended(site: Site, batch: TransactionBatch) -> None:
    with site.connect() as dead:
        lost = dead.transaction_batch(1, WordWriter()).opened.transactions[0]
        content = IntendedTransaction(transaction_id=lost, partitions=((),), rows=1, bytes=1, files=1)
        site.ledger.write(lambda tx: ingest.intend(tx, [content], 0))
        batch.begin()
        batch.write(b"a")
        batch.commit()
    assert site.ledger.read(lambda tx: ingest.states(tx, [lost])) == {lost: State.ABORTED}


def test_a_change_that_cannot_look_at_what_it_needs_ends_at_its_deadline(site: Site) -> None:
    def change(base: TableState, properties: Mapping[str, str]) -> None:
        del base, properties
        raise CatalogUnreachable(place="a store", cause="OSError")

    commits = ExclusiveCommits(slots=CommitSlots(table=site.table, ledger=site.ledger), seconds=1.0)
    with pytest.raises(CatalogUnreachable):
        commits.commit(change, lambda: False)
    assert len(site.table.commits) < 5
