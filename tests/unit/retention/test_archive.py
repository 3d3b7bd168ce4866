"""An instance that is archived: whatever breaks, all of it is where it was or in the archive, and a rerun finishes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.unit.retention.archiving import DAY, FILES, Dead, Dying, feed, left_by, one_by, target_of
from tests.unit.retention.feeds import FeedText, acted, cluster, context_on, request_of, retention
from tests.unit.retention.object_memory import ObjectMemory
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.actions.hold_watch import HOLD_FILE
from toolkit.actions.runner import Targets
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Feed, Locations
from toolkit.result import Outcome
from toolkit.retention import RetentionResolver, RetentionResult
from toolkit.retention.archive import settle_stagings
from toolkit.retention.resolve import FeedTargets
from toolkit.retention.targets import NoArchive
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import StopSignal
from toolkit.storage import FileKind, FileStatus, FileSystem, LocalFileSystem, NotFound, Unreachable

OLD = "2026/03/01"


def fill(root: Path, day: str = OLD, files: dict[str, str] | None = None, *, place: str = "data") -> None:
    for name, text in (FILES if files is None else files).items():
        path = root / place / day / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def seen(root: Path, place: str, day: str = OLD) -> dict[str, str] | None:
    top = root / place / day
    if not top.exists():
        return None
    return {str(each.relative_to(top)): each.read_text() for each in top.rglob("*") if each.is_file()}


def own_names(root: Path) -> list[str]:
    """Names of feedctl's own below a directory."""
    return sorted(each.name for each in root.rglob(".feedctl*"))


