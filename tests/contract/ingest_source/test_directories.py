"""Files of a directory as a source."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.ingest_source.feeder import Feeder, consumed, names_of
from toolkit.el import CanonicalPath
from toolkit.ingest.errors import RecordTooLong, UnitChanged
from toolkit.ingest_job import directory, put_away
from toolkit.ingest_job.directory import DirectorySource, TooManyFiles
from toolkit.ingest_job.file_read import SeenFile
from toolkit.ingest_job.source import JsonValue, SourceUnit
from toolkit.storage import FileSystem


def test_each_file_that_matches_is_read_once_and_in_whole_lines(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1,x\r\n2,y\n")
    feeder.put("b.csv", b"3,z")
    feeder.put("empty.csv", b"")
    for name in ("_SUCCESS.csv", ".part.csv", "c.csv._COPYING_", "d.txt"):
        feeder.put(name, b"no\n")
    records, progress = consumed(feeder.source(), {})
    assert sorted(records) == [b"1,x", b"2,y", b"3,z"]
    again = feeder.source()
    assert list(again.units(json.loads(json.dumps(progress)))) == []


def test_a_large_file_is_read_on_at_its_offset_with_the_right_line_numbers(feeder: Feeder) -> None:
    lines = [f"{number}".encode() for number in range(100)]
    feeder.put("a.csv", b"\n".join(lines))
    first, progress = consumed(feeder.source(), {}, rows=30, commits=2)
    source = feeder.source()
    (unit,) = source.units(progress)
    chunks = list(source.read(unit, rows=1000, max_bytes=1 << 20))
    assert [*first, *(record for chunk in chunks for record in chunk.records)] == lines
    assert chunks[0].positions[0] == 61
    assert chunks[-1].next == unit.end


def test_a_file_that_another_half_was_put_before_is_not_read_on(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n2\n3\n")
    _, progress = consumed(feeder.source(), {}, rows=1, commits=1)
    feeder.put("a.csv", b"9\n2\n3\n")
    with pytest.raises(UnitChanged, match="first 2 bytes"):
        consumed(feeder.source(), progress)


def test_a_finished_file_with_other_content_is_a_unit_that_fails(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    _, progress = consumed(feeder.source(), {})
    feeder.put("a.csv", b"1\n2\n")
    (unit,) = feeder.source().units(progress)
    assert "another name" in unit.change


def test_a_finished_file_that_was_only_touched_is_still_finished(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    source = feeder.source()
    _, progress = consumed(source, {})
    done = progress["done"]
    assert isinstance(done, dict)
    touched: dict[str, JsonValue] = {key: f"2-0-{str(text).rpartition('-')[2]}" for key, text in done.items()}
    assert list(feeder.source().units({**progress, "done": touched})) == []


def test_a_file_that_grows_while_it_is_read_is_not_finished(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    source = feeder.source()
    (unit,) = source.units({})
    feeder.put("a.csv", b"1\n2\n")
    with pytest.raises(UnitChanged, match="4 bytes"):
        list(source.read(unit, rows=10, max_bytes=1000))


def test_a_young_file_is_left_to_a_later_run(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    source = feeder.source(settle=timedelta(hours=3))
    assert list(source.units({})) == []
    assert source.notes[0].startswith("1 files changed less than 3:00:00 ago")


def test_a_record_with_too_many_bytes_is_named_by_its_line(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n" + b"x" * 100 + b"\n")
    source = feeder.source(most_bytes=50)
    (unit,) = source.units({})
    with pytest.raises(RecordTooLong, match="record at 2 has more than 50 bytes"):
        list(source.read(unit, rows=10, max_bytes=1000))


def test_finished_files_are_archived_under_their_digest_and_then_forgotten(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    _, progress = consumed(feeder.source(after="archive"), {})
    source = feeder.source(after="archive")
    assert list(source.units(progress)) == []
    (unit,) = source.finished(progress)
    assert "moved to" in source.put_away(unit, source.stores)
    assert feeder.names() == []
    (name,) = feeder.names(feeder.archive)
    assert name.startswith("a.csv-")
    feeder.put("b.csv", b"2\n")
    _, progress = consumed(feeder.source(after="archive"), progress)
    done = progress["done"]
    assert isinstance(done, dict)
    assert len(done) == 1, "the archived file is forgotten"


def with_a_finished_file(feeder: Feeder) -> tuple[DirectorySource, SourceUnit, CanonicalPath]:
    """Return the source of a committed file, the unit, and its place in the archive, where nothing is yet."""
    feeder.put("a.csv", b"1\n")
    _, progress = consumed(feeder.source(after="archive"), {})
    source = feeder.source(after="archive")
    source.units(progress)
    (unit,) = source.finished(progress)
    feeder.system.mkdirs(feeder.archive)
    return source, unit, feeder.archive.child(f"a.csv-{unit.identity.rpartition('-')[2][:16]}")


def test_the_archive_keeps_what_is_there_under_the_same_name(feeder: Feeder) -> None:
    source, unit, place = with_a_finished_file(feeder)
    feeder.system.write(place, [b"other"])
    with pytest.raises(UnitChanged, match="other content"):
        source.put_away(unit, source.stores)
    assert feeder.names() == ["a.csv"]
    feeder.system.write(place, [b"1\n"])
    source.put_away(unit, source.stores)
    assert feeder.names() == []


@pytest.mark.parametrize("after", ["archive", "delete"])
def test_a_file_with_other_bytes_than_were_read_is_not_put_away(feeder: Feeder, after: str) -> None:
    feeder.put("a.csv", b"1\n")
    _, progress = consumed(feeder.source(after=after), {})
    source = feeder.source(after=after)
    source.units(progress)
    (unit,) = source.finished(progress)
    feeder.put("a.csv", b"2\n")
    with pytest.raises(UnitChanged, match="bytes"):
        source.put_away(unit, source.stores)
    assert feeder.names() == ["a.csv"]


def test_a_deleted_file_is_gone_and_nothing_beside_it(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    feeder.put("b.txt", b"1\n")
    source = feeder.source(after="delete")
    _, progress = consumed(source, {})
    (unit,) = source.finished(progress)
    assert source.put_away(unit, source.stores) == "deleted"
    assert feeder.names() == ["b.txt"]


def test_more_kept_files_than_are_remembered_are_refused(feeder: Feeder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "MOST_REMEMBERED", 1)
    feeder.put("a.csv", b"1\n")
    feeder.put("b.csv", b"2\n")
    with pytest.raises(TooManyFiles, match="after: archive"):
        feeder.source().units({})
    assert len(feeder.source(after="delete").units({})) == 2


def test_a_pattern_with_a_slash_looks_into_directories(feeder: Feeder) -> None:
    feeder.system.mkdirs(feeder.directory.child("day"))
    feeder.system.write(feeder.directory.child("day").child("a.csv"), [b"1\n"])
    feeder.put("b.csv", b"2\n")
    source = feeder.source(pattern="*/*.csv")
    assert names_of(source.units({})) == ["a.csv"]


def test_older_files_are_read_first_and_then_by_name(feeder: Feeder, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = datetime(2026, 3, 1, tzinfo=UTC)
    files = [
        SeenFile(path=feeder.directory.child(name), size=1, modified=begin + timedelta(seconds=age))
        for name, age in (("c.csv", 0), ("b.csv", 0), ("a.csv", 1))
    ]
    monkeypatch.setattr(DirectorySource, "_listed", lambda _: iter(files))
    assert names_of(feeder.source().units({})) == ["b.csv", "c.csv", "a.csv"]


def test_a_touched_file_stays_and_a_note_says_so(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    _, progress = consumed(feeder.source(after="delete"), {})
    done = progress["done"]
    assert isinstance(done, dict)
    touched: dict[str, JsonValue] = {key: f"2-0-{str(text).rpartition('-')[2]}" for key, text in done.items()}
    source = feeder.source(after="delete")
    assert list(source.units({**progress, "done": touched})) == []
    assert list(source.finished({**progress, "done": touched})) == []
    assert source.notes[0].startswith("1 files were touched")


def test_a_finished_file_is_remembered_while_another_pattern_is_read(feeder: Feeder) -> None:
    feeder.put("a.csv", b"1\n")
    feeder.put("b.csv", b"2\n")
    _, progress = consumed(feeder.source(), {})
    feeder.put("a2.csv", b"3\n")
    records, progress = consumed(feeder.source(pattern="a*.csv"), progress)
    assert records == [b"3"]
    assert consumed(feeder.source(), progress)[0] == []


def test_what_is_appended_while_the_archive_is_compared_stays(feeder: Feeder, monkeypatch: pytest.MonkeyPatch) -> None:
    source, unit, place = with_a_finished_file(feeder)
    feeder.system.write(place, [b"1\n"])  # so that it is compared, not renamed
    compared = put_away.digest_of

    def append(system: FileSystem, path: CanonicalPath) -> str:
        found = compared(system, path)
        feeder.put("a.csv", b"1\n2\n")
        return found

    monkeypatch.setattr(put_away, "digest_of", append)
    with pytest.raises(UnitChanged):
        source.put_away(unit, source.stores)
    assert feeder.names() == ["a.csv"]
