"""A unit that is replaced while its store breaks: readers see what was there, or all that comes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context
from toolkit.actions.guard import HELD, CalledOff, Condition, Guard, Refusal
from toolkit.actions.publication import recover
from toolkit.el import CanonicalPath, parse_instant
from toolkit.replication.errors import TargetChanged
from toolkit.replication.planner import ReplicationPlanner
from toolkit.replication.publish import Published, Publisher
from toolkit.replication.targets import CopyRules, ReplicationTarget
from toolkit.runs.stop import NeverStopped
from toolkit.storage import StorageError, StorageFailure
from toolkit.storage.local.file_system import LocalFileSystem

OLD, NEW = {"a": "old", "own": "old"}, {"a": "new", "b": "more"}


class Dead(BaseException):
    """The process is not there any more."""


class Breaking(LocalFileSystem):
    """A disk that fails one effect, before or after it happened, and from then on all when it is dead."""

    def __init__(self, number: int, failure: type[BaseException]) -> None:
        super().__init__(self._count)
        self.left, self.failure = number, failure

    def _count(self) -> None:
        if self.left <= 0 and self.failure is Dead:
            raise Dead
        self.left -= 1
        if self.left == 0:
            raise self.error()

    def error(self) -> BaseException:
        """Return what its caller sees."""
        return Dead() if self.failure is Dead else StorageFailure(path=CanonicalPath.parse("file:///"), detail="broken")


class Forgetful(LocalFileSystem):
    """A disk that does one rename and says that it did not."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.left = number

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        super().rename(source, target)
        self.left -= 1
        if self.left == 0:
            raise StorageFailure(path=source, detail="no answer")


def filled(directory: Path, files: dict[str, str]) -> CanonicalPath:
    directory.mkdir(parents=True)
    for name, text in files.items():
        (directory / name).write_text(text)
    return CanonicalPath.parse(f"file://{directory}")


def seen(directory: Path) -> dict[str, str] | None:
    if not directory.exists():
        return None
    return {each.name: each.read_text() for each in directory.iterdir() if not each.name.startswith(".feedctl")}


def publish(
    tmp_path: Path,
    system: LocalFileSystem,
    *,
    flag: str = "",
    others: tuple[str, ...] = (),
    conditions: Sequence[Condition] = (),
) -> Published:
    """Publish all that is planned for a unit that is there, by a run with the name 1."""
    base = CanonicalPath.parse(f"file://{tmp_path}")
    target = ReplicationTarget(
        feed="clicks",
        cluster="backup",
        counterpart="primary",
        instance_key="2026-03-01T00:00Z",
        source=filled(tmp_path / "from/x", NEW),
        target=filled(tmp_path / "to/x", OLD),
        target_base=base.child("to"),
        flag=flag,
        others=others,
        rules=CopyRules(at_once=1, overwrite=True),
    )
    plain = LocalFileSystem()
    planner = ReplicationPlanner(
        storage=lambda _: plain, check=lambda: None, nominal=parse_instant("2026-03-02T00:00Z")
    )
    (item,) = planner.plan(replace(target, flag="")).items
    guard = Guard(run=NeverStopped(), conditions=conditions)
    work = replace(context(guard.run), guard=guard, stores=lambda _: system, run_name="1")
    return Publisher(target=target, item=item, work=work).publish(is_last=True)


@pytest.mark.parametrize("number", [1, 2])
def test_a_rename_that_happened_although_it_failed_takes_nothing_away(tmp_path: Path, number: int) -> None:
    with pytest.raises(StorageFailure):
        publish(tmp_path, Forgetful(number))
    assert seen(tmp_path / "to/x") == (OLD if number == 1 else NEW)


@pytest.mark.parametrize("failure", [StorageFailure, Dead])
def test_whichever_effect_fails_or_is_the_last_one_readers_see_old_or_new_in_the_end(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    results = []
    for number in range(1, 40):
        place = tmp_path / str(number)
        place.mkdir()
        try:
            publish(place, Breaking(number, failure))
        except (StorageError, Dead):
            base = CanonicalPath.parse(f"file://{place}/to")
            recover(LocalFileSystem(), base.child("x"), "1", base)
            assert [each.name for each in (place / "to").iterdir()] == ["x"], number
        results.append(seen(place / "to/x"))
        assert results[-1] in (OLD, NEW), number
    assert OLD in results
    assert NEW in results


class Racing(LocalFileSystem):
    """A disk on which the run of another source begins anew in the moment in which the flag is written."""

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        mark = Path(path.parent.path, ".feedctl-from-other")
        if path.name == ".feedctl-from-primary":
            mark.touch()
            Path(path.path).parents[2].joinpath("from/x/flag").touch()
        if path.name == ".feedctl-flag-primary":
            mark.unlink()
        super().write(path, chunks, overwrite=overwrite)


def test_the_flag_is_taken_back_when_the_run_of_another_source_began_anew(tmp_path: Path) -> None:
    published = publish(tmp_path, Racing(), flag="flag", others=("other",))
    assert not published.is_complete
    assert not (tmp_path / "to/x/flag").exists()


class Written(LocalFileSystem):
    """A disk on which somebody writes into the target's instance while its successor is copied."""

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        Path(path.parent.parent.path, "x/theirs").write_text("theirs")
        super().write(path, chunks, overwrite=overwrite)


def test_what_came_to_the_target_while_a_unit_was_copied_is_not_thrown_away(tmp_path: Path) -> None:
    with pytest.raises(TargetChanged):
        publish(tmp_path, Written())
    assert seen(tmp_path / "to/x") == OLD | {"theirs": "theirs"}
    assert [each.name for each in (tmp_path / "to").iterdir()] == ["x"]


class Held:
    """Somebody has put the feed on hold while it was copied."""

    def refusal(self, base: CanonicalPath, *, items: int, must_look: bool) -> Refusal | None:
        del base, items
        return HELD if must_look else None


def test_a_hold_that_came_while_a_unit_was_copied_keeps_it_from_being_replaced(tmp_path: Path) -> None:
    with pytest.raises(CalledOff):
        publish(tmp_path, LocalFileSystem(), conditions=[Held()])
    assert seen(tmp_path / "to/x") == OLD
    assert [each.name for each in (tmp_path / "to").iterdir()] == ["x"]
