"""The API of streaming ingest on Iceberg tables: several processes, killed and stopped ones."""

from __future__ import annotations

import multiprocessing
import os
import random
import secrets
import signal
import time
from collections import Counter
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.contract.ingest_table.iceberg_ingest import LOST_ITS_SLOT, POINTS, Place, Signal, Work, ingest_words
from tests.unit.ingest.memory_table import WordWriter
from toolkit.el import EPOCH
from toolkit.ledger.database import Ledger
from toolkit.ledger.tables import ingest_slot, ingest_transaction
from toolkit.ledger.vocabulary import IngestTransactionState as State

pytestmark = pytest.mark.extended
_KILLS = 4
"""`tests/soak` has a hundred."""
WORDS = [[b"000"], [b"001"], [b"002"]]
_SERVERS = ("postgresql", "hive")
ON_SERVERS = pytest.mark.parametrize("databases", [_SERVERS], ids="-".join, indirect=True)
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.contract.ingest_table.iceberg_ingest"])


@pytest.fixture(params=[("sqlite", "sqlite"), _SERVERS], ids="-".join)
def databases(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return those of ledger and catalog: neither knows the other, so each is in one pair."""
    pair: tuple[str, str] = request.param
    return pair


@pytest.fixture
def ledger_url(request: pytest.FixtureRequest, databases: tuple[str, str]) -> sa.URL:
    """Return the ledger of the test's own."""
    url: sa.URL = request.getfixturevalue("sqlite_ledger_url" if databases[0] == "sqlite" else "postgres_ledger_url")
    return url


@pytest.fixture
def place(request: pytest.FixtureRequest, ledger: Ledger, databases: tuple[str, str], tmp_path: Path) -> Place:
    """Return where a table and its ledger are."""
    url = ledger.engine.url.render_as_string(hide_password=False)
    metastore = request.getfixturevalue("hive_place").uri if databases[1] == "hive" else ""
    return Place(root=tmp_path, ledger=url, metastore=metastore)


def started(place: Place, work: Work) -> ForkServerProcess:
    """Start a process, which is forked from one that has all imports."""
    child = SERVER.Process(target=ingest_words, args=(place, work), daemon=True)
    child.start()
    return child


def ended(child: ForkServerProcess) -> int | None:
    """Wait for the end of a process, and return its exit code."""
    child.join(30)
    return child.exitcode


def wait_until_stopped(child: ForkServerProcess) -> None:
    """Wait until the process is stopped by a signal."""
    until = time.monotonic() + 30
    while Path(f"/proc/{child.pid}/stat").read_text().rpartition(") ")[2][0] != "T":
        assert time.monotonic() < until
        assert child.is_alive()
        time.sleep(0.01)


def nine_commits(number: int) -> Work:
    """Return work of a writer: nine transactions of two equal rows."""
    return Work(name=f"w{number}", transactions=[[f"{number}-{each}".encode()] * 2 for each in range(9)])


def states(ledger: Ledger) -> Counter[State]:
    """Return how many transactions are in each state."""
    return Counter(ledger.read(lambda tx: tx.execute(sa.select(ingest_transaction.c.state)).scalars().all()))


def test_a_reader_sees_whole_transactions_of_two_processes(ledger: Ledger, place: Place) -> None:
    place.connect(ledger).close()
    children = [
        started(place, Work(name=name, transactions=[[f"{name}{each}".encode()] * 3 for each in range(4)]))
        for name in ("a", "b")
    ]
    seen = []
    while any(child.is_alive() for child in children):
        seen.append(Counter(place.words()))
    assert [ended(child) for child in children] == [0, 0]
    seen.append(Counter(place.words()))
    assert {count for each in seen for count in each.values()} == {3}
    assert len(seen[-1]) == 8
    assert states(ledger)[State.COMMITTED] == 8


def test_four_processes_that_create_the_table_at_once_share_it(place: Place) -> None:
    barrier = SERVER.Barrier(4)
    children = [
        started(place, Work(name=name, transactions=[[name.encode()]], barrier=barrier))
        for name in ("a", "b", "c", "d")
    ]
    assert [ended(child) for child in children] == [0, 0, 0, 0]
    assert place.words() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_ingest_is_finished_by_the_next(ledger: Ledger, place: Place, point: str) -> None:
    place.connect(ledger).close()
    kill = Signal(number=signal.SIGKILL, point=point, time=2)
    assert ended(started(place, Work(name="w", transactions=WORDS, signal=kill))) == -signal.SIGKILL
    assert ended(started(place, Work(name="w", transactions=WORDS))) == 0
    assert place.words() == ["000", "001", "002"]
    assert states(ledger)[State.INTENDED] == 0


@ON_SERVERS
def test_after_kills_of_writers_a_metastore_has_each_row_once(ledger: Ledger, place: Place) -> None:
    seed = secrets.randbelow(10**9)
    print(f"seed {seed}")  # noqa: T201 - how to repeat it
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    place.connect(ledger).close()
    kills = finished = 0
    while kills < _KILLS or finished == 0:
        child = started(place, nine_commits(finished))
        child.join(chance.uniform(0.5, 5) if kills < _KILLS else 60)
        if child.is_alive():
            child.kill()
            kills += 1
            child.join()
        else:
            assert child.exitcode == 0
            finished += 1
    assert ended(started(place, nine_commits(finished))) == 0
    assert Counter(place.words()) == {f"{one}-{each}": 2 for one in range(finished + 1) for each in range(9)}


@ON_SERVERS  # a process that is stopped while any of its threads writes holds SQLite's lock
@pytest.mark.parametrize(
    ("point", "visible"),
    [("after intention", ["other"]), ("after commit", ["other", "stalled"])],
)
def test_a_stopped_writer_that_goes_on_after_its_slot_was_taken_changes_nothing(
    ledger: Ledger, place: Place, point: str, visible: list[str]
) -> None:
    with place.connect(ledger) as connection, connection.transaction_batch(1, WordWriter()) as batch:
        stop = Signal(number=signal.SIGSTOP, point=point)
        child = started(place, Work(name="w", transactions=[[b"stalled"]], signal=stop))
        wait_until_stopped(child)
        ledger.write(lambda tx: tx.execute(sa.update(ingest_slot).values(expires_at=EPOCH)))
        batch.begin()
        batch.write(b"other")
        batch.commit()
        assert (place.words(), states(ledger)[State.INTENDED]) == (visible, 0)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGCONT)
        assert ended(child) == (0 if "stalled" in visible else LOST_ITS_SLOT)
    assert place.words() == visible
    assert states(ledger)[State.COMMITTED] == len(visible)
    assert states(ledger)[State.INTENDED] == 0
