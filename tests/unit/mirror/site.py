"""A mirror between two directories of HDFS in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.unit.mirror.memory_hdfs import MemoryHdfs, MemorySnapshots
from toolkit.el import CanonicalPath
from toolkit.entities.mirror_work import TreeMirror
from toolkit.entities.vocabulary import OnMissingSnapshot
from toolkit.errors import StopRequested
from toolkit.mirror.apply import CopyFiles, MirrorRun
from toolkit.mirror.model import MirrorRules, MirrorSide
from toolkit.mirror.planner import MirrorPlanner
from toolkit.mirror.tree_planner import TreePlanner
from toolkit.storage import FileSystem
from toolkit.threads import WorkerPool
from toolkit.transfer.copier import Copier
from toolkit.transfer.plan import Copied, FileCopy

SOURCE, TARGET = CanonicalPath("hdfs", "one", "/src/data"), CanonicalPath("hdfs", "two", "/dst/data")
RULES = MirrorRules(name="sales")


def copier(source: FileSystem, target: FileSystem) -> CopyFiles:
    """Return the transfer engine between two stores, without executors."""

    def copy(origin: CanonicalPath, into: CanonicalPath, files: Sequence[FileCopy]) -> Sequence[Copied]:
        del origin, into
        found: list[Copied] = []
        Copier(source=source, target=target, check=lambda: None).copy_all(files, WorkerPool(1, "copy"), found.append)
        return found

    return copy


def tree_planner(settings: TreeMirror, one: FileSystem, two: FileSystem) -> TreePlanner:
    """Return the planner of the mirror `manuals` without snapshots, from one store to the other."""
    return TreePlanner(
        name="manuals",
        settings=settings,
        source=SOURCE,
        target=TARGET,
        stores=lambda path: one if path.authority == "one" else two,
        pool=WorkerPool(1, "look"),
    )


def killed_at(number: int) -> Callable[[str], None]:
    """Return a hook that stops the work at its call of this number, from 0 on, and at all later ones."""
    calls = 0

    def hook(what: str) -> None:
        nonlocal calls
        calls += 1
        if calls > number:
            message = f"killed at {what}"
            raise StopRequested(message)

    return hook


@dataclass
class Site:
    """Two HDFS, and the mirror between them."""

    rules: MirrorRules = RULES
    one: MemoryHdfs = field(default_factory=MemoryHdfs)
    two: MemoryHdfs = field(default_factory=MemoryHdfs)

    def __post_init__(self) -> None:
        for hdfs, root in ((self.one, SOURCE), (self.two, TARGET)):
            hdfs.mkdirs(root)
            MemorySnapshots(hdfs).allow(root)

    @property
    def planner(self) -> MirrorPlanner:
        source = MirrorSide(root=SOURCE, system=self.one, snapshots=MemorySnapshots(self.one))
        target = MirrorSide(root=TARGET, system=self.two, snapshots=MemorySnapshots(self.two))
        return MirrorPlanner(source=source, target=target, rules=self.rules, pool=WorkerPool(1, "look"))

    @property
    def run(self) -> MirrorRun:
        return MirrorRun(planner=self.planner, copy=copier(self.one, self.two))

    def mirror(self, hour: int) -> None:
        """Mirror, and check that source, target and the target's snapshot are the same."""
        name = self.name(hour)
        plans = self.run.run(name)
        assert [plan.state.problem for plan in plans] == [None] * len(plans)
        wanted = self.one.tree(SOURCE.child(".snapshot").child(name))
        assert self.two.tree(TARGET.child(".snapshot").child(name)) == wanted
        assert self.two.tree(TARGET) == wanted
        assert not any(entry.name.startswith(".feedctl") for entry in self.two.list(TARGET))

    def name(self, hour: int) -> str:
        """Return the name of the snapshot of an hour."""
        return self.rules.snapshot(f"2026-03-01T{hour:02}:00Z")

    def names(self) -> tuple[list[str], list[str]]:
        """Return the ends of the names of the snapshots of both sides."""
        ends = ((self.one, SOURCE), (self.two, TARGET))
        one, two = ([each.name[-8:] for each in MemorySnapshots(hdfs).list(root)] for hdfs, root in ends)
        return one, two


FULL = MirrorRules(name="sales", on_missing=OnMissingSnapshot.FULL)
