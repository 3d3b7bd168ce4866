"""A run of the scene in a process of its own, which kills itself at a named point: ROOT AFTER POINT NUMBER."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import override

from tests.unit.ingest_job.scene import IngestScene
from toolkit.el import CanonicalPath
from toolkit.ingest_job.targets import CommitLimits
from toolkit.storage import LocalFileSystem


@dataclass
class Killer:
    """Kills this process when a point was reached so many times."""

    point: str
    number: int
    seen: Counter[str] = field(default_factory=Counter)

    def __call__(self, point: str) -> None:
        self.seen[point] += 1
        if point == self.point and self.seen[point] == self.number:
            os.kill(os.getpid(), signal.SIGKILL)


class PointedStore(LocalFileSystem):
    """Has points around what puts files away."""

    def __init__(self, point: Killer) -> None:
        super().__init__()
        self.point = point

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        self.point("before archive")
        super().rename(source, target)
        self.point("after archive")


def scene_in(root: Path, after: str) -> IngestScene:
    """Return the scene of all runs."""
    return IngestScene(root=root, after=after, limits=CommitLimits(rows=7))


if __name__ == "__main__":
    killer = Killer(sys.argv[3], int(sys.argv[4]))
    scene = scene_in(Path(sys.argv[1]), sys.argv[2])
    scene.table.point, scene.system = killer, PointedStore(killer)
    scene.run()
