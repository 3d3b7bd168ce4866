"""`feedctl instance list` of a feed: what is there of its instances, on the template's clusters."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from toolkit.availability import PathInstances
from toolkit.el import CanonicalPath
from toolkit.storage import PermissionDenied

_RANGE = ("--start", "2026-03-20T00:00Z", "--end", "2026-03-20T04:00Z")


@pytest.fixture
def data(own_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the clicks of a day: the first hour is there, the second half, of the third a directory."""
    monkeypatch.setenv("FEEDCTL_REPO", str(own_repo))
    day = own_repo.with_name("data") / "data/clicks/2026/03/20"
    for name, content in (("00/part-0", b"abc"), ("00/_SUCCESS", b""), ("01/part-0", b"ab")):
        (day / name).parent.mkdir(parents=True, exist_ok=True)
        (day / name).write_bytes(content)
    (day / "02").mkdir()
    return day


def test_a_feeds_instances_are_told_with_what_is_there_of_them(feedctl: Feedctl, data: Path) -> None:
    heading, *rows = feedctl("instance", "list", "clicks", *_RANGE).rows
    assert heading == ["CLUSTER", "INSTANCE", "STATE", "FILES", "BYTES", "CHANGED", "WHERE"]
    assert [(row[0], row[1][11:13], row[2], row[3], row[4]) for row in rows] == [
        ("primary", "00", "available", "1", "3"),
        ("primary", "01", "partial", "1", "2"),
        ("primary", "02", "empty", "0", "0"),
        ("primary", "03", "missing", "-", "-"),
    ]
    assert rows[0][-1] == f"file://{data}/00"


def test_files_in_directories_of_an_instance_are_counted_without_its_flag(feedctl: Feedctl, data: Path) -> None:
    (data / "00/de/fra").mkdir(parents=True)
    (data / "00/de/fra/part-0").write_bytes(b"12345")
    _, first, *_ = feedctl("instance", "list", "clicks", *_RANGE).rows
    assert first[2:5] == ["available", "2", "8"]


def test_a_directory_that_may_not_be_listed_leaves_the_state_of_its_instance(
    feedctl: Feedctl, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "00/de").mkdir()

    def refused(self: PathInstances, instant: datetime) -> tuple[int, int]:
        del self, instant
        raise PermissionDenied(path=CanonicalPath.parse(f"file://{data}/00/de"))

    monkeypatch.setattr(PathInstances, "content_of", refused)
    _, first, second, *_ = feedctl("instance", "list", "clicks", *_RANGE).rows
    assert (first[2:4], second[2:5]) == (["available", "-"], ["partial", "1", "2"])


def test_json_says_whether_each_may_be_read(feedctl: Feedctl, data: Path) -> None:
    document = feedctl("instance", "list", "clicks", *_RANGE, "--output", "json").document
    assert [(each["state"], each["ready"]) for each in document["instances"]] == [
        ("available", True),
        ("partial", False),
        ("empty", False),
        ("missing", False),
    ]
    assert (document["instances"][3]["where"], document["problems"]) == (f"file://{data}/03", [])


@pytest.mark.usefixtures("data")
def test_instances_are_chosen_by_their_state(feedctl: Feedctl) -> None:
    def hours(*options: str) -> list[str]:
        found = feedctl("instance", "list", "clicks", *_RANGE, *options, "--output", "json").document["instances"]
        return [each["instance"][11:13] for each in found]

    assert hours("--filter-by", "STATUS:missing,STATUS:partial") == ["01", "03"]
    assert hours("--limit", "2") == ["00", "01"]
    assert "one of available, partial" in feedctl("instance", "list", "clicks", "--filter-by", "STATUS:failed").err
    assert "--order-by" in feedctl("instance", "list", "clicks", *_RANGE, "--order-by", "status").err


@pytest.mark.usefixtures("data")
def test_without_a_start_the_newest_that_are_due_are_told(feedctl: Feedctl) -> None:
    for options, number in (((), 10), (("--limit", "12"), 12)):
        found = feedctl("instance", "list", "clicks", *options, "--output", "json").document["instances"]
        times = [each["instance"] for each in found]
        assert (len(times), times) == (number, sorted(times, reverse=True))


def test_a_store_that_refuses_is_told_beside_what_was_seen(feedctl: Feedctl, data: Path) -> None:
    (data / "03").symlink_to(data / "03")
    ran = feedctl("instance", "list", "clicks", *_RANGE, "--output", "json")
    (problem,) = ran.document["problems"]
    assert (ran.code, problem["cluster"], ran.document["instances"]) == (1, "primary", [])
    assert problem["message"] in ran.err


@pytest.mark.usefixtures("repo")
def test_what_cannot_be_looked_at_is_refused_aloud(feedctl: Feedctl) -> None:
    ran = feedctl("instance", "list", "clicks_by_country", "--start", "2026-03-19T23:00Z")
    assert ran.code == 2
    assert "the cluster primary has no registry, so its tables are unknown" in ran.err
    outside = feedctl("instance", "list", "clicks", "--start", "2025-01-01T00:00Z", "--end", "2025-02-01T00:00Z")
    assert "does not lie within the validity of clicks" in outside.err
