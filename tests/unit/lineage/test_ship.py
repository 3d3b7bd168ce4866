"""Events from a spool to receivers that behave and that do not: a real server, a file, standard error."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lineage_events.receiver import Manner, Receiver, receiving
from toolkit.entities.lineage import LineageCredential, LineageTransport, OpenLineageSettings
from toolkit.lineage.ship import Shipped, sent_file, ship, ship_beside
from toolkit.lineage.spool import Spool

HOSTS = ("127.0.0.1",)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    found = Spool(tmp_path / "openlineage")
    for number in range(3):
        found.append(json.dumps({"n": number}).encode())
    return found


def http(receiver: Receiver, **more: object) -> OpenLineageSettings:
    return replace(OpenLineageSettings(transport=LineageTransport.HTTP, url=receiver.url), **more)  # type: ignore[arg-type]


def numbers(receiver: Receiver) -> list[int]:
    return [each["n"] for each in receiver.events]


def test_events_come_in_their_order_and_none_twice(receiver: Receiver, spool: Spool) -> None:
    assert ship(spool, http(receiver), HOSTS, {}) == Shipped(sent=3)
    spool.append(b'{"n": 3}')
    assert ship(spool, http(receiver), HOSTS, {}) == Shipped(sent=1)
    assert numbers(receiver) == [0, 1, 2, 3]
    assert {path for path, _ in receiver.requests} == {"/api/v1/lineage"}


def test_a_path_of_the_url_is_kept_and_the_key_is_a_bearer_token(receiver: Receiver, spool: Spool) -> None:
    settings = http(receiver, url=f"{receiver.url}/own", credential=LineageCredential(env="FEEDCTL_OPENLINEAGE_KEY"))
    failure = ship(spool, settings, HOSTS, {}).failure
    assert failure == "the environment variable FEEDCTL_OPENLINEAGE_KEY is not set"
    assert ship(spool, settings, HOSTS, {"FEEDCTL_OPENLINEAGE_KEY": "s3cret"}).sent == 3
    assert [(path, headers["Authorization"]) for path, headers in receiver.requests] == [("/own", "Bearer s3cret")] * 3


@pytest.mark.parametrize("manner", [Manner.FAILS, Manner.REDIRECTS, Manner.CLOSES, Manner.HANGS, Manner.DRIPS])
def test_what_a_receiver_did_not_acknowledge_waits_and_is_sent_later(
    receiver: Receiver, spool: Spool, manner: Manner
) -> None:
    receiver.manner = manner
    begun = time.monotonic()
    found = ship(spool, http(receiver), HOSTS, {}, seconds=0.5)
    assert time.monotonic() - begun < 20
    assert (found.sent, found.refused, numbers(receiver)) == (0, 0, [])
    assert found.failure
    assert {path for path, _ in receiver.requests} == {"/api/v1/lineage"}  # a redirect is not followed
    receiver.manner = Manner.TAKES
    assert ship(spool, http(receiver), HOSTS, {}) == Shipped(sent=3)
    assert numbers(receiver) == [0, 1, 2]


def test_what_a_receiver_refuses_does_not_keep_the_rest(receiver: Receiver, spool: Spool) -> None:
    receiver.manner = Manner.REFUSES
    assert ship(spool, http(receiver), HOSTS, {}) == Shipped(refused=3)
    receiver.manner = Manner.TAKES
    spool.append(b'{"n": 3}')
    assert ship(spool, http(receiver), HOSTS, {}) == Shipped(sent=1)


def test_a_host_that_is_not_allowed_gets_nothing(receiver: Receiver, spool: Spool) -> None:
    found = ship(spool, http(receiver), ("marquez.example.com",), {})
    assert "'127.0.0.1' is not in monitoring.allowed_hosts" in (found.failure or "")
    assert receiver.requests == []


def test_a_receiver_that_is_not_there_is_a_failure_at_once(spool: Spool) -> None:
    with receiving() as gone:
        settings = http(gone)
    begun = time.monotonic()
    assert "refused" in (ship(spool, settings, HOSTS, {}).failure or "")
    assert time.monotonic() - begun < 15


@pytest.mark.extended
def test_two_shippers_at_once_send_each_event_once(receiver: Receiver, spool: Spool) -> None:
    with closing(spool.waiting()) as lines:
        next(lines)
        assert "by another process" in (ship(spool, http(receiver), HOSTS, {}).failure or "")
    for _ in range(3):
        ship_beside(spool, http(receiver, timeout=20), HOSTS, {})
    receiver.until(3)
    time.sleep(0.3)
    assert numbers(receiver) == [0, 1, 2]


def test_an_event_that_a_full_disk_cut_is_passed_over(receiver: Receiver, spool: Spool) -> None:
    with spool.file.open("ab") as file:
        file.write(b'\n{"n": ')
    spool.append(b'{"n": 4}')
    assert ship(spool, http(receiver), HOSTS, {}) == Shipped(sent=4, refused=1)
    assert numbers(receiver) == [0, 1, 2, 4]


@pytest.mark.parametrize("manner", [Manner.HANGS, Manner.DRIPS, Manner.FAILS])
def test_the_end_of_an_action_does_not_wait_for_a_receiver(receiver: Receiver, spool: Spool, manner: Manner) -> None:
    receiver.manner = manner
    begun = time.monotonic()
    ship_beside(spool, http(receiver, timeout=60), HOSTS, {})
    assert time.monotonic() - begun < 20  # 0.005 s on a machine with nothing else to do


def test_a_file_gets_a_line_for_each_event_and_standard_error_too(
    spool: Spool, capsys: pytest.CaptureFixture[str]
) -> None:
    ship_beside(spool, OpenLineageSettings(transport=LineageTransport.FILE), (), {})
    lines = ['{"n": 0}', '{"n": 1}', '{"n": 2}']
    assert sent_file(spool).read_text().splitlines() == lines
    spool.append(b'{"n": 3}')
    ship_beside(spool, OpenLineageSettings(transport=LineageTransport.CONSOLE), (), {})
    assert capsys.readouterr().err == '{"n": 3}\n'
    assert sent_file(spool).read_text().splitlines() == lines


def test_a_full_disk_leaves_no_part_of_an_event_in_the_file(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    def short_write(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:-3] if b"1" in data else data)

    write, settings = os.write, OpenLineageSettings(transport=LineageTransport.FILE)
    with monkeypatch.context() as full:
        full.setattr(os, "write", short_write)
        assert ship(spool, settings, (), {}) == Shipped(sent=1, failure="the disk is full")
    assert sent_file(spool).read_text() == '{"n": 0}\n'
    assert ship(spool, settings, (), {}).sent == 2
    assert sent_file(spool).read_text().splitlines() == ['{"n": 0}', '{"n": 1}', '{"n": 2}']
