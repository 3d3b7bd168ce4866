"""Mirrors that go on without files that cannot be read, and what they refuse in their plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import BinaryIO

import pytest

from tests.unit.mirror.memory_hdfs import MemoryHdfs
from tests.unit.mirror.site import SOURCE, TARGET, copier, tree_planner
from toolkit.el import CanonicalPath
from toolkit.entities.mirror_work import TreeMirror
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.mirror.tree_planner import TreePlanner
from toolkit.mirror.tree_run import TreeRun
from toolkit.storage import PermissionDenied
from toolkit.transfer.errors import FilesFailed
from toolkit.transfer.raw_copies import NotCopiedRaw
from toolkit.transfer.trees import below

SETTINGS = TreeMirror(
    source_cluster="one",
    target_cluster="two",
    source_dir=SOURCE.path,
    target_dir=TARGET.path,
    on_source_delete=GoneAtSource.DELETE,
    ignore_errors=True,
)


class Unreadable(MemoryHdfs):
    """An HDFS with files that cannot be read, or written."""

    names: tuple[str, ...] = ()

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        if path.name in self.names:
            raise PermissionDenied(path=path)
        return super().read(path, offset=offset, length=length)


@dataclass
class Disks:
    """Two HDFS, and the mirror between them."""

    settings: TreeMirror = SETTINGS
    one: Unreadable = field(default_factory=Unreadable)
    two: MemoryHdfs = field(default_factory=MemoryHdfs)

    def fill(self, **files: str) -> None:
        for name, text in files.items():
            place = below(SOURCE, name.replace("__", "/"))
            self.one.mkdirs(place.parent)
            self.one.write(place, [text.encode()])

    @property
    def planner(self) -> TreePlanner:
        return tree_planner(self.settings, self.one, self.two)

    def run(self) -> None:
        TreeRun(planner=self.planner, copy=copier(self.one, self.two)).run()

    def files(self) -> dict[str, str]:
        found = {}
        for entry in self.two.list_tree(TARGET):
            if entry.kind.value == "file":
                with self.two.read(below(TARGET, entry.name)) as stream:
                    found[entry.name] = stream.read().decode()
        return found


@pytest.fixture
def disks() -> Disks:
    found = Disks()
    found.fill(stays="1", gone="1", deep__replaced="1")
    found.run()
    found.one.delete(below(SOURCE, "gone"), below=SOURCE)
    found.fill(deep__replaced="longer", new__denied="2", new__other="2", also="2")
    return found


def test_the_other_files_are_mirrored_and_nothing_is_removed_until_all_can_be_read(disks: Disks) -> None:
    before = {"stays": "1", "gone": "1", "deep/replaced": "1"}
    assert disks.files() == before
    disks.one.names = ("denied", "replaced")
    with pytest.raises(FilesFailed, match=r"2 files failed, .*all: deep/replaced, new/denied"):
        disks.run()
    assert disks.files() == {**before, "new/other": "2", "also": "2"}
    disks.one.names = ()
    disks.run()
    assert disks.files() == {"stays": "1", "deep/replaced": "longer", "new/denied": "2", "new/other": "2", "also": "2"}


def test_without_the_setting_nothing_is_changed(disks: Disks) -> None:
    disks.settings, disks.one.names = replace(disks.settings, ignore_errors=False), ("denied",)
    before = disks.files()
    with pytest.raises(FilesFailed):
        disks.run()
    assert {name: text for name, text in disks.files().items() if not name.startswith(".feedctl")} == before


def test_what_a_store_does_not_have_is_refused_in_the_plan(disks: Disks) -> None:
    disks.settings = replace(disks.settings, preserve=("block_size", "permission"))
    problem = disks.planner.problem()
    assert problem is not None
    assert (problem.code, "has no block_size; remove it" in problem.message) == ("not_preserved", True)
    disks.settings = replace(disks.settings, preserve=(), tde_encryption_enabled=True)
    with pytest.raises(NotCopiedRaw, match="give the source cluster a webhdfs: address"):
        disks.planner.problem()
