"""Mirrors without snapshots, between two HDFS in memory: what a run does, refuses, and leaves when it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.mirror.memory_hdfs import MemoryHdfs
from tests.unit.mirror.random_changes import Draw, change, draws
from tests.unit.mirror.site import SOURCE, TARGET, copier, killed_at, tree_planner
from toolkit.el import CanonicalPath
from toolkit.entities.mirror_work import TreeMirror
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.errors import StopRequested
from toolkit.mirror.model import MirrorTargetChanged
from toolkit.mirror.tree_planner import MirrorKindChanged, MirrorSourceEmpty, TreePlan, TreePlanner
from toolkit.mirror.tree_run import TreeRun
from toolkit.storage import Entry, FileKind, NotFound, PermissionDenied, QuotaExceeded
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.errors import FilesFailed
from toolkit.transfer.trees import TreeFile, below

_SETTINGS = TreeMirror(
    source_cluster="one", target_cluster="two", source_dir=SOURCE.path, target_dir=TARGET.path,
    on_source_delete=GoneAtSource.DELETE,
)  # fmt: skip
_FILES = {"a/f": "f", "a/g": "g", "deep/in/h é": "h", "stays": "stays"}


class _Source(MemoryHdfs):
    """An HDFS whose files can change while they are read, and be denied."""

    on_read: Callable[[CanonicalPath], None] = staticmethod(lambda _: None)
    denied = ""

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        self.on_read(path)
        return super().read(path, offset=offset, length=length)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        if self.denied and path.path.endswith(self.denied):
            raise PermissionDenied(path=path)
        return super().list(path, start_from=start_from)


@dataclass
class _Site:
    """Two HDFS, and the mirror between them."""

    settings: TreeMirror = _SETTINGS
    one: _Source = field(default_factory=_Source)
    two: MemoryHdfs = field(default_factory=MemoryHdfs)

    def fill(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            self.one.mkdirs(below(SOURCE, name).parent)
            self.one.write(below(SOURCE, name), [text.encode()])

    @property
    def planner(self) -> TreePlanner:
        return tree_planner(self.settings, self.one, self.two)

    def run(self, name: str = "7") -> TreePlan:
        return self.tree_run(name).run()

    def tree_run(self, name: str = "7") -> TreeRun:
        return TreeRun(planner=self.planner, copy=copier(self.one, self.two), run_name=name)

    def files(self, root: CanonicalPath, *, own: bool = False) -> dict[str, str]:
        """Return the text of each file below a directory."""
        system = self.one if root.authority == "one" else self.two
        found = {}
        for entry in system.list_tree(root):
            if entry.kind.value == "file" and (own or ".feedctl" not in entry.name):
                with MemoryHdfs.read(system, below(root, entry.name)) as stream:
                    found[entry.name] = stream.read().decode()
        return found

    def own(self) -> list[str]:
        """Return the names of feedctl's own at the target."""
        return [entry.name for entry in self.two.list(TARGET) if entry.name.startswith(".feedctl")]


@pytest.fixture
def site() -> _Site:
    found = _Site()
    found.fill(_FILES)
    found.two.mkdirs(below(TARGET, ""))
    return found


def _change(site: _Site) -> None:
    one = site.one
    one.delete(below(SOURCE, "a"), below=SOURCE)
    one.append(below(SOURCE, "stays"), b" longer")
    site.fill({"new/x": "fresh"})
    one.mkdirs(below(SOURCE, "empty"))


def test_a_run_copies_what_is_new_and_the_next_one_only_what_changed(site: _Site) -> None:
    assert sorted(site.run().copied) == sorted(_FILES)
    assert site.files(TARGET) == _FILES
    read = site.one.read_bytes
    site.two.before_effect = killed_at(1)  # the directory itself is made if it is not there
    plan = site.run()
    assert (list(plan.changes()), site.one.read_bytes) == ([], read)
    site.two.before_effect = lambda _: None
    _change(site)
    plan = site.run()
    assert [each[:2] for each in plan.changes()] == [
        ("copy", "new/x"),
        ("replace", "stays"),
        ("mkdir", "empty"),
        ("mkdir", "new"),
        ("remove", "a"),
    ]
    assert (plan.removal.paths, plan.removal.size, plan.removal.kept, plan.bytes) == (3, 2, 4, 17)
    wanted = {name: each[:2] for name, each in site.one.tree(SOURCE).items() if each[0] is not None}
    there = {name: each[:2] for name, each in site.two.tree(TARGET).items() if each[0] is not None}
    assert there == wanted, "bytes and times are those of the source"
    assert site.two.tree(TARGET).keys() == site.one.tree(SOURCE).keys()
    assert site.own() == []


