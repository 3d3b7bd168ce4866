"""Files of a config repo show nothing but themselves, and reading them ends.

Against: the author of a pull request, and whoever else may write where a config repo is read that is no clean checkout:
a plain directory, or a checkout with changes. Defended: no link below the root is followed, so that a message about a
file never shows lines of one that only the reader may read; pipes, devices, depth and size do not stop the reader; the
date of a commit, which its author chooses, is not believed when it is in the future.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import REPO, checkout, git, write
from toolkit.cli.lint import LintFlags
from toolkit.cli.lint_run import BaselineFile, lint_config_repo
from toolkit.cli.option_values import reference_time
from toolkit.config_source import (
    Snapshot,
    SnapshotId,
    SnapshotKind,
    StaleSnapshot,
    from_directory,
    open_snapshot,
    require_age,
)
from toolkit.el import Frequency, parse_instant
from toolkit.entities.loader import load
from toolkit.entities.problems import ConfigError
from toolkit.linter.baseline import BadBaseline

SECRET = "password: hunter2"
NOW = parse_instant("2026-03-10T12:00Z")


def plain(root: Path) -> Path:
    return write(root, REPO)


def dirty(root: Path) -> Path:
    return write(checkout(root), {"feeds/new.yaml": "kind: feed\n"})


@pytest.fixture(params=[plain, dirty])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    make: Callable[[Path], Path] = request.param
    write(tmp_path, {"outside/secret.yaml": f"{SECRET}\n- x\n"})
    return make(tmp_path / "root")


@pytest.mark.parametrize("name", ["feeds/evil.yaml", "holds.yaml", "environments/dev.yaml"])
def test_a_link_to_a_file_shows_nothing_of_it(root: Path, tmp_path: Path, name: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(tmp_path / "outside" / "secret.yaml")
    snapshot = open_snapshot(root)
    assert name not in snapshot.files
    with pytest.raises(ConfigError, match=f"{name}: symlink: found a link to") as raised:
        load(snapshot)
    assert "hunter2" not in str(raised.value)


def test_the_link_of_a_repo_file_is_refused(root: Path, tmp_path: Path) -> None:
    (root / "repo.yaml").unlink()
    (root / "repo.yaml").symlink_to(tmp_path / "outside" / "secret.yaml")
    with pytest.raises(ConfigError, match=r"repo\.yaml: symlink: found a link to") as raised:
        load(open_snapshot(root))
    assert "hunter2" not in str(raised.value)


def test_a_link_to_a_folder_is_refused_at_any_depth(root: Path, tmp_path: Path) -> None:
    (root / "feeds" / "a").mkdir()
    (root / "feeds" / "a" / "b").symlink_to(tmp_path / "outside")
    snapshot = open_snapshot(root)
    assert [(each.file, each.rule) for each in snapshot.problems] == [("feeds/a/b", "symlink")]
    assert not any("secret" in name for name in {*snapshot.files, *snapshot.names})


def test_the_digest_of_a_directory_says_nothing_of_what_a_link_leads_to(tmp_path: Path) -> None:
    root = plain(tmp_path / "root")
    write(tmp_path, {"outside.sql": "1"})
    (root / "workflows" / "link.sql").symlink_to(tmp_path / "outside.sql")
    before = from_directory(root).id.value
    write(tmp_path, {"outside.sql": "2"})
    assert from_directory(root).id.value == before


def test_a_config_repo_that_is_named_by_a_link_is_read(tmp_path: Path) -> None:
    plain(tmp_path / "root")
    (tmp_path / "link").symlink_to("root")
    assert set(from_directory(tmp_path / "link").files) == {"repo.yaml", "feeds/clicks.yaml"}


@pytest.mark.parametrize("name", ["holds.yaml", "feeds/pipe.yaml", "workflows/pipe.sql"])
def test_a_pipe_does_not_stop_the_reader(root: Path, name: str) -> None:
    os.mkfifo(root / name)
    snapshot = open_snapshot(root)
    assert name not in snapshot.files
    assert [each.rule for each in snapshot.problems] == ([] if name.startswith("workflows") else ["unreadable"])


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes 1,500 folders, one in the other, below a folder of a config repo; what clears up after tests cannot."""

    def make(place: str) -> Path:
        folder = os.open(write(tmp_path / "root", {**REPO, f"{place}/x.txt": ""}) / place, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("d", dir_fd=folder)
            inner = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(folder)
        return tmp_path / "root"

    yield make
    subprocess.run(["rm", "-rf", str(tmp_path / "root")], check=True)


@pytest.mark.parametrize("place", ["feeds", "docs"])
def test_folders_without_end_are_a_problem(deep: Callable[[str], Path], place: str) -> None:
    snapshot = from_directory(deep(place))
    assert [each.message for each in snapshot.problems] == ["found folders more than 100 levels deep"]
    with pytest.raises(ConfigError, match="found folders more than 100 levels deep"):
        load(snapshot)


def test_a_commit_with_folders_without_end_is_read(tmp_path: Path) -> None:
    root = checkout(tmp_path / "root")
    blob = git(root, "rev-parse", "HEAD:feeds/clicks.yaml")
    git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},feeds/{'d/' * 1500}clacks.yaml")
    git(root, "update-index", "--skip-worktree", f"feeds/{'d/' * 1500}clacks.yaml")
    git(root, "commit", "--quiet", "--message=deep")
    snapshot = open_snapshot(root)
    with pytest.raises(ConfigError):
        load(snapshot)


