"""What a replication must never do, whatever happens: tell half of an instance as all of it, or lose what was there."""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.replications import KEYS, End, Replication, hour, outcomes
from tests.testbed.s3 import S3Store

FLAG = "clicks/2026-03-01-00/_SUCCESS"


def local(path: Path) -> End:
    """A directory on this disk."""
    path.mkdir(exist_ok=True)
    return End(uri=f"file://{path}")


def test_the_flag_comes_after_all_parts_and_not_when_one_of_them_failed(tmp_path: Path) -> None:
    source = local(tmp_path / "from")
    copying = Replication(
        directory=tmp_path,
        sources={"primary": source},
        target=local(tmp_path / "to"),
        more="availability_flag: _SUCCESS\npartitions: [country]",
        partition={"primary": "*"},
    )
    too_long = "z" * 250  # for the name under which a part is copied beside its place
    source.fill(hour(0, ["at/part-0", f"{too_long}/part-0"]))
    code, result = copying.run(time=KEYS[0])
    assert (code, [outcome for _, outcome, _ in outcomes(result)]) == (4, ["done", "failed"])
    assert copying.target.files() == hour(0, ["at/part-0"], flag=False)


@pytest.mark.slow
def test_a_part_that_is_copied_anew_on_an_object_store_does_not_count_as_there(
    s3: S3Store, s3_bucket: str, tmp_path: Path
) -> None:
    sources = {name: local(tmp_path / name) for name in ("east", "west")}
    copying = Replication(
        directory=tmp_path,
        sources=sources,
        target=End(uri=f"s3a://{s3_bucket}/to", conf=s3.settings),
        more="availability_flag: _SUCCESS\npartitions: [colo]",
        partition=dict.fromkeys(sources, "${cluster.colo}"),
    )
    for name, end in sources.items():
        end.fill(hour(0, [f"{name}/part-0"]))
    assert copying.run(time=KEYS[0])[0] == 0
    assert FLAG in copying.target.files()
    broken = tmp_path / "east/clicks/2026-03-01-00/east" / os.fsdecode(b"no-key-\xff")
    broken.write_text("late")
    assert copying.run("--source", "east", "--start", KEYS[0])[0] == 1
    copying.run("--source", "west", "--start", KEYS[0])
    assert FLAG not in copying.target.files()
    broken.unlink()
    assert copying.run("--source", "east", "--start", KEYS[0])[0] == 0
    assert FLAG in copying.target.files()


@pytest.mark.slow
@pytest.mark.parametrize("key", ["../../../escaped", "deep/../../../../escaped", "./part-1", "deep//part-1"])
def test_a_key_that_is_no_path_below_its_instance_is_refused(
    s3: S3Store, s3_bucket: str, tmp_path: Path, key: str
) -> None:
    source = End(uri=f"s3a://{s3_bucket}", conf=s3.settings)
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=local(tmp_path / "to"))
    source.fill(hour(0))
    with s3.client() as client:
        client.put_object(Bucket=s3_bucket, Key=f"clicks/2026-03-01-00/{key}", Body=b"hostile")
    code, result = copying.run(time=KEYS[0])
    assert list(tmp_path.rglob("escaped")) == []
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "bad_name")
    assert copying.target.files(hidden=True) == {}


def killed(copying: Replication) -> None:
    """A run that was killed while it copied its first file, and whose lease is over."""
    with copying.started(time=KEYS[0]) as run:
        while not any(
            files for at, _, files in os.walk(copying.directory) if Path(at).name.startswith(".feedctl-copy-")
        ):
            assert run.poll() is None
            time.sleep(0.05)
        run.kill()
        run.communicate()
    with sqlite3.connect(copying.directory / "ledger.db") as ledger:
        ledger.execute("UPDATE lease SET expires_at = '2026-01-01T00:00:00.000000Z'")


def forget_the_end(copying: Replication) -> None:
    """As if the runs so far had been killed just before they said what became of their items."""
    with sqlite3.connect(copying.directory / "ledger.db") as ledger:
        ledger.execute("UPDATE item SET state = 'intended', settled_at = NULL")
        ledger.execute("UPDATE run SET status = 'killed'")


def events(copying: Replication) -> list[str]:
    """Return what consumers were told."""
    with sqlite3.connect(copying.directory / "ledger.db") as ledger:
        return [kind for (kind,) in ledger.execute("SELECT kind FROM event")]


def test_what_a_killed_run_had_begun_is_not_told_as_there_while_the_source_is_waited_for(tmp_path: Path) -> None:
    source = local(tmp_path / "from")
    copying = Replication(
        directory=tmp_path,
        sources={"primary": source},
        target=local(tmp_path / "to"),
        more="availability_flag: _SUCCESS\nproperties: {mapBandwidth: 1}",
    )
    source.fill(hour(0) | {"clicks/2026-03-01-00/part-0": b"x" * 20_000_000})
    killed(copying)
    (tmp_path / "from" / FLAG).unlink()
    code, result = copying.run(time=KEYS[0])
    assert (code, copying.target.files(hidden=True)) == (75, {})
    assert (result["instances"][0]["notes"], events(copying)) == ([], [])
    source.fill({FLAG: b""})
    code, result = replace(copying, more="availability_flag: _SUCCESS").run(time=KEYS[0])
    assert "1 open copies 0 had been finished" in result["instances"][0]["notes"][0]
    assert (code, events(copying)) == (0, ["available"])