def test_what_the_source_has_no_more_is_kept_set_aside_or_removed(site: _Site) -> None:
    site.run()
    site.one.delete(below(SOURCE, "a"), below=SOURCE)
    site.settings = replace(_SETTINGS, on_source_delete=GoneAtSource.KEEP)
    assert (site.run().leaving, site.files(TARGET)) == ((), _FILES)
    site.settings = replace(_SETTINGS, on_source_delete=GoneAtSource.QUARANTINE)
    assert [each[:2] for each in site.run("12").changes()] == [("quarantine", "a")]
    folder = ".feedctl/quarantine/mirror.manuals/12"
    assert site.files(TARGET, own=True) == {
        f"{folder}/a/f": "f",
        f"{folder}/a/g": "g",
        "deep/in/h é": "h",
        "stays": "stays",
    }
    assert site.two.status(below(TARGET, folder)).permission == 0o700
    site.settings = _SETTINGS
    site.one.delete(below(SOURCE, "deep"), below=SOURCE)
    site.run()
    assert site.files(TARGET) == {"stays": "stays"}


def test_same_bytes_with_another_time_are_not_copied_and_overwrite_copies_all(site: _Site) -> None:
    site.run()
    site.one.set_modified(below(SOURCE, "stays"), site.one.now())
    read = site.one.read_bytes
    plan = site.run()
    assert ([each[:2] for each in plan.changes()], site.one.read_bytes) == ([("attributes", "stays")], read)
    assert list(site.run().changes()) == []
    site.one.set_modified(below(SOURCE, "stays"), site.one.now())
    site.settings = replace(_SETTINGS, skip_checksum=True)
    assert [each[:2] for each in site.run().changes()] == [("replace", "stays")]
    site.settings = replace(_SETTINGS, overwrite=True)
    assert len(site.run().copied) == 4


@pytest.mark.parametrize(
    ("keeps_times", "microseconds", "is_same"),
    [
        (True, 0, True),
        (True, 999, True),
        (True, -999, True),
        (True, 1000, False),
        (True, -1000, False),
        (False, 1, True),
        (False, 3_600_000_000, True),
        (False, 0, False),
        (False, -1, False),
    ],
)
def test_a_copy_has_the_time_of_its_source_or_is_younger(
    site: _Site, *, keeps_times: bool, microseconds: int, is_same: bool
) -> None:
    site.two.capabilities = replace(MemoryHdfs.capabilities, times=keeps_times)
    wanted = TreeFile(FileKind.FILE, 5, datetime(2026, 3, 1, tzinfo=UTC))
    there = TreeFile(FileKind.FILE, 5, datetime(2026, 3, 1, tzinfo=UTC) + timedelta(microseconds=microseconds))
    assert site.planner.is_same(wanted, there) is is_same
    assert not site.planner.is_same(wanted, there._replace(size=4))


def test_attributes_are_kept_before_a_file_has_its_name(site: _Site) -> None:
    site.settings = replace(_SETTINGS, preserve=("permission", "user"))
    site.one.set_permission(below(SOURCE, "a/f"), 0o600)
    site.one.set_permission(below(SOURCE, "a"), 0o700)
    site.one.set_owner(below(SOURCE, "a/f"), owner="eve")
    seen: list[tuple[str | None, int | None]] = []

    def look(_: str) -> None:
        try:
            status = site.two.status(below(TARGET, "a/f"))
        except NotFound:
            return
        seen.append((status.owner, status.permission))

    site.two.before_effect = site.two.after_effect = look
    site.run()
    assert set(seen) == {("eve", 0o600)}
    assert site.two.status(below(TARGET, "a")).permission == 0o700


@pytest.mark.parametrize("gone", [SOURCE, below(SOURCE, "a")])
def test_an_empty_or_missing_source_never_empties_the_target(site: _Site, gone: CanonicalPath) -> None:
    site.run()
    for name in ("a", "deep", "stays"):
        site.one.delete(below(SOURCE, name), below=SOURCE)
    if gone == SOURCE:
        site.one.delete(SOURCE, below=SOURCE.parent)
    site.two.before_effect = killed_at(0)
    with pytest.raises(MirrorSourceEmpty, match="never emptied"):
        site.run()
    assert site.files(TARGET) == _FILES


def test_a_source_that_cannot_be_listed_as_a_whole_changes_nothing(site: _Site) -> None:
    site.run()
    _change(site)
    site.one.denied = "/deep/in"
    site.two.before_effect = killed_at(0)
    with pytest.raises(PermissionDenied):
        site.run()


