"""Looks at storage for SLAs: stores side by side, one that hangs or fails makes only its own feeds unknown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from toolkit.availability import DataAccess
from toolkit.el import CanonicalPath, Frequency, parse_instant
from toolkit.entities import Cluster, Feed, FeedCluster, Interface, Interfaces, Locations, Validity
from toolkit.entities.sla import FeedSla
from toolkit.ledger.sla import SlaKey
from toolkit.ledger.vocabulary import SlaSubject
from toolkit.monitoring.evidence import InstanceLook, look_at_stores, shortage
from toolkit.monitoring.series import FeedSeries
from toolkit.storage import FileSystem, LocalFileSystem, Unreachable

NOON = parse_instant("2026-03-01T12:00Z")
HOURS = [NOON, NOON + timedelta(hours=1)]


def series(name: str, base: str, *, min_bytes: int | None = None) -> FeedSeries:
    """A feed that others write."""
    validity = Validity(start=parse_instant("2026-01-01T00:00Z"), end=parse_instant("2099-01-01T00:00Z"))
    feed = Feed(
        name=name,
        frequency=Frequency.parse("hours(1)"),
        external=True,
        locations=Locations(data=base + "/${YEAR}/${MONTH}/${DAY}/${HOUR}"),
        clusters=(FeedCluster(name="primary", validity=validity),),
    )
    cluster = Cluster(name="primary", colo="east", interfaces=Interfaces(write=Interface(endpoint="file:///")))
    sla = FeedSla(low=Frequency.parse("hours(1)"), high=Frequency.parse("hours(2)"), min_bytes=min_bytes)
    key = SlaKey(SlaSubject.FEED, name, "primary")
    return FeedSeries(key=key, feed=feed, cluster=cluster, sla=sla, outputs=frozenset)


@dataclass
class Stores:
    """Local files, a store that refuses, and one that never answers."""

    released: threading.Event = field(default_factory=threading.Event)

    def of(self, path: CanonicalPath) -> FileSystem:
        if path.scheme == "s3":
            raise Unreachable(path=path, detail="connection refused")
        if path.scheme == "hdfs":
            self.released.wait()
        return LocalFileSystem()


@pytest.fixture
def stores() -> Iterator[Stores]:
    found = Stores()
    yield found
    found.released.set()


def test_each_instance_is_looked_at_and_a_store_that_fails_or_hangs_is_unknown(tmp_path: Path, stores: Stores) -> None:
    (tmp_path / "2026/03/01/12").mkdir(parents=True)
    here, down, hung = series("here", str(tmp_path)), series("down", "s3://bucket/a"), series("hung", "hdfs://ns/a")
    wanted = [(each, HOURS) for each in (here, down, hung)]
    found = look_at_stores(DataAccess(stores=stores.of), wanted, check=lambda: None, deadline=0.5)
    assert {key: look.is_there for (one, key), look in found.items() if one == here.key and not look.problem} == {
        "2026-03-01T12:00Z": True,
        "2026-03-01T13:00Z": False,
    }
    assert all("refused" in found[down.key, f"2026-03-01T{hour}:00Z"].problem for hour in (12, 13))
    assert all("within 0.5 seconds" in found[hung.key, f"2026-03-01T{hour}:00Z"].problem for hour in (12, 13))


def test_bytes_of_directories_within_an_instance_are_added_when_they_matter(tmp_path: Path, stores: Stores) -> None:
    part = tmp_path / "2026/03/01/12/country=de"
    part.mkdir(parents=True)
    (part / "part-0").write_text("1234")
    plain, sized = series("plain", str(tmp_path)), series("sized", str(tmp_path), min_bytes=3)
    data = DataAccess(stores=stores.of)
    found = look_at_stores(data, [(plain, HOURS), (sized, HOURS)], check=lambda: None)
    assert found[plain.key, "2026-03-01T12:00Z"].bytes is None
    assert found[sized.key, "2026-03-01T12:00Z"].bytes == 4


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (InstanceLook(is_there=True, rows=1, bytes=9), "it has 1 rows, at least 2 are expected"),
        (InstanceLook(is_there=True, rows=2, bytes=2), "it has 2 bytes, at least 3 are expected"),
        (InstanceLook(is_there=True, rows=2, bytes=3), ""),
        (InstanceLook(is_there=True), ""),
    ],
)
def test_what_is_too_little_is_named_and_an_unknown_size_is_enough(look: InstanceLook, expected: str) -> None:
    sla = FeedSla(low=Frequency.parse("hours(1)"), high=Frequency.parse("hours(2)"), min_rows=2, min_bytes=3)
    assert shortage(sla, look) == expected
