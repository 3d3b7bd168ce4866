"""Instances that are judged where they are copied to, by a program that stands for Spark."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.replications import KEYS, End, Replication, outcomes
from tests.integration.replications import hour as hour_of
from tests.integration.validated_runs import SUITE, put_validator
from tests.testbed.s3 import S3Store
from toolkit.cli.main import main

BAD = {"clicks/2026-03-01-01/part-0": b"bad clicks"}


def hour(number: int, *, flag: bool = True) -> dict[str, bytes]:
    """The files of an instance, as Spark reads them: in no other directory."""
    return hour_of(number, ["part-0", "part-1"], flag=flag)


@pytest.fixture
def copying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replication:
    """Three hours of data, of which the second is bad."""
    ends = [tmp_path / name for name in ("from", "to")]
    for each in ends:
        each.mkdir()
    found = Replication(
        directory=tmp_path,
        sources={"primary": End(uri=f"file://{ends[0]}")},
        target=End(uri=f"file://{ends[1]}"),
        of_target=", quality: {suites: [clicks], format: json}",
        more="availability_flag: _SUCCESS",
    )
    suite = found.repo / "expectations/clicks.yaml"
    suite.parent.mkdir()
    suite.write_text(SUITE)
    for number in range(3):
        found.sources["primary"].fill(hour(number))
    found.sources["primary"].fill(BAD)
    put_validator(tmp_path / "bin", trace=tmp_path / "trace", hang=tmp_path / "hang")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    return found


@pytest.fixture
def on_store(s3: S3Store, s3_bucket: str, copying: Replication) -> Replication:
    """The same, copied to an object store."""
    return replace(copying, target=End(uri=f"s3a://{s3_bucket}/to", conf=s3.settings))


def decide(copying: Replication, verb: str) -> int:
    """A person's decision about the bad hour."""
    options = ("--time", KEYS[1], "--cluster", "backup", "--reason", "known", "--config-repo", str(copying.repo))
    return main(["quality", verb, "clicks", *options])


def test_data_that_is_validated_is_never_published_incomplete(
    copying: Replication, capsys: pytest.CaptureFixture[str]
) -> None:
    more = f"{copying.more}\nproperties: {{ignoreErrors: true, publishIncomplete: true}}"
    assert replace(copying, more=more).run()[0] == 2
    assert "is never published incomplete; remove publishIncomplete" in capsys.readouterr().err
    assert copying.target.files(hidden=True) == {}


def test_a_bad_instance_is_blocked_and_the_others_go_until_somebody_releases_it(copying: Replication) -> None:
    code, result = copying.run()
    reported = [(KEYS[0], "done", None), (KEYS[1], "failed", "quality_failed"), (KEYS[2], "done", None)]
    assert (code, outcomes(result)) == (4, reported)  # some were done
    assert copying.target.files() == hour(0) | hour(2)
    trace = (copying.directory / "trace").read_text()
    code, result = copying.run()
    assert (code, outcomes(result)) == (1, [(KEYS[1], "failed", "quality_failed")])
    assert (copying.directory / "trace").read_text() == trace, "its verdict is known"
    assert decide(copying, "release") == 0
    assert copying.target.files() == hour(0) | hour(1) | hour(2) | BAD
    assert copying.run()[1]["items"] == []
    assert copying.feedctl("verify", "clicks", "--cluster", "backup")[0] == 0


def test_what_was_rejected_is_gone_and_its_mended_source_is_copied(copying: Replication) -> None:
    copying.run()
    assert decide(copying, "reject") == 0
    assert not [name for name in copying.target.files(hidden=True) if "01-01" in name]
    copying.sources["primary"].fill(hour(1))
    assert copying.run()[0] == 0
    assert copying.target.files() == hour(0) | hour(1) | hour(2)


@pytest.mark.slow
def test_on_an_object_store_what_is_blocked_has_no_flag_until_somebody_releases_it(
    on_store: Replication,
) -> None:
    hour_1 = ("--start", KEYS[1])
    for _ in range(2):
        code, result = on_store.run(*hour_1)
        assert (code, outcomes(result)) == (1, [(KEYS[1], "failed", "quality_failed")])
        assert on_store.target.files() == hour(1, flag=False) | BAD
    assert len((on_store.directory / "trace").read_text().split()) == 1, "its verdict is known"
    assert decide(on_store, "release") == 0
    assert on_store.target.files(hidden=True) == hour(1) | BAD
    newer = BAD | {"clicks/2026-03-01-01/part-0": b"more bad clicks"}
    on_store.sources["primary"].fill(newer)
    for _ in range(2):
        assert outcomes(on_store.run(*hour_1)[1]) == [(KEYS[1], "failed", "quality_failed")]
    assert len((on_store.directory / "trace").read_text().split()) == 2, "also where an earlier one was published"
    assert decide(on_store, "release") == 0
    assert on_store.target.files(hidden=True) == hour(1) | newer
    (found,) = on_store.recorded(KEYS[1]).values()
    assert all(each.digest for name, each in found.items() if name != "_SUCCESS")


@pytest.mark.slow
def test_on_an_object_store_what_was_rejected_is_removed_and_what_was_announced_is_not(
    on_store: Replication,
) -> None:
    hour_1 = ("--start", KEYS[1])
    on_store.run(*hour_1)
    on_store.target.fill({"clicks/2026-03-01-01/_SUCCESS": b""})
    assert decide(on_store, "reject") == 2
    assert on_store.target.files() == hour(1) | BAD
    flag = on_store.target.at("clicks/2026-03-01-01/_SUCCESS")
    on_store.target.system.delete(flag, below=flag.parent)
    assert decide(on_store, "reject") == 0
    assert on_store.target.files(hidden=True) == {}
    assert outcomes(on_store.run(*hour_1)[1]) == [(KEYS[1], "failed", "quality_failed")]
    assert on_store.target.files() == hour(1, flag=False) | BAD, "it is a copy of what the source still has"