def test_a_file_that_cannot_be_copied_is_named_and_nothing_is_published_or_removed(site: _Site) -> None:
    site.run()
    _change(site)

    def deny(path: CanonicalPath) -> None:
        if path.name == "x":
            raise PermissionDenied(path=path)

    site.one.on_read = deny
    with pytest.raises(FilesFailed, match=r"1 file failed, the first: .*new/x"):
        site.run()
    assert site.files(TARGET) == _FILES
    site.one.on_read = lambda _: None
    site.run()
    assert site.files(TARGET) == site.files(SOURCE)
    assert site.own() == []


def test_a_file_that_changes_while_it_is_copied_is_not_published(site: _Site) -> None:
    site.run()
    site.one.append(below(SOURCE, "stays"), b"!")

    def change(path: CanonicalPath) -> None:
        node = site.one.find(path)
        node.content, node.modified = b"other!", site.one.now()

    site.one.on_read = change
    with pytest.raises(SourceChanged, match="stays"):
        site.run()
    assert site.files(TARGET) == _FILES
    site.one.on_read = lambda _: None
    site.run()
    assert site.files(TARGET)["stays"] == "other!"


def test_what_others_change_at_the_target_during_a_run_is_not_removed(site: _Site) -> None:
    site.run()
    _change(site)

    def write(_: CanonicalPath) -> None:
        site.two.write(below(TARGET, "a/foreign"), [b"mine"])

    site.one.on_read = write
    with pytest.raises(MirrorTargetChanged, match="/a: "):
        site.run()
    assert site.files(TARGET)["a/foreign"] == "mine"
    site.one.on_read = lambda _: None
    assert "a" in site.run().leaving, "the next run has seen it, and its limits have"
    assert site.files(TARGET) == site.files(SOURCE)


def test_a_file_comes_back_at_once_when_its_copy_cannot_have_its_place(site: _Site) -> None:
    site.run()
    site.one.append(below(SOURCE, "stays"), b" longer")

    def full(what: str) -> None:
        if what.startswith("rename") and "/new/" in what:
            raise QuotaExceeded(path=TARGET)

    site.two.before_effect = full
    with pytest.raises(QuotaExceeded):
        site.run()
    assert site.files(TARGET) == _FILES


@pytest.mark.parametrize("is_directory", [True, False])
def test_a_path_of_another_kind_is_refused_where_all_is_kept(site: _Site, *, is_directory: bool) -> None:
    site.run()
    name = "stays" if is_directory else "deep"
    site.one.delete(below(SOURCE, name), below=SOURCE)
    site.fill({"stays/in": "x"} if is_directory else {"deep": "x"})
    site.settings = replace(_SETTINGS, on_source_delete=GoneAtSource.KEEP)
    with pytest.raises(MirrorKindChanged, match=name):
        site.run()
    assert site.files(TARGET) == _FILES
    site.settings = _SETTINGS
    site.run()
    assert site.files(TARGET) == site.files(SOURCE)


def test_a_mirror_in_itself_or_without_the_wanted_attributes_can_never_run(site: _Site) -> None:
    for inside in (SOURCE, below(SOURCE, "deep"), SOURCE.parent):
        problem = replace(site.planner, target=inside).problem()
        assert problem is not None
        assert problem.code == "mirror_overlaps"
    site.settings = replace(_SETTINGS, preserve=("acl", "permission"))
    problem = site.planner.problem()
    assert problem is not None
    assert (problem.code, "has no acl;" in problem.message) == ("not_preserved", True)
    site.settings = replace(_SETTINGS, preserve=("permission", "times"))
    assert site.planner.problem() is None


@pytest.mark.parametrize("gone", [GoneAtSource.DELETE, GoneAtSource.QUARANTINE])
def test_a_run_that_is_stopped_at_any_call_is_finished_by_the_next(gone: GoneAtSource) -> None:
    for is_after in (True, False):
        for number in range(200):
            site = _Site(settings=replace(_SETTINGS, on_source_delete=gone))
            site.fill({**_FILES, "kind/x": "x"})
            site.run()
            _change(site)
            site.one.delete(below(SOURCE, "kind"), below=SOURCE)
            site.fill({"kind": "a file now"})
            before, after = site.files(TARGET), site.files(SOURCE)
            setattr(site.two, "after_effect" if is_after else "before_effect", killed_at(number))
            try:
                site.run()
            except StopRequested:
                for name, text in site.files(TARGET).items():
                    assert text in {before.get(name), after.get(name)}, "a file is whole, old or new"
            else:
                break
            site.two.after_effect = site.two.before_effect = lambda _: None
            site.run("8")
            assert site.files(TARGET) == after, (is_after, number)
            expected = [".feedctl"] if gone is GoneAtSource.QUARANTINE else []
            assert site.own() == expected, (is_after, number)
        assert number > 15