def test_configuration_as_large_as_the_disk_is_not_read_into_memory(tmp_path: Path) -> None:
    root = plain(tmp_path / "root")
    with (root / "feeds" / "large.yaml").open("wb") as file:
        file.truncate(300 << 20)
    snapshot = from_directory(root)
    assert "feeds/large.yaml" not in snapshot.files
    assert "more than 256 MiB of configuration" in snapshot.problems[0].message


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc/passwd"), os.mkfifo])
def test_a_baseline_is_a_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "baseline.json")
    with pytest.raises(BadBaseline, match="is no file"):
        BaselineFile(name=str(tmp_path / "baseline.json")).read(may_be_missing=False)


def test_a_committed_link_beside_the_baseline_does_not_choose_what_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"profile": "mine\n"})
    (tmp_path / ".baseline.json.new").symlink_to("profile")
    BaselineFile(name=str(tmp_path / "baseline.json")).write(())
    assert (tmp_path / "profile").read_text() == "mine\n"
    assert "schema_version" in (tmp_path / "baseline.json").read_text()


class FixedClock:
    def now(self) -> datetime:
        return NOW


def committed(at: datetime | None) -> Snapshot:
    identity = SnapshotId(kind=SnapshotKind.COMMIT, value="c", committed_at=at)
    return Snapshot(root="/repo", files={}, id=identity)


@pytest.mark.parametrize(
    ("head", "base", "expected"),
    [
        ("2026-03-01T00:00Z", None, "2026-03-01T00:00Z"),
        ("1970-01-01T00:00Z", "2026-03-01T00:00Z", "2026-03-01T00:00Z"),
        ("2026-03-05T00:00Z", "2026-03-01T00:00Z", "2026-03-05T00:00Z"),
        ("2099-01-01T00:00Z", "2026-03-01T00:00Z", "2026-03-10T12:00Z"),
        ("2026-03-01T00:00Z", "9999-12-31T23:59Z", "2026-03-10T12:00Z"),
        ("9999-12-31T23:59Z", None, "2026-03-10T12:00Z"),
        (None, "2026-03-01T00:00Z", "2026-03-10T00:00Z"),
    ],
)
def test_the_time_of_a_lint_is_the_later_of_both_commits_and_never_the_future(
    head: str | None, base: str | None, expected: str
) -> None:
    found = reference_time(
        None,
        committed(None if head is None else parse_instant(head)),
        FixedClock(),
        base=None if base is None else committed(parse_instant(base)),
    )
    assert found == parse_instant(expected)


def test_a_change_cannot_date_itself_before_its_base(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    git(root, "commit", "--quiet", "--allow-empty", "--message=old", at="2001-01-01T00:00:00+00:00")
    flags = LintFlags(config_repo=str(root), against="HEAD~1")
    assert lint_config_repo(flags, FixedClock()).time == parse_instant("2026-03-01T06:40Z")


@pytest.mark.parametrize("after", [timedelta(minutes=6), timedelta(days=40_000)])
def test_a_commit_of_the_future_is_not_young_for_ever(after: timedelta) -> None:
    future = SnapshotId(kind=SnapshotKind.COMMIT, value="c", committed_at=NOW + after)
    with pytest.raises(StaleSnapshot, match="which is in the future"):
        require_age(future, Frequency.parse("days(2)"), NOW)
    require_age(future, None, NOW)


def test_clocks_may_differ_by_some_minutes() -> None:
    ahead = SnapshotId(kind=SnapshotKind.COMMIT, value="c", committed_at=NOW + timedelta(minutes=5))
    require_age(ahead, Frequency.parse("days(2)"), NOW)