def run(
    root: Path,
    of: Feed | None = None,
    *,
    system: FileSystem | None = None,
    audit: AuditMemory | None = None,
    process: StopSignal | None = None,
    recorder: MemoryRecorder | None = None,
    dry_run: bool = False,
) -> RetentionResult:
    """One run over the feed, on this disk; its number is 1."""
    (root / "archive").mkdir(exist_ok=True)
    targets: FeedTargets = Targets(to_do=(target_of(of or feed(root)),))

    def opened(signal: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        work = context_on(LocalFileSystem(), signal, conditions)
        disk = system or LocalFileSystem(work.guard.check)
        return replace(work, stores=lambda _: disk, run_name="1")

    request = request_of(dry_run=dry_run)
    return acted(retention(), targets, request, opened, recorder=recorder, audit=audit, process=process)


def outcomes(result: RetentionResult) -> list[tuple[str, str]]:
    return [(each.outcome.value, each.code) for each in result.items if each.item.archive is not None]


def test_an_instance_goes_when_all_of_it_is_in_the_archive_and_the_audit_file_has_both_steps(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path, "2026/03/15")
    audit = AuditMemory()
    result = run(tmp_path, audit=audit)
    assert (result.exit_code, outcomes(result)) == (0, [("done", "")])
    assert (seen(tmp_path, "data"), seen(tmp_path, "archive")) == (None, FILES)
    assert (seen(tmp_path, "data", "2026/03/15"), seen(tmp_path, "archive", "2026/03/15")) == (FILES, None)
    place, own = f"file://{tmp_path}/archive/{OLD}", f"file://{tmp_path}/data/{OLD}"
    reported = [each for each in audit.reported() if each[0] in {place, own}]
    assert set(reported) == {(own, "done"), (place, "done")}
    assert [*run(tmp_path).items] == []


def test_a_dry_run_says_where_to_and_touches_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    (item,) = [each.item for each in run(tmp_path, dry_run=True).items if each.item.archive]
    assert str(item.archive) == f"file://{tmp_path}/archive/{OLD}"
    assert str(item.archive) in item.identity
    assert (seen(tmp_path, "data"), [*(tmp_path / "archive").iterdir()]) == (FILES, [])


def test_what_is_in_the_archive_already_is_not_copied_again(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path, place="archive")
    before = (tmp_path / "archive" / OLD / "part-0").stat().st_ino
    assert outcomes(run(tmp_path)) == [("done", "")]
    assert (seen(tmp_path, "data"), seen(tmp_path, "archive")) == (None, FILES)
    assert (tmp_path / "archive" / OLD / "part-0").stat().st_ino == before


@pytest.mark.parametrize(
    "other",
    [{**FILES, "part-0": "else"}, {**FILES, "part-0": "longer than it"}, {"part-0": FILES["part-0"]}],
    ids=["other bytes of the same size", "another size", "a part of it"],
)
def test_an_archive_that_has_something_else_keeps_it_beside_the_instance(tmp_path: Path, other: dict[str, str]) -> None:
    """A rerun wrote it again, or a run of an earlier version archived what was being written: no run fails for ever."""
    fill(tmp_path)
    fill(tmp_path, files=other, place="archive")
    result = run(tmp_path)
    assert (result.exit_code, outcomes(result)) == (0, [("done", "")])
    version = OLD.replace("/01", "/.feedctl-version-2-01")
    assert seen(tmp_path, "data") is None
    assert (seen(tmp_path, "archive"), seen(tmp_path, "archive", version)) == (other, FILES)
    (target,) = result.targets
    assert any(f"this one is in file://{tmp_path}/archive/{version}" in note for note in target.plan.notes)


def test_each_version_of_an_instance_is_archived_once(tmp_path: Path) -> None:
    for text in ("first", "second", "first", "second", "third"):
        fill(tmp_path, files={"part-0": text})
        assert outcomes(run(tmp_path)) == [("done", "")]
    names = [OLD, *(OLD.replace("/01", f"/.feedctl-version-{number}-01") for number in (2, 3, 4))]
    texts = ("first", "second", "third")
    assert [seen(tmp_path, "archive", each) for each in names] == [*({"part-0": text} for text in texts), None]


def test_too_many_versions_are_refused(tmp_path: Path) -> None:
    for number in range(9):
        fill(tmp_path, files={"part-0": f"version {number}"})
        assert outcomes(run(tmp_path)) == [("done", "")]
    fill(tmp_path)
    result = run(tmp_path)
    assert (result.exit_code, outcomes(result)) == (1, [("failed", "archive_differs")])
    assert seen(tmp_path, "data") == FILES


def test_an_archive_that_is_not_mounted_stops_the_feed(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "archive").mkdir()
    result = run(tmp_path, system=Unmounted())
    (one,) = result.targets
    assert one.plan.failed is not None
    assert "the archive is not there" in one.plan.failed.message
    assert seen(tmp_path, "data") == FILES


class Unmounted(LocalFileSystem):
    """A disk on which the archive cannot be seen."""

    def status(self, path: CanonicalPath) -> FileStatus:
        if "/archive" in path.path:
            raise NotFound(path=path)
        return super().status(path)


class Garbling(LocalFileSystem):
    """A disk that does not keep what it was given."""

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        super().write(path, [chunk.swapcase() for chunk in chunks], overwrite=overwrite)


class Growing(LocalFileSystem):
    """A disk on which somebody writes into the instance while its copy is read again."""

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        if "/archive/" in path.path:
            (Path(path.path.partition("/archive/")[0]) / "data" / OLD / "late").write_text("late")
        return super().read(path, offset=offset, length=length)


@pytest.mark.parametrize(("system", "code"), [(Garbling(), "copy_differs"), (Growing(), "source_changed")])
def test_a_copy_that_is_not_the_instance_is_thrown_away(tmp_path: Path, system: FileSystem, code: str) -> None:
    fill(tmp_path)
    assert outcomes(run(tmp_path, system=system)) == [("failed", code)]
    assert FILES.items() <= (seen(tmp_path, "data") or {}).items()
    assert (seen(tmp_path, "archive"), own_names(tmp_path)) == (None, [])


class Breaking(LocalFileSystem):
    """A disk whose first stream out of the archive breaks off."""

    is_broken = False

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        if "/archive/" in path.path and not self.is_broken:
            self.is_broken = True
            raise Unreachable(path=path)
        return super().read(path, offset=offset, length=length)


def test_a_stream_that_breaks_off_while_the_copy_is_read_again_is_read_once_more(tmp_path: Path) -> None:
    fill(tmp_path)
    assert outcomes(run(tmp_path, system=Breaking())) == [("done", "")]
    assert seen(tmp_path, "archive") == FILES


class Held(LocalFileSystem):
    """A disk on which somebody holds the feed while a copy is read again."""

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        if "/archive/" in path.path:
            (Path(path.path.partition("/archive/")[0]) / "data" / HOLD_FILE).touch()
        return super().read(path, offset=offset, length=length)


def test_a_hold_that_comes_while_it_is_copied_keeps_the_original(tmp_path: Path) -> None:
    fill(tmp_path)
    assert outcomes(run(tmp_path, system=Held())) == [("skipped", "held")]
    assert (seen(tmp_path, "data"), seen(tmp_path, "archive")) == (FILES, FILES)


class Silent(LocalFileSystem):
    """A disk whose archive stops answering when it is written to."""

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        del chunks, overwrite
        raise Unreachable(path=path)

    def status(self, path: CanonicalPath) -> FileStatus:
        if "/.feedctl-copy" in path.path or path.path.endswith("part-0"):
            raise Unreachable(path=path)
        return super().status(path)


def test_an_archive_that_does_not_answer_leaves_the_instance_to_the_next_run(tmp_path: Path) -> None:
    fill(tmp_path)
    recorder = MemoryRecorder()
    result = run(tmp_path, system=Silent(), recorder=recorder)
    assert [each for step in recorder.steps for each in step.settled] == []  # it is open: the next run looks
    assert (result.exit_code, outcomes(result)) == (1, [("failed", "files_failed")])
    assert seen(tmp_path, "data") == FILES
    assert outcomes(run(tmp_path)) == [("done", "")]
    assert (seen(tmp_path, "data"), seen(tmp_path, "archive")) == (None, FILES)


class StopsAfter:
    """Stops a run after so many questions."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped(reason="SIGTERM")


def test_a_run_that_is_stopped_anywhere_loses_nothing_and_leaves_nothing_of_its_own(tmp_path: Path) -> None:
    ends = set()
    for calls in range(0, 120, 8):
        root = tmp_path / str(calls)
        fill(root)
        result = run(root, process=StopsAfter(calls))
        ends.update(outcomes(result))
        assert FILES in (seen(root, "data"), seen(root, "archive")), calls
        path = CanonicalPath.parse(f"file://{root}/data/{OLD}")
        run(root, recorder=MemoryRecorder(left=[left_by(1, path)]))
        assert (seen(root, "data"), seen(root, "archive")) == (None, FILES), calls
        assert own_names(root) == [], calls
    assert {("done", ""), ("failed", "interrupted")} <= ends


def test_a_single_file_and_an_empty_directory_are_instances_as_well(tmp_path: Path) -> None:
    (tmp_path / "data/2026/03").mkdir(parents=True)
    (tmp_path / "data/2026/03/01").write_text("alone")
    (tmp_path / "data/2026/03/02").mkdir()
    for _ in range(2):
        run(tmp_path)
        assert (tmp_path / "archive/2026/03/01").read_text() == "alone"
        assert [*(tmp_path / "archive/2026/03/02").iterdir()] == []
        assert not (tmp_path / "data/2026").exists()
        (tmp_path / "data/2026/03/02").mkdir(parents=True)


def test_what_is_not_to_be_archived_there_is_deleted_by_nobody(tmp_path: Path) -> None:
    with pytest.raises(NoArchive, match="does not say where to"):
        target_of(feed(tmp_path, stats=f"{tmp_path}/stats/{DAY}"))
    inside = FeedText(name="other", data=f"{tmp_path}/archive/{DAY}").feed()
    with pytest.raises(NoArchive, match="is in the data of other"):
        target_of(feed(tmp_path), repo=[inside])
    own = feed(tmp_path)
    with pytest.raises(NoArchive, match="is in the data of clicks"):
        target_of(
            replace(own, locations=Locations(data=f"{tmp_path}/archive/{DAY}")),
            repo=[replace(own, locations=Locations(data=f"{tmp_path}/archive/{DAY}"))],
        )


def test_an_archive_outside_of_the_environment_is_refused_and_among_others_a_failure(tmp_path: Path) -> None:
    resolver = RetentionResolver(
        nominal_time=parse_instant("2026-03-20T12:00Z"),
        keep_beyond_validity=True,
        holds=(),
        storage=lambda _: LocalFileSystem(),
        archives={"primary": cluster()},
    )
    pairs = [(feed(tmp_path), cluster())]
    with pytest.raises(NoArchive, match="the environment has no cluster backup"):
        resolver.resolve(pairs, must_all_work=True)
    (settled,) = resolver.resolve(pairs, must_all_work=False).settled
    assert settled.failed is not None
    assert settled.failed.code == "no_archive"


def _on(system: FileSystem, path: CanonicalPath) -> FileSystem:
    del path
    return system


def test_wherever_a_run_dies_all_of_it_is_on_one_side_and_the_next_run_finishes(tmp_path: Path) -> None:
    states = set()
    for effects in range(30):
        root = tmp_path / str(effects)
        fill(root)
        (root / "archive").mkdir()
        target, path = target_of(feed(root)), CanonicalPath.parse(f"file://{root}/data/{OLD}")
        try:
            one_by(partial(_on, Dying(effects)), target, path, "7")
        except Dead:
            states.add((seen(root, "data") == FILES, seen(root, "archive") == FILES))
            assert seen(root, "archive") in (None, FILES), effects
        settle_stagings(target, [left_by(7, path)], lambda _: LocalFileSystem())
        assert own_names(root / "archive") == [], effects
        again = one_by(lambda _: LocalFileSystem(), target, path, "8").result
        assert again.outcome in {Outcome.DONE, Outcome.SKIPPED}, again
        assert (seen(root, "data"), seen(root, "archive")) == (None, FILES), effects
    assert states == {(True, False), (True, True), (False, True)}


def test_an_unfinished_copy_never_gets_the_name_of_the_instance_when_somebody_else_removed_that(
    tmp_path: Path,
) -> None:
    unfinished = "2026/03/.feedctl-copy-7-01"
    fill(tmp_path, files={"part-0": "some"}, place="archive", day=unfinished)
    path = CanonicalPath.parse(f"file://{tmp_path}/data/{OLD}")
    settle_stagings(target_of(feed(tmp_path)), [left_by(7, path)], lambda _: LocalFileSystem())
    assert seen(tmp_path, "archive") is None
    assert (tmp_path / "archive" / unfinished / "part-0").read_text() == "some"


class Meeting(ObjectMemory):
    """An archive of keys in which another run archives its own file between our look and our first write."""

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        self.files.setdefault(f"{path.parent.path}/part-0", b"the only copy of the other run")
        super().write(path, chunks, overwrite=overwrite)


def test_what_another_run_archives_at_the_same_time_is_not_replaced(tmp_path: Path) -> None:
    fill(tmp_path, files={"part-0": "some"})
    keys, disk = Meeting(), LocalFileSystem()
    path = CanonicalPath.parse(f"file://{tmp_path}/data/{OLD}")
    removed = one_by(
        lambda at: keys if "/archive/" in at.path else disk,
        target_of(feed(tmp_path)),
        path,
        "7",
    )
    assert (removed.result.outcome, seen(tmp_path, "data")) == (Outcome.FAILED, {"part-0": "some"})
    assert [*keys.files.values()] == [b"the only copy of the other run"]


class FileByFile(LocalFileSystem):
    """An archive in which files come one by one, and which notes what is written while the flag is there."""

    capabilities = replace(LocalFileSystem.capabilities, atomic_rename=False, directories=False)

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.place, self.beside_flag = place, list[str]()

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        if (self.place / "_SUCCESS").exists():
            self.beside_flag.append(path.name)
        super().write(path, chunks, overwrite=overwrite)


def test_an_archive_that_lost_a_file_has_no_flag_while_it_is_completed_file_by_file(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path, files={"part-0": "some", "_SUCCESS": ""}, place="archive")
    (tmp_path / "archive" / OLD / "deep").mkdir()
    archive, disk = FileByFile(tmp_path / "archive" / OLD), LocalFileSystem()
    path = CanonicalPath.parse(f"file://{tmp_path}/data/{OLD}")
    removed = one_by(lambda at: archive if "/archive/" in at.path else disk, target_of(feed(tmp_path)), path, "7")
    assert (removed.result.outcome, archive.beside_flag) == (Outcome.DONE, [])
    assert (seen(tmp_path, "data"), seen(tmp_path, "archive")) == (None, FILES)


class Joined(FileByFile):
    """An archive of files that come one by one, in which somebody else writes while an instance is archived."""

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        super().write(path, chunks, overwrite=overwrite)
        (self.place / "theirs").write_text("theirs")


def test_an_archive_that_somebody_else_writes_to_meanwhile_gets_no_flag_and_the_instance_stays(tmp_path: Path) -> None:
    fill(tmp_path)
    archive, disk = Joined(tmp_path / "archive" / OLD), LocalFileSystem()
    path = CanonicalPath.parse(f"file://{tmp_path}/data/{OLD}")
    removed = one_by(lambda at: archive if "/archive/" in at.path else disk, target_of(feed(tmp_path)), path, "7")
    assert (removed.result.outcome, removed.result.code) == (Outcome.FAILED, "copy_differs")
    assert seen(tmp_path, "data") == FILES
    assert "_SUCCESS" not in (seen(tmp_path, "archive") or {})


class Flat(ObjectMemory):
    """A store that tells a directory of a name with both an object and names below it, as S3 does here."""

    def _kind(self, path: str) -> FileKind | None:
        has_names_below = any(key.startswith(f"{path}/") for key in self.files)
        return FileKind.DIRECTORY if has_names_below else super()._kind(path)


@pytest.mark.parametrize("store", [ObjectMemory, Flat])
@pytest.mark.parametrize("inside", [".feedctl-own", "part-0"])
def test_an_object_that_is_the_beginning_of_others_is_refused(
    tmp_path: Path, store: type[ObjectMemory], inside: str
) -> None:
    path = CanonicalPath.parse(f"file://{tmp_path}/data/{OLD}")
    keys = store()
    keys.files = {path.path: b"an object", f"{path.path}/{inside}": b""}
    removed = one_by(
        lambda at: keys if "/data/" in at.path else LocalFileSystem(), target_of(feed(tmp_path)), path, "7"
    )
    assert (removed.result.outcome, removed.result.code) == (Outcome.FAILED, "unsupported")
    assert path.path in keys.files
