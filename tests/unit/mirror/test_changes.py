"""Order of a mirror's operations, against a tree of paths that knows nothing of differences."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given

from tests.unit.mirror.memory_hdfs import MemoryHdfs, MemorySnapshots
from tests.unit.mirror.random_changes import Draw, change, draws
from toolkit.el import CanonicalPath
from toolkit.mirror.changes import MirrorStep, Operation, Translation, compared, unexplained
from toolkit.storage import FileKind
from toolkit.storage.snapshots import ChangeKind, TreeChange
from toolkit.transfer.trees import TreeFile, below

ROOT = CanonicalPath("hdfs", "nn", "/data")
_THEN = datetime(2026, 1, 1, tzinfo=UTC)
Paths = dict[str, bytes | None]
"""Contents of files by their paths; None of directories."""


def _paths(hdfs: MemoryHdfs, snapshot: str) -> Paths:
    root = ROOT.child(".snapshot").child(snapshot)
    return {entry.name: hdfs.find(below(root, entry.name)).content for entry in hdfs.list_tree(root)}


def _below(paths: Paths, path: str) -> Paths:
    return {name: paths[name] for name in paths if f"{name}/".startswith(f"{path}/")}


def _made(older: Paths, newer: Paths, operations: tuple[Operation, ...]) -> Paths:
    """Make the operations on plain paths; a rename needs its origin, a free name, and a directory for it."""
    tree, out, new = dict(older), dict[str, Paths](), dict[str, bytes | None]()

    def bring(path: str, what: Paths) -> None:
        assert path not in tree
        above = path.rpartition("/")[0]
        assert not above or (above in tree and tree[above] is None), path
        tree.update({f"{path}{name}": content for name, content in what.items()})

    for step, path, origin, _ in operations:
        if step is MirrorStep.COPY:
            new[path] = newer[path]
        elif step is MirrorStep.OUT:
            gone = _below(tree, path)
            assert path in gone
            out[path] = {name.removeprefix(path): gone[name] for name in gone}
            tree = {name: tree[name] for name in tree if name not in gone}
        elif step is MirrorStep.MOVE:
            bring(path, out.pop(origin))
        elif step is MirrorStep.ATTRIBUTES:
            assert path in tree
        else:
            bring(path, {"": None if step is MirrorStep.MAKE else new.pop(path)})
    assert not new
    return tree


def _planned(hdfs: MemoryHdfs) -> tuple[Operation, ...]:
    snapshots, new = MemorySnapshots(hdfs), ROOT.child(".snapshot").child("new")

    def entry(path: CanonicalPath) -> TreeFile:
        found = hdfs.status(path)
        return TreeFile(found.kind, found.size, found.modified if found.kind is FileKind.FILE else None)

    found = Translation.of(snapshots.diff(ROOT, "old", "new"))
    paths = {*found.created, *found.modified.values()}
    return found.operations(
        {path: entry(below(new, path)) for path in paths},
        lambda path: {each.name: TreeFile(*each[1:]) for each in hdfs.list_tree(below(new, path))},
        set(),
    )


@given(draws, draws)
def test_the_operations_make_the_newer_tree_of_the_older(first: list[Draw], second: list[Draw]) -> None:
    hdfs = MemoryHdfs()
    hdfs.mkdirs(ROOT)
    snapshots = MemorySnapshots(hdfs)
    snapshots.allow(ROOT)
    change(hdfs, ROOT, first)
    snapshots.create(ROOT, "old")
    change(hdfs, ROOT, second)
    snapshots.create(ROOT, "new")
    older, newer = _paths(hdfs, "old"), _paths(hdfs, "new")
    operations = _planned(hdfs)
    assert _made(older, newer, operations) == newer
    assert unexplained(snapshots.diff(ROOT, "old", "new"), operations) == []


@given(draws, draws)
def test_a_comparison_of_two_trees_gives_the_newer_one_too(first: list[Draw], second: list[Draw]) -> None:
    hdfs = MemoryHdfs()
    hdfs.mkdirs(ROOT)
    snapshots = MemorySnapshots(hdfs)
    snapshots.allow(ROOT)
    for name, drawn in (("old", first), ("new", second)):
        change(hdfs, ROOT, drawn)
        snapshots.create(ROOT, name)
    trees = [
        {each.name: TreeFile(*each[1:]) for each in hdfs.list_tree(ROOT.child(".snapshot").child(name))}
        for name in ("old", "new")
    ]

    def inside(path: str) -> dict[str, TreeFile]:
        return {name.removeprefix(f"{path}/"): trees[1][name] for name in trees[1] if name.startswith(f"{path}/")}

    operations = Translation.of(compared(*trees)).operations(trees[1], inside, set())
    newer = _paths(hdfs, "new")
    assert _made(_paths(hdfs, "old"), newer, operations) == newer


def _operations(*changes: TreeChange, **entries: FileKind) -> list[tuple[MirrorStep, str]]:
    known = {name: TreeFile(kind) for name, kind in entries.items()}
    return [each[:2] for each in Translation.of(changes).operations(known, lambda _: {}, set())]


def test_a_renamed_directory_costs_no_copy() -> None:
    assert _operations(TreeChange(ChangeKind.RENAME, "a", "b")) == [(MirrorStep.OUT, "a"), (MirrorStep.MOVE, "b")]


def test_a_swap_goes_out_before_it_comes_in() -> None:
    swap = (TreeChange(ChangeKind.RENAME, "a", "b"), TreeChange(ChangeKind.RENAME, "b", "a"))
    assert [step for step, _ in _operations(*swap)] == [
        MirrorStep.OUT,
        MirrorStep.OUT,
        MirrorStep.MOVE,
        MirrorStep.MOVE,
    ]


def test_a_new_name_in_a_renamed_directory_is_that_of_the_new_directory() -> None:
    changes = (TreeChange(ChangeKind.RENAME, "d", "e"), TreeChange(ChangeKind.CREATE, "d/new"))
    known = {"e/new": TreeFile(FileKind.FILE, 1, _THEN)}
    operations = Translation.of(changes).operations(known, lambda _: {}, set())
    assert [(each.step, each.path) for each in operations][-1] == (MirrorStep.PLACE, "e/new")


@pytest.mark.parametrize("kind", [ChangeKind.CREATE, ChangeKind.DELETE, ChangeKind.MODIFY])
def test_names_of_feedctls_own_are_not_data(kind: ChangeKind) -> None:
    assert Translation.of([TreeChange(kind, ".feedctl-copy-1/x")]) == Translation()


def test_what_comes_out_of_a_directory_of_feedctls_own_is_new() -> None:
    renames = [(".feedctl-copy-1", "x"), ("y", ".feedctl-z")]
    found = Translation.of(TreeChange(ChangeKind.RENAME, *each) for each in renames)
    assert (found.created, found.deleted, dict(found.renamed)) == (("x",), ("y",), {})


def test_a_change_that_no_operation_makes_is_unexplained() -> None:
    operations = (Operation(MirrorStep.OUT, "a"), Operation(MirrorStep.PLACE, "b"))
    found = [
        TreeChange(ChangeKind.DELETE, "a"),
        TreeChange(ChangeKind.CREATE, "b"),
        TreeChange(ChangeKind.CREATE, "theirs"),
    ]
    assert unexplained(found, operations) == ["theirs"]
