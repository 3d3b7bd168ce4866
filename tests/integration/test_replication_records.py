"""What replication knows of what it copied: digests in the ledger, what they decide, and how they are verified."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from xxhash import xxh3_128_hexdigest

from tests.e2e.commands import BIN
from tests.integration.replications import DUE, KEYS, End, Replication, hour, outcomes
from tests.integration.test_replication_safety import forget_the_end
from tests.testbed.s3 import S3Store

HOUR = "clicks/2026-03-01-00"
PART = f"{HOUR}/part-0"


def local(path: Path) -> End:
    """A directory on this disk."""
    path.mkdir(exist_ok=True)
    return End(uri=f"file://{path}")


@pytest.fixture
def copied(tmp_path: Path) -> Replication:
    """Three hours of data, all of them copied."""
    found = Replication(
        directory=tmp_path, sources={"primary": local(tmp_path / "from")}, target=local(tmp_path / "to")
    )
    for number in range(DUE):
        found.sources["primary"].fill(hour(number))
    assert found.run()[0] == 0
    return found


def swap(file: Path) -> None:
    """Change the bytes of a file, and neither its size nor its time."""
    times = file.stat()
    file.write_bytes(file.read_bytes().swapcase())
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def reasons(result: dict[str, list[dict[str, object]]]) -> list[object]:
    """Why files of each item were copied."""
    return [item["reasons"] for item in result["items"]]


def test_the_ledger_has_each_file_with_its_digest_and_the_time_of_its_source(copied: Replication) -> None:
    (found,) = copied.recorded(KEYS[0]).values()
    source = copied.directory / "from" / HOUR
    assert {name: (each.size, each.digest) for name, each in found.items()} == {
        name.removeprefix(f"{HOUR}/"): (len(content), xxh3_128_hexdigest(content)) for name, content in hour(0).items()
    }
    modified = found["part-0"].modified
    assert modified is not None
    assert modified.timestamp() == pytest.approx((source / "part-0").stat().st_mtime, abs=1e-5)
    (source / "part-0").write_bytes(b"new")
    (source / "deep/part-1").unlink()
    assert reasons(copied.run("--start", KEYS[0])[1]) == [{"size": 1}]
    (again,) = copied.recorded(KEYS[0]).values()
    assert (again["part-0"].digest, set(again)) == (xxh3_128_hexdigest(b"new"), {"_SUCCESS", "part-0"})
    assert again["_SUCCESS"] == found["_SUCCESS"]


def test_a_correction_of_the_same_size_with_an_older_time_is_copied(copied: Replication) -> None:
    corrected = copied.directory / "from" / PART
    swap(corrected)
    os.utime(corrected, (1_700_000_000, 1_700_000_000))
    code, result = copied.run("--start", KEYS[0])
    assert (code, reasons(result)) == (0, [{"time": 1}])
    assert copied.target.files()[PART] == corrected.read_bytes()
    assert copied.run("--start", KEYS[0])[1]["items"] == []


@pytest.mark.parametrize("side", ["from", "to"])
def test_rehash_finds_what_size_and_time_do_not_show(copied: Replication, side: str) -> None:
    swap(copied.directory / side / PART)
    assert copied.run("--start", KEYS[0])[1]["items"] == []
    code, result = copied.run("--start", KEYS[0], "--rehash")
    assert (code, reasons(result)) == (0, [{"digest": 1}])
    assert copied.target.files()[PART] == (copied.directory / "from" / PART).read_bytes()
    assert copied.run("--start", KEYS[0], "--rehash")[1]["items"] == []
    assert copied.feedctl("verify", "clicks", "--cluster", "backup")[0] == 0


def test_a_file_that_only_has_another_time_is_not_copied_by_rehash(copied: Replication) -> None:
    os.utime(copied.directory / "from" / PART)
    assert copied.run("--start", KEYS[0], "--rehash")[1]["items"] == []


def test_what_a_run_copied_that_died_before_it_could_write_digests_down_is_not_told_wrongly(
    copied: Replication,
) -> None:
    changed = copied.directory / "from" / PART
    changed.write_bytes(b"new")
    with sqlite3.connect(copied.directory / "ledger.db") as ledger:
        kept = ledger.execute("SELECT content FROM manifest WHERE instance_key = ?", (KEYS[0],)).fetchall()
        assert copied.run("--start", KEYS[0])[0] == 0
        ledger.execute("UPDATE manifest SET content = ? WHERE instance_key = ?", (*kept[0], KEYS[0]))
    forget_the_end(copied)
    code, result = copied.run("--start", KEYS[0])
    assert (code, reasons(result)) == (0, [{"time": 1}])  # the ledger does not know the file of this time
    code, found = copied.feedctl("verify", "clicks", "--start", KEYS[0])
    assert (code, found["instances"][0]["counts"]["different"]) == (0, 0)


def test_nothing_is_said_of_the_digests_of_what_another_run_copied_and_died(copied: Replication) -> None:
    source, place = (copied.directory / end / HOUR for end in ("from", "to"))
    (source / "part-0").write_bytes(b"new")
    with sqlite3.connect(copied.directory / "ledger.db") as ledger:
        ((run,),) = ledger.execute("SELECT run_id FROM run WHERE instance_key = ?", (KEYS[0],))
    forget_the_end(copied)
    shutil.copytree(source, place.parent / f".feedctl-copy-{run}-{place.name}")  # killed between the two renames
    place.rename(place.parent / f".feedctl-old-{run}-{place.name}")
    assert copied.run("--start", KEYS[0])[0] == 0
    assert copied.target.files(HOUR, hidden=True) == hour(0) | {PART: b"new"}
    assert copied.recorded(KEYS[0]) == {}
    code, found = copied.feedctl("verify", "clicks", "--start", KEYS[0])
    assert (code, found["instances"][0]["compared_with_source"]) == (0, 3)


def test_costs_are_in_the_ledger_whatever_the_result_shows(copied: Replication) -> None:
    code, found = copied.feedctl("instance", "list", "clicks", "--life-cycle", "replication", "--start", KEYS[1])
    (counters,) = [each["counters"] for each in found["instances"]]
    assert (code, counters["COPY"], counters["BYTESCOPIED"]) == (0, 3, sum(map(len, hour(1).values())))
    assert counters["TIMETAKEN"] >= 0


def test_what_the_targets_retention_has_not_yet_taken_away_is_verified_however_old_it_is(copied: Replication) -> None:
    """The runs of that retention act for the times of a scheduler, and verify for now."""
    short = replace(copied, of_target=", retention: {limit: days(1)}")
    swap(copied.directory / "to" / PART)
    code, found = short.feedctl("verify", "clicks", "--start", KEYS[0])
    assert (code, found["instances"][0]["counts"]["different"]) == (4, 1)


def test_verify_says_what_is_missing_extra_and_different_and_nothing_of_what_is_equal(copied: Replication) -> None:
    code, found = copied.feedctl("verify", "clicks", "--cluster", "backup")
    assert (code, found["files"], len(found["instances"])) == (0, 9, 3)
    assert {each["compared_with_source"] for each in found["instances"]} == {0}
    swap(copied.directory / "to" / PART)
    (copied.directory / "to" / HOUR / "deep/part-1").unlink()
    (copied.directory / "to" / HOUR / "own").write_text("x")
    (copied.directory / "to/clicks/2026-03-01-01/part-0").write_text("short")
    code, found = copied.feedctl("verify", "clicks", "--cluster", "backup")
    named = {
        each["path"].rpartition("clicks/")[2]: each["verdict"] for i in found["instances"] for each in i["differences"]
    }
    assert (code, named) == (
        4,
        {
            "2026-03-01-00/part-0": "different",
            "2026-03-01-00/deep/part-1": "missing",
            "2026-03-01-00/own": "extra",
            "2026-03-01-01/part-0": "different",
        },
    )
    assert copied.feedctl("verify", "clicks", "--start", KEYS[2])[0] == 0


def test_what_the_ledger_has_no_digests_of_is_compared_with_the_source(copied: Replication) -> None:
    with sqlite3.connect(copied.directory / "ledger.db") as ledger:
        ledger.execute("DELETE FROM manifest")
    code, found = copied.feedctl("verify", "clicks", "--start", KEYS[0])
    assert (code, found["instances"][0]["compared_with_source"]) == (0, 3)
    swap(copied.directory / "to" / PART)
    assert copied.feedctl("verify", "clicks")[0] == 4
    for number in range(DUE):
        source = copied.sources["primary"]
        source.system.delete(source.at(f"clicks/2026-03-01-{number:02}"), below=source.root)
        copied.target.system.delete(copied.target.at(f"clicks/2026-03-01-{number:02}"), below=copied.target.root)
    code, found = copied.feedctl("verify", "clicks")
    assert (code, {each["problem"]["code"] for each in found["instances"]}) == (1, {"nothing_to_compare"})


def test_what_was_never_copied_is_nothing_to_verify(tmp_path: Path) -> None:
    copying = Replication(
        directory=tmp_path, sources={"primary": local(tmp_path / "from")}, target=local(tmp_path / "to")
    )
    copying.sources["primary"].fill(hour(0))
    assert copying.run("--start", KEYS[1])[0] == 75
    code, found = copying.feedctl("verify", "clicks", "--start", KEYS[0])
    assert (code, found["instances"]) == (0, [])


def test_an_instance_that_is_being_copied_is_not_told_as_different(copied: Replication) -> None:
    (copied.directory / "to" / PART).unlink()
    with sqlite3.connect(copied.directory / "ledger.db") as ledger:
        ledger.execute("UPDATE run SET status = 'running', ended_at = NULL WHERE instance_key = ?", (KEYS[0],))
    code, found = copied.feedctl("verify", "clicks", "--start", KEYS[0])
    assert (code, found["instances"][0]["problem"]["code"]) == (75, "being_copied")


def test_parts_of_several_sources_are_verified_each_by_its_own_digests(tmp_path: Path) -> None:
    sources = {name: local(tmp_path / name) for name in ("east", "west")}
    copying = Replication(
        directory=tmp_path,
        sources=sources,
        target=local(tmp_path / "to"),
        more="availability_flag: _SUCCESS\npartitions: [colo]",
        partition=dict.fromkeys(sources, "${cluster.colo}"),
    )
    for name, end in sources.items():
        end.fill(hour(0, [f"{name}/part-0"]))
    assert copying.run(time=KEYS[0])[0] == 0
    code, found = copying.feedctl("verify", "clicks")
    assert (code, [each["files"] for each in found["instances"]]) == (0, [1, 1])
    swap(tmp_path / "to" / HOUR / "west/part-0")
    code, found = copying.feedctl("verify", "clicks", "--source", "east")
    assert (code, len(found["instances"])) == (0, 1)
    assert copying.feedctl("verify", "clicks", "--source", "west")[0] == 4


def test_names_that_are_no_unicode_are_recorded_and_named(copied: Replication) -> None:
    name = os.fsdecode(b"no-unicode-\xff")
    (copied.directory / "from" / HOUR / name).write_text("x")
    assert copied.run("--start", KEYS[0])[0] == 0
    assert name in next(iter(copied.recorded(KEYS[0]).values()))
    (copied.directory / "to" / HOUR / name).unlink()
    for form in ("text", "json"):
        command = [str(BIN / "feedctl"), "verify", "clicks", "--config-repo", str(copied.repo), "--output", form]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, "no-unicode-" in ran.stdout) == (4, True), ran.stderr


def test_what_stays_at_the_target_by_the_feeds_wish_is_no_difference(copied: Replication) -> None:
    stays = replace(copied, more="availability_flag: _SUCCESS\nproperties: {removeDeletedFiles: false}")
    (copied.directory / "to" / HOUR / "own").write_text("x")
    (copied.directory / "from" / PART).write_text("new")
    assert outcomes(stays.run("--start", KEYS[0])[1]) == [(KEYS[0], "done", None)]
    assert stays.feedctl("verify", "clicks")[0] == 0
    (copied.directory / "to" / HOUR / "own").write_text("y")
    assert stays.feedctl("verify", "clicks")[0] == 4


@pytest.mark.parametrize("properties", ["", "\nproperties: {removeDeletedFiles: false}"], ids=["mirror", "keep"])
def test_what_has_neither_digests_nor_a_source_is_called_neither_equal_nor_different(
    copied: Replication, properties: str
) -> None:
    copying = replace(copied, more=f"availability_flag: _SUCCESS{properties}")
    with sqlite3.connect(copied.directory / "ledger.db") as ledger:
        ledger.execute("DELETE FROM manifest WHERE instance_key = ?", (KEYS[0],))
    source = copied.sources["primary"]
    source.system.delete(source.at(HOUR), below=source.root)
    code, found = copying.feedctl("verify", "clicks", "--start", KEYS[0])
    (instance,) = found["instances"]
    assert (code, instance["differences"], instance["problem"]["code"]) == (1, [], "nothing_to_compare")


def test_a_source_of_which_only_the_flag_is_left_takes_nothing_away(copied: Replication) -> None:
    source = copied.directory / "from" / HOUR
    (source / "part-0").unlink()
    shutil.rmtree(source / "deep")
    code, result = copied.run("--start", KEYS[0])
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "source_empty")
    assert copied.target.files(HOUR) == hour(0)


def test_a_file_that_stays_and_has_lost_its_bytes_comes_from_the_source_again_where_all_is_staged(
    copied: Replication,
) -> None:
    staging = replace(copied, more="availability_flag: _SUCCESS\nproperties: {preservePermission: true}")
    swap(copied.directory / "to" / PART)
    (copied.directory / "from" / HOUR / "late").write_text("late")
    assert staging.run("--start", KEYS[0])[0] == 0
    assert copied.target.files(HOUR) == hour(0) | {f"{HOUR}/late": b"late"}
    assert copied.feedctl("verify", "clicks", "--start", KEYS[0])[0] == 0


def test_a_file_that_stays_is_not_read_so_that_verify_alone_sees_that_it_has_lost_its_bytes(
    copied: Replication,
) -> None:
    swap(copied.directory / "to" / PART)
    (copied.directory / "from" / HOUR / "late").write_text("late")
    assert copied.run("--start", KEYS[0])[0] == 0
    assert copied.target.files(HOUR)[f"{HOUR}/late"] == b"late"
    code, found = copied.feedctl("verify", "clicks", "--start", KEYS[0])
    assert (code, found["instances"][0]["counts"]["different"]) == (4, 1)
    assert copied.run("--start", KEYS[0], "--rehash")[0] == 0
    assert copied.target.files(HOUR) == hour(0) | {f"{HOUR}/late": b"late"}


@pytest.mark.slow
def test_a_copy_on_an_object_store_is_verified_when_the_source_is_gone(
    s3: S3Store, s3_bucket: str, tmp_path: Path
) -> None:
    source = local(tmp_path / "from")
    target = End(uri=f"s3a://{s3_bucket}/to", conf=s3.settings)
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target)
    source.fill(hour(0))
    assert copying.run(time=KEYS[0])[0] == 0
    source.system.delete(source.at(HOUR), below=source.root)
    code, found = copying.feedctl("verify", "clicks")
    assert (code, found["files"], found["instances"][0]["compared_with_source"]) == (0, 3, 0)
