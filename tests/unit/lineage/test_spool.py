"""The spool of events: whole lines, once each, in their order."""

from __future__ import annotations

import fcntl
import os
import resource
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from toolkit.lineage import spool as module
from toolkit.lineage.spool import Spool, SpoolUnusable


def taken(spool: Spool, most: int = 1000) -> list[bytes]:
    """The lines that wait, up to a number, all of them sent."""
    found: list[bytes] = []
    with closing(spool.waiting()) as lines:
        for line in lines:
            if len(found) == most:
                break
            found.append(line)
    return found


def test_each_line_waits_until_it_is_noted_as_sent(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    for number in range(5):
        spool.append(b'{"n": %d}' % number)
    assert spool.file.stat().st_mode & 0o077 == 0
    assert taken(spool, most=2) == [b'{"n": 0}', b'{"n": 1}']
    assert taken(spool) == [b'{"n": 2}', b'{"n": 3}', b'{"n": 4}']
    assert taken(spool) == []


def test_a_line_that_was_cut_is_no_event_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    spool.append(b"{}")
    with spool.file.open("ab") as file:
        file.write(b'\n{"cut')
    spool.append(b"[]")
    assert taken(spool) == [b"{}", b'{"cut', b"[]"]


def test_a_line_that_is_being_written_waits_for_its_end(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    spool.append(b"{}")
    with spool.file.open("ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        file.write(b'\n{"half": ')
        assert taken(spool) == [b"{}"]
        file.write(b"1}\n")
    assert taken(spool) == [b'{"half": 1}']


def test_another_process_that_sends_is_left_alone(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    spool.append(b"{}")
    with closing(spool.waiting()) as lines:
        assert next(lines) == b"{}"
        with pytest.raises(SpoolUnusable, match="by another process"):
            next(spool.waiting(0.1))
    assert taken(spool) == [b"{}"]


def test_many_writers_and_a_shipper_at_once_lose_and_double_nothing(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path / "events")

    def write(writer: int) -> None:
        for number in range(200):
            spool.append(b'{"writer": %d, "number": %d}' % (writer, number))

    writers = [threading.Thread(target=write, args=(each,)) for each in range(4)]
    for each in writers:
        each.start()
    found: list[bytes] = []
    while any(each.is_alive() for each in writers):
        found += taken(spool)
    found += taken(spool)
    assert len(found) == 800
    assert len(set(found)) == 800
    of_one = [line for line in found if b'"writer": 2,' in line]
    assert of_one == sorted(of_one, key=lambda line: int(line.rpartition(b" ")[2][:-1]))


def test_a_spool_that_was_sent_is_removed_and_the_next_one_is_sent_from_its_beginning(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    for length in (10, 300):
        spool.append(b'{"n": "%b"}' % (b"x" * length))
        assert len(taken(spool)) == 1
        assert [each.name for each in tmp_path.iterdir()] == ["events.sent"]


def test_a_writer_that_is_in_the_middle_keeps_the_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    spool.append(b'{"n": 1}')
    with spool.file.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert taken(spool) == [b'{"n": 1}']
        file.write(b'\n{"n": 2}\n')
    assert taken(spool) == [b'{"n": 2}']
    assert [each.name for each in tmp_path.iterdir()] == ["events.sent"]


def test_a_shipper_that_is_stopped_for_good_costs_a_writer_the_event_and_no_time(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    spool.append(b"{}")
    with spool.file.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        begun = time.monotonic()
        with pytest.raises(SpoolUnusable, match="does not go on"):
            spool.append(b"{}")
        assert time.monotonic() - begun < 15


def test_an_event_that_waits_in_an_earlier_spool_comes_first(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "events")
    spool.append(b'{"n": 1}')
    spool.append(b'{"n": 2}')
    assert taken(spool, most=1) == [b'{"n": 1}']
    assert not spool.file.exists()
    spool.append(b'{"n": 3}')
    assert taken(spool) == [b'{"n": 2}', b'{"n": 3}']


def test_neither_a_link_nor_a_file_of_two_names_is_written(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "link").symlink_to(other)
    os.link(other, tmp_path / "twin")
    with pytest.raises(OSError, match="symbolic"):
        Spool(tmp_path / "link").append(b"{}")
    with pytest.raises(SpoolUnusable, match="of this user alone"):
        Spool(tmp_path / "twin").append(b"{}")
    assert other.read_text() == "precious"


def test_a_spool_that_nothing_is_sent_from_ends_growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 20)
    spool = Spool(tmp_path / "events")
    spool.append(b'{"n": "xxxxxxxxxxxxxxxx"}')
    with pytest.raises(SpoolUnusable, match="were not sent"):
        spool.append(b"{}")


def test_a_disk_that_takes_a_part_of_an_event_or_nothing_is_an_error_and_no_shipper_takes_the_part(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path / "events")
    spool.append(b'{"n": 1}')
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (15, hard))
    try:
        for found in ("a part of an event", "too large"):
            with pytest.raises(OSError, match=found):
                spool.append(b'{"n": 2}')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert taken(spool) == [b'{"n": 1}']
    spool.append(b'{"n": 3}')
    assert taken(spool)[-1] == b'{"n": 3}'
