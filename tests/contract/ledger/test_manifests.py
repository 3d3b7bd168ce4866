"""Tests of what was published where is kept file by file, replaced whole, and forgotten with the instance."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from tests.contract.ledger.samples import begun, changed, key
from toolkit.ledger import events, manifests
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.manifests import ManifestFile, PackedManifest, UnitKey
from toolkit.ledger.runs import counters
from toolkit.ledger.runs.queries import Subject, over, unsuccessful
from toolkit.ledger.runs.route_keys import CopyRoute
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus

HOUR, NEXT = "2026-03-20T12:00Z", "2026-03-20T13:00Z"
UNIT = UnitKey(feed="clicks", cluster="backup", instance_key=HOUR, counterpart="primary", path="hdfs://nn/clicks/12")
FILES = {
    "deep/part-1": ManifestFile(7, "0" * 32, datetime(2026, 3, 20, 12, 1, 2, 345678, tzinfo=UTC)),
    "no unicode \udcff": ManifestFile(0, "", None),
}


def _published(ledger: Ledger, unit: UnitKey, files: manifests.Manifest) -> int:
    run = begun(ledger, key(unit.instance_key, life_cycle=LifeCycle.REPLICATION))
    ledger.write(lambda tx: manifests.replace(tx, run.run_id, unit, PackedManifest.of(files)))
    return run.run_id


def _count(ledger: Ledger, run_id: int, counted: dict[str, int]) -> None:
    ledger.write(partial(counters.replace, run_id=run_id, counted=counted))


def _known(ledger: Ledger, instance: str) -> dict[str, manifests.Manifest]:
    return ledger.read(lambda tx: manifests.of_instance(tx, "clicks", "backup", instance, "primary"))


def test_a_publication_replaces_what_was_known_of_its_unit_and_of_no_other(ledger: Ledger) -> None:
    other = UnitKey(feed="clicks", cluster="backup", instance_key=HOUR, counterpart="primary", path="hdfs://nn/other")
    _published(ledger, UNIT, FILES)
    ledger.write(lambda tx: manifests.replace(tx, 1, other, PackedManifest.of(FILES)))
    assert _known(ledger, HOUR) == {UNIT.path: FILES, other.path: FILES}
    new = {"new": ManifestFile(1, "1")}
    ledger.write(lambda tx: manifests.replace(tx, 1, UNIT, PackedManifest.of(new)))
    assert _known(ledger, HOUR) == {UNIT.path: new, other.path: FILES}
    ledger.write(lambda tx: manifests.forget_unit(tx, other))
    assert list(_known(ledger, HOUR)) == [UNIT.path]


def test_which_of_many_instances_are_known_is_one_question(ledger: Ledger) -> None:
    _published(ledger, UNIT, FILES)
    route, keys = CopyRoute(feed="clicks", target="backup", source="primary"), [HOUR, NEXT]
    assert ledger.read(lambda tx: manifests.known_among(tx, route=route, keys=keys)) == {HOUR}
    other = CopyRoute(feed="clicks", target="backup", source="third")
    assert ledger.read(lambda tx: manifests.known_among(tx, route=other, keys=keys)) == frozenset()
    second = replace(UNIT, path="hdfs://nn/other")
    ledger.write(lambda tx: manifests.replace(tx, 1, second, PackedManifest.of({"new": ManifestFile(7, "1")})))
    size = sum(each.size for each in FILES.values()) + 7
    assert ledger.read(lambda tx: manifests.sizes_among(tx, route=route, keys=keys)) == {HOUR: (len(FILES) + 1, size)}
    assert ledger.read(lambda tx: manifests.sizes_among(tx, route=other, keys=keys)) == {}


def test_very_many_files_are_kept_at_once(ledger: Ledger) -> None:
    many = {f"part-{number:06}": ManifestFile(number, f"{number:032x}") for number in range(100_000)}
    _published(ledger, UNIT, many)
    assert _known(ledger, HOUR)[UNIT.path] == many


def test_what_is_evicted_is_forgotten_and_its_neighbours_are_not(ledger: Ledger) -> None:
    _published(ledger, UNIT, FILES)
    next_hour = UnitKey(feed="clicks", cluster="backup", instance_key=NEXT, counterpart="primary", path="x")
    _published(ledger, next_hour, FILES)
    for kind, cluster in ((EventKind.UPDATED, "backup"), (EventKind.EVICTED, "primary")):
        event = NewEvent(kind=kind, feed="clicks", cluster=cluster, instance_key=HOUR)
        ledger.write(lambda tx, event=event: events.append(tx, [event]))  # type: ignore[misc]
    assert UNIT.path in _known(ledger, HOUR)
    gone = NewEvent(kind=EventKind.EVICTED, feed="clicks", cluster="backup", instance_key=HOUR)
    ledger.write(lambda tx: events.append(tx, [gone]))
    keys = ledger.read(lambda tx: manifests.instance_keys(tx, "clicks", "backup", "primary"))
    assert keys == {NEXT}


def test_a_run_is_known_by_what_it_counted_last(ledger: Ledger) -> None:
    first, second = begun(ledger, key(HOUR)).run_id, begun(ledger, key(NEXT)).run_id
    ledger.write(lambda tx: counters.replace(tx, first, {"COPY": 1, "BYTESCOPIED": 2**40}))
    ledger.write(lambda tx: counters.replace(tx, first, {"COPY": 3}))
    assert ledger.read(lambda tx: counters.of_runs(tx, [first, second])) == {first: {"COPY": 3, "BYTESCOPIED": 2**40}}


def test_the_last_run_with_a_counter_is_found_and_what_has_not_succeeded(ledger: Ledger) -> None:
    subject = Subject(entity="clicks", life_cycle=LifeCycle.EXECUTION, cluster="backup")
    ids: list[int] = []
    for number, status in enumerate((RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.SUCCEEDED, RunStatus.RUNNING)):
        hour = f"2026-03-20T0{number}:00Z"
        run = begun(ledger, key(hour, cluster="backup", life_cycle=LifeCycle.EXECUTION))
        ids.append(run.run_id)
        _count(ledger, run.run_id, {"EVENT": number, "COPY": 7} if number < 2 else {"COPY": 7})
        if status is not RunStatus.RUNNING:
            changed(ledger, run, status, reason="it says why")
    assert ledger.read(lambda tx: counters.newest(tx, subject, "EVENT")) == {"EVENT": 1, "COPY": 7}
    other = replace(subject, cluster="primary")
    assert ledger.read(lambda tx: counters.newest(tx, other, "EVENT")) == {}
    assert ledger.read(lambda tx: unsuccessful(tx, subject, 5)) == {ids[1]}
    assert ledger.read(lambda tx: unsuccessful(tx, subject, 2)) == frozenset()
    assert ledger.read(lambda tx: over(tx, subject, [*ids, 4711])) == set(ids[:3])
    assert ledger.read(lambda tx: over(tx, other, ids)) == frozenset()
