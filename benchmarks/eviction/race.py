"""Contestants take turns over one tree, which is whole before each run and looked at after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hdfs_native import Client

from benchmarks.eviction.checking import WrongTree
from benchmarks.eviction.contestants import Contestant, Course
from benchmarks.eviction.figures import Figures, Run
from benchmarks.eviction.hdfs_tree import HdfsTree
from benchmarks.eviction.namenode import NameNode
from benchmarks.eviction.our_repo import OurRepo
from benchmarks.eviction.trees import Tree
from benchmarks.peers.java_program import NoPeer
from benchmarks.timing import Failed


@dataclass(kw_only=True)
class Race:
    """Runs of all contestants over one tree.

    Args:
        node: the store.
        tree: is made on it.
        folder: for files of the contestants.
    """

    node: NameNode
    tree: Tree
    folder: Path
    _void: dict[str, str] = field(default_factory=dict)

    def run(self, contestants: Sequence[Contestant], rounds: int) -> Mapping[str, Figures]:
        """So many rounds; who fails once, or deletes anything else than it should, is out."""
        contestants = [each for each in contestants if self.tree.layout in each.layouts]
        self.folder.mkdir()
        repo = OurRepo.make(self.folder, self.tree, self.node.store)
        course = Course(tree=self.tree, store=self.node.store, repo=repo, folder=self.folder)
        there = HdfsTree(client=Client(self.node.store), tree=self.tree)
        there.make(self.tree.everything)
        runs: dict[str, list[Run]] = {each.name: [] for each in contestants}
        for _ in range(rounds):
            for each in contestants:
                if each.name not in self._void:
                    runs[each.name] += self._lock(each, course, there)
        there.remove()
        return {
            name: Figures(runs=(), void=self._void[name]) if name in self._void else Figures(runs=of)
            for name, of in runs.items()
        }

    def _lock(self, contestant: Contestant, course: Course, there: HdfsTree) -> list[Run]:
        """Its run; none when it is void, which is noted."""
        there.check(self.tree.everything)
        before = self.node.calls()
        try:
            took = contestant.run(course)
            calls = self.node.calls() - before
            return [Run(took=took, calls=calls, left=there.check(self.tree.staying))]
        except (Failed, NoPeer, WrongTree) as why:
            self._void[contestant.name] = str(why)
            return []
        finally:
            there.make(self.tree.everything if contestant.name in self._void else self.tree.going)