def test_a_stopped_run_loses_no_file_that_the_next_one_keeps() -> None:
    for number in range(100):
        site = _Site(settings=replace(_SETTINGS, on_source_delete=GoneAtSource.KEEP))
        site.fill(_FILES)
        site.run()
        site.one.append(below(SOURCE, "stays"), b" longer")
        site.two.after_effect = killed_at(number)
        try:
            site.run()
        except StopRequested:
            site.two.after_effect = lambda _: None
        else:
            break
        site.one.delete(below(SOURCE, "stays"), below=SOURCE)
        site.run()
        assert site.files(TARGET)["stays"].startswith("stays"), number
    assert number > 5


@given(
    first=draws,
    second=draws,
    number=st.integers(0, 60),
    is_after=st.booleans(),
    gone=st.sampled_from([GoneAtSource.DELETE, GoneAtSource.QUARANTINE]),
)
@settings(max_examples=60)
def test_after_random_changes_and_a_stopped_run_both_sides_are_equal(
    *, first: list[Draw], second: list[Draw], number: int, is_after: bool, gone: GoneAtSource
) -> None:
    site = _Site(settings=replace(_SETTINGS, on_source_delete=gone))
    site.fill({"keep": "a source without files is refused"})
    for name, drawn in (("1", first), ("2", second)):
        change(site.one, SOURCE, drawn)
        site.fill({"keep": f"{len(drawn)}"})
        setattr(site.two, "after_effect" if is_after else "before_effect", killed_at(number))
        with suppress(StopRequested):
            site.run(f"{name}1")
        site.two.after_effect = site.two.before_effect = lambda _: None
        site.run(f"{name}2")
        wanted, there = site.one.tree(SOURCE), site.two.tree(TARGET)
        assert there.keys() == wanted.keys()
        # A time that was set by hand can hide a change of bytes from everything that looks at times.
        differ = [each for each in wanted if wanted[each][0] != there[each][0] and wanted[each][1] != there[each][1]]
        assert differ == []
        assert [each for each in site.own() if each != ".feedctl"] == []


def _no_renames(what: str) -> None:
    if what.startswith("rename"):
        message = "killed"
        raise StopRequested(message)


def test_what_a_stopped_run_staged_is_not_copied_again_and_never_comes_with_what_is_new(site: _Site) -> None:
    site.two.before_effect = _no_renames
    with pytest.raises(StopRequested):
        site.run()
    site.two.before_effect = lambda _: None
    site.one.read_bytes = 0
    site.two.write(below(TARGET, ".feedctl-copy-mirror-manuals/new/a/.feedctl-writing-1"), [b"half"])
    assert len(site.run().copied) == 4
    assert (site.one.read_bytes, site.files(TARGET, own=True)) == (0, _FILES)
    site.fill({"b/x": "x", "b/y": "y"})
    site.two.before_effect = _no_renames
    with pytest.raises(StopRequested):
        site.run()
    site.two.before_effect = lambda _: None
    site.one.delete(below(SOURCE, "b/y"), below=SOURCE)
    site.run()
    assert site.files(TARGET, own=True) == {**_FILES, "b/x": "x"}


def _refused() -> None:
    message = "held"
    raise StopRequested(message)


@pytest.mark.parametrize("has_renames", [True, False])
def test_a_run_that_may_not_publish_leaves_the_target_and_the_next_one_goes_on(
    site: _Site, *, has_renames: bool
) -> None:
    site.two.capabilities = replace(MemoryHdfs.capabilities, atomic_rename=has_renames)
    site.run()
    for is_first, is_copied_again in ((True, not has_renames), (False, False)):
        if is_first:
            _change(site)
        else:
            site.one.delete(below(SOURCE, "deep/in/h é"), below=SOURCE)
        before = site.two.tree(TARGET)
        with pytest.raises(StopRequested, match="held"):
            replace(site.tree_run(), before_publication=_refused).run()
        assert site.two.tree(TARGET) == before
        read = site.one.read_bytes
        site.run()
        assert (site.one.read_bytes > read, site.own()) == (is_copied_again, [])
        assert site.files(TARGET) == site.files(SOURCE)


def test_a_mirror_of_its_name_in_another_repo_is_refused_while_it_is_in_the_middle(site: _Site) -> None:
    site.two.before_effect = _no_renames
    with pytest.raises(StopRequested):
        site.run()
    site.two.before_effect = lambda _: None
    rival = replace(site.planner, owner="web.prod")
    problem = rival.problem()
    assert problem is not None
    assert problem.code == "mirror_rival"
    assert f"{TARGET}/.feedctl-copy-mirror-manuals" in problem.message
    assert (site.planner.problem(), rival.is_unfinished()) == (None, False)
    site.run()
    assert rival.problem() is None
