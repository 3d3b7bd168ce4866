"""Whoever copies: each is a process for each stage of a race, and told how long it took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from benchmarks.peers.replication_peers import DISTCP
from benchmarks.replication.clusters import Clusters
from benchmarks.replication.our_repo import OurRepo
from benchmarks.replication.shapes import ROOT as FROM
from benchmarks.replication.shapes import Shape
from benchmarks.timing import SPARK_SUBMIT, Took, spark_environment, timed, took
from benchmarks.whole_process import ROOT

_HERE = Path(__file__).parent
_EAGER = "-Ddfs.client.block.write.locateFollowingBlock.initial.delay.ms=10"
_MAPS = "-Dmapreduce.local.map.tasks.maximum=20"
OURS, OURS_PLAIN, OUR_CALL = "feedctl", "feedctl, started by python", "feedctl, in Python"
DISTCP_NAME, DISTCP_TOGETHER, DISTCP_EAGER = "DistCp", "DistCp, 20 maps at once", "DistCp, asks after 10 ms"
DISTCP_TUNED = "DistCp, 20 maps and 10 ms"
BARE = "bare loop, Python"


class Stage(StrEnum):
    """What is to be done."""

    ALL = "all files"
    NOTHING = "nothing to do, by the ledger"
    LISTED = "nothing to do, both sides listed"
    CHANGED = "1 % of the files changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """What one contestant is run over.

    Args:
        clusters: both.
        place: its own directory at the target.
        repo: ours, for that directory.
        shape: what is copied.
    """

    clusters: Clusters
    place: str
    repo: OurRepo
    shape: Shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Contestant:
    """Whoever copies.

    Args:
        name: as it is printed.
        command: its process at a stage; None: it has none there.
        tells: whether it prints seconds, one figure a line, the last of which are those of the call.
        environment: what its process has besides.
    """

    name: str
    command: Callable[[Course, Stage], list[str] | None]
    tells: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, course: Course, stage: Stage, longest: float | None) -> Took | None:
        """Copy once, for so many seconds at most (None: as long as it takes); None: it has nothing to do at this stage.

        Raises:
            Failed: with what it said.
            TooLong: it was ended.
            NoPeer: it cannot be run here.
        """
        command = self.command(course, stage)
        if command is None:
            return None
        whole, output = timed(command, self.environment, longest=longest)
        return took(whole, output if self.tells else "")


def contestants() -> tuple[Contestant, ...]:
    """Return all contestants, ours first."""
    in_python = [sys.executable, str(_HERE / "in_process.py"), "replication"]
    entrypoint = [SPARK_SUBMIT, str(ROOT / "entrypoints" / "replication.py")]
    return (
        Contestant(name=OURS, command=_ours(entrypoint), tells=False, environment=spark_environment()),
        Contestant(name=OURS_PLAIN, command=_ours([sys.executable, entrypoint[1]]), tells=False),
        Contestant(name=OUR_CALL, command=_ours(in_python), environment={"PYTHONPATH": str(ROOT)}),
        Contestant(name=DISTCP_NAME, command=_distcp("local")),
        Contestant(name=DISTCP_TOGETHER, command=_distcp("together", _MAPS)),
        Contestant(name=DISTCP_EAGER, command=_distcp("local", _EAGER)),
        Contestant(name=DISTCP_TUNED, command=_distcp("together", _MAPS, _EAGER)),
        Contestant(name=BARE, command=_bare),
    )


def _ours(program: list[str]) -> Callable[[Course, Stage], list[str]]:
    def command(course: Course, stage: Stage) -> list[str]:
        by_ledger = stage in {Stage.ALL, Stage.NOTHING}
        return [*program, *(course.repo.due if by_ledger else course.repo.listed)]

    return command


def _distcp(framework: str, *settings: str) -> Callable[[Course, Stage], list[str] | None]:
    """With what its users give for such copies; it compares checksums unless told not to."""

    def command(course: Course, stage: Stage) -> list[str] | None:
        if stage is Stage.NOTHING:
            return None
        ends = (f"{course.clusters.source}{FROM}", f"{course.clusters.target}{course.place}")
        options = (f"-Dmapreduce.framework.name={framework}", *settings, "-update", "-bandwidth", "2000")
        return DISTCP.command(*options, *ends)

    return command


def _bare(course: Course, stage: Stage) -> list[str] | None:
    return bare(course) if stage is Stage.ALL else None


def bare(course: Course) -> list[str]:
    """The command that copies all and does nothing else."""
    clusters, threads = course.clusters, min(256, course.shape.instances * course.shape.files)
    script = str(_HERE / "bare_copy.py")
    return [sys.executable, script, clusters.source, clusters.target, FROM, course.place, str(threads)]
