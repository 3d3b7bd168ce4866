"""Tests of `ignoreErrors`: what becomes of an instance with files that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.unit.actions.fake_action import context
from toolkit.actions.guard import Guard
from toolkit.el import CanonicalPath, parse_instant
from toolkit.replication.planner import ReplicationPlanner
from toolkit.replication.publish import Published, Publisher
from toolkit.replication.targets import CopyRules, ReplicationTarget
from toolkit.runs.stop import NeverStopped
from toolkit.storage import LocalFileSystem, PermissionDenied, StorageError
from toolkit.transfer.errors import FilesFailed

FLAG = "_SUCCESS"


class Unreadable(LocalFileSystem):
    """A disk with files that cannot be read, and names that cannot be written."""

    def __init__(self, *names: str, written: bool = False) -> None:
        super().__init__()
        self.names, self.written = names, written

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        if path.name in self.names and "/from/" in path.path and not self.written:
            raise PermissionDenied(path=path)
        return super().read(path, offset=offset, length=length)

    def write(self, path: CanonicalPath, chunks: object, *, overwrite: bool = True) -> None:
        if path.name in self.names and self.written:
            raise PermissionDenied(path=path)
        super().write(path, chunks, overwrite=overwrite)  # type: ignore[arg-type]


def fill(root: Path, **files: str) -> None:
    (root / "x").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / "x" / name).write_text(text)


def seen(root: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in (root / "x").iterdir()} if (root / "x").exists() else {}


def publish(
    tmp_path: Path, system: LocalFileSystem, *, flag: str = FLAG, publish_incomplete: bool = False
) -> Published:
    base = CanonicalPath.parse(f"file://{tmp_path}/to")
    target = ReplicationTarget(
        feed="f",
        cluster="backup",
        counterpart="primary",
        instance_key="2026-03-01T00:00Z",
        source=CanonicalPath.parse(f"file://{tmp_path}/from/x"),
        target=base.child("x"),
        target_base=base,
        flag=flag,
        rules=CopyRules(ignore_errors=True, publish_incomplete=publish_incomplete),
    )
    planner = ReplicationPlanner(
        storage=lambda _: system, check=lambda: None, nominal=parse_instant("2026-03-02T00:00Z")
    )
    plan = planner.plan(target)
    (item,) = plan.items
    guard = Guard(run=NeverStopped(), conditions=())
    work = replace(context(guard.run), guard=guard, stores=lambda _: system, run_name="1")
    return Publisher(target=target, item=item, work=work).publish(is_last=True)


def test_files_that_cannot_be_read_are_named_and_the_others_wait_without_the_flag(tmp_path: Path) -> None:
    fill(tmp_path / "from", a="a", b="b", c="c", _SUCCESS="")
    with pytest.raises(FilesFailed, match=r"2 files failed, .*all: b, c"):
        publish(tmp_path, Unreadable("b", "c"))
    assert seen(tmp_path / "to") == {"a": "a"}
    assert [each.name for each in (tmp_path / "to").iterdir()] == ["x"]
    assert publish(tmp_path, LocalFileSystem()).is_complete
    assert seen(tmp_path / "to") == seen(tmp_path / "from")


def test_an_instance_that_is_announced_stays_as_it_is(tmp_path: Path) -> None:
    fill(tmp_path / "from", a="newer", b="newer", _SUCCESS="")
    fill(tmp_path / "to", a="a", b="b", _SUCCESS="")
    with pytest.raises(FilesFailed):
        publish(tmp_path, Unreadable("b"))
    assert seen(tmp_path / "to") == {"a": "a", "b": "b", FLAG: ""}


def test_without_a_flag_nothing_of_it_is_seen(tmp_path: Path) -> None:
    fill(tmp_path / "from", a="a", b="b")
    with pytest.raises(FilesFailed):
        publish(tmp_path, Unreadable("b"), flag="")
    assert not list((tmp_path / "to").iterdir() if (tmp_path / "to").exists() else ())


@pytest.mark.parametrize("flag", [FLAG, ""])
def test_the_feed_may_say_that_it_is_announced_and_what_the_target_has_stays(tmp_path: Path, flag: str) -> None:
    fill(tmp_path / "from", a="newer", b="newer", c="c", _SUCCESS="")
    fill(tmp_path / "to", a="a", b="b", gone="gone", _SUCCESS="")
    published = publish(tmp_path, Unreadable("b", "c"), flag=flag, publish_incomplete=True)
    assert published.is_complete
    assert "2 files failed" in published.notes[0]
    assert "all: b, c" in published.notes[0]
    assert published.digests.keys() >= {"a"}
    assert seen(tmp_path / "to") == {"a": "newer", "b": "b", FLAG: ""}
    with pytest.raises(FilesFailed):  # nothing else is new, so that it is not announced again
        publish(tmp_path, Unreadable("b", "c"), flag=flag, publish_incomplete=True)
    assert seen(tmp_path / "to") == {"a": "newer", "b": "b", FLAG: ""}
    assert publish(tmp_path, LocalFileSystem(), flag=flag, publish_incomplete=True).is_complete
    assert seen(tmp_path / "to") == seen(tmp_path / "from")


@pytest.mark.parametrize(
    "system",
    [
        lambda: Unreadable("b", written=True),
        lambda: Unreadable(FLAG),
        lambda: Unreadable("a", "b", FLAG),
        lambda: Unreadable("a", "b"),
    ],
    ids=["target", "flag", "everything", "all data"],
)
def test_nothing_is_announced_when_more_than_some_files_cannot_be_read(
    tmp_path: Path, system: Callable[[], LocalFileSystem]
) -> None:
    fill(tmp_path / "from", a="a", b="b", _SUCCESS="")
    with pytest.raises(StorageError):
        publish(tmp_path, system(), publish_incomplete=True)
    assert seen(tmp_path / "to") == {}
