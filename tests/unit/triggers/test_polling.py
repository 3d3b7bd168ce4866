"""Polling of feeds and datasets: what is due, what is announced, and a store that is down."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import HandClock, make_ledger, open_ledger
from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.availability.requested import CountingStore
from tests.unit.planning.entities import cluster, path_feed, table_feed
from toolkit.availability import DataAccess
from toolkit.catalog.model import TableName
from toolkit.el import CanonicalPath
from toolkit.el.dataset_uri import feed_uri
from toolkit.entities import Feed
from toolkit.entities.trigger import Poll
from toolkit.entities.trigger_vocabulary import PollBy
from toolkit.ledger import events, polls
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import Event
from toolkit.ledger.vocabulary import EventKind
from toolkit.runs.errors import Stopped
from toolkit.storage import FileSystem, LocalFileSystem, Unreachable
from toolkit.triggers.polling import PollReport, PollTarget, poll_due

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)
POLL = Poll(by=PollBy.LISTING)
MINUTE = 60.0


class Down(LocalFileSystem):
    """A store that does not answer."""

    def list_tree(self, path: CanonicalPath) -> Iterator[object]:  # type: ignore[override]
        raise Unreachable(path=path, detail="connection refused")


@dataclass
class Hanging(LocalFileSystem):
    """A store whose calls do not end until the test does."""

    over: threading.Event = field(default_factory=threading.Event)

    def list_tree(self, path: CanonicalPath) -> Iterator[object]:  # type: ignore[override]
        self.over.wait(30)
        raise Unreachable(path=path)


@dataclass
class Polled:
    """A ledger, stores by scheme, and the series that are polled."""

    ledger: Ledger
    clock: HandClock
    root: Path
    targets: list[PollTarget] = field(default_factory=list)
    stores: dict[str, FileSystem] = field(default_factory=dict)
    metastore: MemoryMetastore = field(default_factory=MemoryMetastore)

    def poll(self, *, minutes: float = 5, dry_run: bool = False, deadline: float = 20) -> PollReport:
        """Poll after so many minutes."""
        self.clock.forward(minutes * MINUTE)
        data = DataAccess(
            stores=lambda path: self.stores.get(path.scheme, self.stores["file"]), metastores=lambda _: self.metastore
        )
        return poll_due(self.ledger, data, self.targets, NOON, check=lambda: None, deadline=deadline, dry_run=dry_run)

    def write(self, name: str, content: str = "x") -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def dataset(self, name: str, scheme: str = "file", by: PollBy = PollBy.LISTING) -> str:
        uri = f"{scheme}://{'' if scheme == 'file' else 'host'}{self.root}/{name}"
        self.targets.append(PollTarget(uri=uri, poll=replace(POLL, by=by)))
        return uri

    def feed(self, feed: Feed) -> str:
        uri = feed_uri(feed.name, "primary")
        self.targets.append(PollTarget(uri=uri, poll=POLL, feed=feed, cluster=cluster()))
        return uri

    def hourly(self) -> Feed:
        return path_feed("clicks", f"{self.root}/clicks/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}")

    @property
    def events(self) -> list[Event]:
        return self.ledger.read(lambda tx: events.after(tx, 0))


@pytest.fixture
def polled(tmp_path: Path) -> Iterator[Polled]:
    url = sa.URL.create("sqlite", database=str(tmp_path / "ledger.db"))
    make_ledger(url)
    clock = HandClock(NOON)
    root = tmp_path / "data"
    root.mkdir()
    counting = CountingStore(LocalFileSystem())
    ledger = open_ledger(url, clock)
    yield Polled(ledger=ledger, clock=clock, root=root, stores={"file": counting})
    ledger.close()


def _kinds(found: Sequence[Event]) -> list[tuple[str, EventKind, str]]:
    return [(each.dataset, each.kind, each.instance_key) for each in found]


def test_an_outside_file_becomes_an_event_that_names_it(polled: Polled) -> None:
    uri = polled.dataset("orders")
    polled.poll()
    polled.write("orders/part-0", "12")
    assert polled.poll().events == []
    (found,) = polled.poll().events
    assert found.kind is EventKind.AVAILABLE
    polled.write("orders/part-1", "345")
    polled.poll()
    polled.poll()
    first, second = polled.events
    assert _kinds([first, second]) == [(uri, EventKind.AVAILABLE, "")] * 2
    difference = json.loads(second.extra or "")["poll"]
    assert (difference["added"], difference["files"], difference["bytes"]) == (["part-1"], 2, 5)


def test_half_written_data_is_not_announced(polled: Polled) -> None:
    polled.dataset("orders")
    for size in range(1, 6):
        polled.write("orders/part-0", "x" * size)
        assert polled.poll().events == []
    assert len(polled.poll().events) == 1


def test_a_series_is_looked_at_as_often_as_its_poll_says(polled: Polled) -> None:
    polled.write("orders/part-0")
    polled.dataset("orders")
    assert polled.poll().looks == 1
    report = polled.poll(minutes=1)
    assert (report.looks, report.not_due) == (0, 1)
    assert polled.poll(minutes=4).looks == 1


def test_only_instances_of_feeds_that_have_data_are_announced_with_their_keys(polled: Polled) -> None:
    uri = polled.feed(polled.hourly())
    for hour in ("20-12", "20-11", "15-03", "01-00"):  # the last is older than a week
        polled.write(f"clicks/2026-03-{hour}/part")
    polled.poll()
    polled.poll()
    assert [each.instance_key for each in polled.events] == [
        "2026-03-15T03:00Z",
        "2026-03-20T11:00Z",
        "2026-03-20T12:00Z",
    ]
    assert {each.dataset for each in polled.events} == {uri}
    assert {(each.feed, each.cluster) for each in polled.events} == {("clicks", "primary")}


def test_a_feed_in_good_health_costs_looks_at_its_newest_instances_alone(polled: Polled) -> None:
    polled.feed(polled.hourly())
    for hour in range(24 * 8):
        at = NOON - timedelta(hours=hour)
        polled.write(f"clicks/{at:%Y-%m-%d-%H}/part")
    polled.poll()
    polled.poll()
    assert len(polled.events) == 24 * 7 + 1
    assert polled.poll().looks == 2


def test_a_feed_whose_directory_does_not_exist_costs_few_calls(polled: Polled) -> None:
    polled.feed(polled.hourly())
    report = polled.poll()
    counting = polled.stores["file"]
    assert isinstance(counting, CountingStore)
    assert report.looks == 24 * 7 + 1
    assert len(counting.requested) < 5
    assert report.failures == []


def test_a_store_that_is_down_keeps_no_other_from_its_events(polled: Polled) -> None:
    polled.stores["hdfs"] = Down()
    polled.write("orders/part")
    down, up = polled.dataset("orders", "hdfs"), polled.dataset("orders")
    polled.poll()
    report = polled.poll()
    assert [each.dataset for each in report.events] == [up]
    (failure,) = report.failures
    assert (failure.dataset, failure.store, failure.code) == (down, "hdfs://host", "unreachable")
    assert failure.is_unavailable
    polled.stores["hdfs"] = polled.stores["file"]
    assert polled.poll(minutes=1).polled == [down]  # it stayed due


def test_a_store_that_hangs_fails_by_the_deadline_and_the_others_go_on(polled: Polled) -> None:
    hanging = polled.stores["hdfs"] = Hanging()
    polled.write("orders/part")
    late, up = polled.dataset("orders", "hdfs"), polled.dataset("orders")
    polled.poll(deadline=0.5)
    report = polled.poll(deadline=0.5)
    hanging.over.set()
    assert [each.dataset for each in report.events] == [up]
    (failure,) = report.failures
    assert (failure.dataset, failure.code, failure.is_unavailable) == (late, "poll_deadline", True)
    assert "hdfs://host did not answer within 0.5 seconds" in failure.message


def test_data_that_vanished_is_evicted(polled: Polled) -> None:
    uri = polled.dataset("orders")
    polled.write("orders/part")
    polled.poll()
    polled.poll()
    (polled.root / "orders/part").unlink()
    (polled.root / "orders").rmdir()
    assert polled.poll().events == []
    polled.poll()
    assert _kinds(polled.events) == [(uri, EventKind.AVAILABLE, ""), (uri, EventKind.EVICTED, "")]


def test_data_below_a_directory_that_is_not_mounted_has_not_vanished(polled: Polled) -> None:
    polled.feed(polled.hourly())
    polled.write("clicks/2026-03-20-12/part")
    polled.poll()
    polled.poll()
    (polled.root / "clicks").rename(polled.root / "elsewhere")
    for _ in range(3):
        (failure,) = polled.poll().failures
        assert (failure.code, failure.is_unavailable) == ("base_missing", True)
    (polled.root / "elsewhere").rename(polled.root / "clicks")
    assert polled.poll().failures == []
    assert len(polled.events) == 1


def test_a_dry_run_says_what_it_would_announce_and_writes_nothing(polled: Polled) -> None:
    polled.dataset("orders")
    polled.write("orders/part")
    polled.poll()
    before = polled.ledger.read(lambda tx: polls.series(tx, [polled.targets[0].uri]))
    planned = polled.poll(dry_run=True).events
    assert polled.ledger.read(lambda tx: polls.series(tx, [polled.targets[0].uri])) == before
    assert polled.events == []
    assert planned == polled.poll(minutes=0).events


def test_partitions_of_a_table_are_announced_with_their_files(polled: Polled) -> None:
    uri = polled.feed(table_feed("sales", "catalog:web:sales#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"))
    polled.metastore = MemoryMetastore(("web",))
    table = table_of(TableName("web", "sales"), f"file:{polled.root}/sales", ds="string")
    polled.metastore.create_table(table)
    partition = partition_of(table, "2026-03-20-11")
    polled.write("sales/ds=2026-03-20-11/part")
    polled.metastore.add_partitions(table.name, [partition])
    assert polled.poll().failures == []
    polled.poll()
    assert _kinds(polled.events) == [(uri, EventKind.AVAILABLE, "2026-03-20T11:00Z")]
    polled.write("sales/ds=2026-03-20-11/part-1")
    polled.poll()
    polled.poll()
    assert json.loads(polled.events[-1].extra or "")["poll"]["added"] == ["ds=2026-03-20-11/part-1"]


def test_a_dataset_that_is_no_path_is_told_and_the_others_go_on(polled: Polled) -> None:
    polled.targets.append(PollTarget(uri="https://example.com/orders", poll=POLL))
    polled.dataset("orders")
    report = polled.poll()
    (failure,) = report.failures
    assert (failure.code, failure.is_unavailable) == ("unpollable_dataset", False)
    assert "feedctl event emit" in failure.message
    assert report.looks == 1


def test_a_poll_that_is_told_to_stop_writes_nothing(polled: Polled) -> None:
    polled.write("orders/part")
    polled.dataset("orders")

    def stop() -> None:
        raise Stopped(reason="received SIGTERM")

    data = DataAccess(stores=lambda _: polled.stores["file"])
    with pytest.raises(Stopped):
        poll_due(polled.ledger, data, polled.targets, NOON, check=stop)
    assert polled.ledger.read(lambda tx: polls.series(tx, [polled.targets[0].uri])) == {}


def test_two_polls_at_once_announce_a_change_once(polled: Polled) -> None:
    for number in range(20):
        polled.write(f"orders-{number}/part")
        polled.dataset(f"orders-{number}")
    polled.poll()
    polled.clock.forward(5 * MINUTE)
    both: list[Callable[[], object]] = [lambda: polled.poll(minutes=0)] * 2
    threads = [threading.Thread(target=each) for each in both]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(polled.events) == 20