def test_a_part_that_a_killed_run_had_published_is_not_told_as_the_whole_instance(tmp_path: Path) -> None:
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
    assert copying.run("--source", "east", time=KEYS[0])[0] == 0
    forget_the_end(copying)
    code, result = copying.run("--source", "east", time=KEYS[0])
    assert "1 open copies 1 had been finished" in result["instances"][0]["notes"][0]
    assert (code, events(copying)) == (0, [])
    assert copying.run(time=KEYS[0])[0] == 0
    assert events(copying) == ["available"]


def test_what_a_killed_run_had_put_aside_is_not_taken_for_what_the_source_has_now(tmp_path: Path) -> None:
    source, target = local(tmp_path / "from"), local(tmp_path / "to")
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target)
    source.fill(hour(0))
    assert copying.run(time=KEYS[0])[0] == 0
    forget_the_end(copying)
    place = tmp_path / "to/clicks/2026-03-01-00"
    place.rename(place.parent / ".feedctl-old-1-2026-03-01-00")
    source.fill(changed := {name: content.swapcase() for name, content in hour(0).items()})
    while copying.run(time=KEYS[0])[0] != 0:
        assert target.files() == hour(0)
    assert target.files(hidden=True) == changed


def test_an_approval_is_not_good_for_files_that_the_target_got_since(tmp_path: Path) -> None:
    source, target = local(tmp_path / "from"), local(tmp_path / "to")
    copying = Replication(
        directory=tmp_path, sources={"primary": source}, target=target, settings="max_copy: {instances: 0}"
    )
    source.fill(hour(0))
    target.fill({"clicks/2026-03-01-00/part-0": b"old"})
    _, planned = copying.run("--dry-run", time=KEYS[0])
    own = {"clicks/2026-03-01-00/own": b"would go"}
    target.fill(own)
    code, _ = copying.run("--approve", planned["plan_digest"], time=KEYS[0])
    assert (code, target.files().items() >= own.items()) == (3, True)


@pytest.mark.parametrize("partition", [{}, {"east": "*", "west": "*"}, {"east": "x"}], ids=["none", "same", "one"])
def test_sources_that_would_replace_each_others_parts_are_refused(tmp_path: Path, partition: dict[str, str]) -> None:
    sources = {name: local(tmp_path / name) for name in ("east", "west")}
    copying = Replication(
        directory=tmp_path,
        sources=sources,
        target=local(tmp_path / "to"),
        more="availability_flag: _SUCCESS\npartitions: [part]",
        partition=partition,
    )
    for name, end in sources.items():
        end.fill(hour(0, ["x/part-0", f"x/{name}"]))
    assert copying.run(time=KEYS[0])[0] == 2
    assert copying.run("--source", "west", time=KEYS[0])[0] == 2
    assert copying.target.files(hidden=True) == {}


def test_a_source_that_is_not_valid_any_more_is_not_waited_for(tmp_path: Path) -> None:
    sources = {name: local(tmp_path / name) for name in ("east", "west")}
    copying = Replication(directory=tmp_path, sources=sources, target=local(tmp_path / "to"))
    feed = copying.repo / "feeds/clicks.yaml"
    now, before = "start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z", "start: 2020-01-01T00:00Z, end: 2026-03-01T00:00Z"
    feed.write_text(
        feed.read_text().replace(f"east, type: source, validity: {{{now}", f"east, type: source, validity: {{{before}")
    )
    sources["west"].fill(hour(0))
    assert copying.run("--source", "west", time=KEYS[0])[0] == 0
    assert (copying.target.files(), events(copying)) == (hour(0), ["available"])


def test_an_instance_that_was_copied_before_is_brought_back_after_a_kill_while_it_was_copied_again(
    tmp_path: Path,
) -> None:
    source, target = local(tmp_path / "from"), local(tmp_path / "to")
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=target)
    source.fill(hour(0))
    assert copying.run(time=KEYS[0])[0] == 0
    source.fill(changed := {name: content.swapcase() for name, content in hour(0).items()})
    assert copying.run("--start", KEYS[0])[0] == 0
    with sqlite3.connect(tmp_path / "ledger.db") as ledger:
        ((again,),) = ledger.execute("SELECT max(run_id) FROM run")
        ledger.execute("UPDATE item SET state = 'intended', settled_at = NULL WHERE run_id = ?", (again,))
        ledger.execute("UPDATE run SET status = 'killed' WHERE run_id = ?", (again,))
    place = tmp_path / "to/clicks/2026-03-01-00"
    place.rename(place.parent / f".feedctl-copy-{again}-{place.name}")  # killed between the two renames
    (place.parent / f".feedctl-old-{again}-{place.name}").mkdir()
    assert copying.run(time=KEYS[0])[0] == 0
    assert target.files(hidden=True) == changed
    assert copying.run(time=KEYS[0])[1]["instances"][0]["notes"] == ["no instance is due that is not there"]


def test_an_instance_that_comes_in_parts_is_refused_when_no_flag_would_say_that_all_are_there(tmp_path: Path) -> None:
    source = local(tmp_path / "from")
    copying = Replication(
        directory=tmp_path,
        sources={"primary": source},
        target=local(tmp_path / "to"),
        more="partitions: [country]",
        partition={"primary": "*"},
    )
    source.fill(hour(0, ["at/part-0", "de/part-0"], flag=False))
    assert copying.run(time=KEYS[0])[0] == 2
    assert list((tmp_path / "to").iterdir()) == []
