"""Tables that are judged where they come to, between two real metastores, by a program that stands for Spark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from entrypoints import validate
from tests.integration.table_copies import DAYS, TableCopies, outcomes
from tests.integration.validated_tables import validated_sites
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main

BAD = {"clicks/ds=2026-03-02/region=us/part-0": b"bad rows\n"}
KEY = f"{DAYS[1]}T00:00Z"
BLOCKED = [("add", f"ds=2026-03-02/region={region}", "failed", "quality_failed") for region in ("d%2Fe", "us")]


@pytest.fixture
def copies(
    metastore: HiveMetastoreServer,
    other_metastore: HiveMetastoreServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> TableCopies:
    """Two days of data, of which one partition of the second is bad."""
    found = validated_sites(metastore, other_metastore, tmp_path)
    found.source.end.fill(BAD)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    return found


def decide(copies: TableCopies, verb: str) -> int:
    """A person's decision about the bad day."""
    options = ("--time", KEY, "--cluster", "backup", "--reason", "known", "--config-repo", str(copies.repo))
    return main(["quality", verb, "clicks", *options])


def validations(copies: TableCopies) -> int:
    return len((copies.directory / "trace").read_text().split())


def unpublished(copies: TableCopies) -> list[str]:
    return [name for name in copies.target.end.files("", hidden=True) if ".feedctl-staging" in name]


def seen(copies: TableCopies) -> list[str]:
    """The partitions at the target, each as whole as at the source."""
    rows = copies.target.rows()
    assert rows == {name: files for name, files in copies.source.rows().items() if name in rows}
    return sorted(rows)


FIRST, BOTH = ([f"ds={day}/region={region}" for day in days for region in ("d%2Fe", "us")] for days in (DAYS[:1], DAYS))


def test_a_day_with_a_bad_partition_is_not_seen_until_somebody_releases_it(copies: TableCopies) -> None:
    code, result = copies.replicated()
    assert code == 4, result
    assert [each for each in outcomes(result) if each[2] == "failed"] == BLOCKED
    assert seen(copies) == FIRST
    code, result = copies.replicated()
    assert (code, outcomes(result)) == (1, BLOCKED)
    assert validations(copies) == 2, "its verdict is known"
    assert decide(copies, "release") == 0
    assert seen(copies) == BOTH
    assert unpublished(copies) == copies.target.orphans() == []
    assert copies.replicated()[1]["items"] == []


@pytest.mark.extended
def test_what_was_rejected_is_gone_and_what_is_there_stays(copies: TableCopies) -> None:
    copies.source.end.fill(dict.fromkeys(BAD, b"good rows\n"))
    assert copies.replicated()[0] == 0
    copies.source.end.fill(dict.fromkeys(BAD, b"other bad rows\n"))
    again = ("--start", KEY)
    assert copies.replicated(*again)[0] == 1
    before = copies.target.rows()
    assert unpublished(copies)
    assert decide(copies, "reject") == 0
    assert (unpublished(copies), copies.target.rows()) == ([], before)
    copies.source.end.fill(dict.fromkeys(BAD, b"better rows\n"))
    assert copies.replicated(*again)[0] == 0
    assert seen(copies) == BOTH


@pytest.mark.extended
def test_an_import_waits_for_its_release_and_is_told_how_to_go_on(
    copies: TableCopies, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = f"file://{tmp_path}/exports"
    assert copies.exported(to)[0] == 0
    for expected in (4, 1):  # the table itself was made
        code, result = copies.imported(to)
        assert (code, [each for each in outcomes(result) if each[0] != "table"]) == (expected, BLOCKED)
        assert copies.target.rows() == {}
    assert validations(copies) == 1
    assert decide(copies, "release") == 0
    assert f"--feed clicks --cluster backup --start {KEY}" in capsys.readouterr().out
    code, result = copies.imported(to)
    assert code == 0, result
    assert seen(copies) == BOTH[2:]


@pytest.mark.extended
def test_an_instance_of_a_table_is_validated_by_hand(copies: TableCopies, capsys: pytest.CaptureFixture[str]) -> None:
    requested = ["--feed", "clicks", "--cluster", "primary", "--config-repo", str(copies.repo), "--time"]
    assert run_app(validate.app, [*requested, f"{DAYS[0]}T00:00Z"]) == 0
    assert run_app(validate.app, [*requested, KEY]) == 1
    capsys.readouterr()
    assert run_app(validate.app, [*requested, "2026-03-09T00:00Z"]) == 75
    assert "is not there" in capsys.readouterr().err
