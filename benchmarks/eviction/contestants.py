"""Whoever evicts: each is a process that is given a tree, and told how long it took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from benchmarks.eviction.our_repo import FEED, TIME, OurRepo
from benchmarks.eviction.trees import Layout, Tree
from benchmarks.peers.eviction_peers import DELETE_PATHS, FALCON, GOBBLIN
from benchmarks.peers.java_program import JavaProgram
from benchmarks.timing import QUICK_JVM, SPARK_SUBMIT, Took, quick_spark_environment, spark_environment, timed, took
from benchmarks.whole_process import ROOT

_HERE = Path(__file__).parent
_ENTRYPOINT = str(ROOT / "entrypoints" / "retention.py")
OURS, OUR_CALL = "feedctl", "feedctl, in Python"
OURS_WITHOUT_LEDGER, OUR_CALL_WITHOUT_LEDGER = "feedctl --no-ledger", "feedctl --no-ledger, in Python"
BARE, BARE_IN_PYTHON = "bare loop, Java", "bare loop, Python"
FLOOR, FLOOR_IN_PYTHON = "floor, Java", "floor, Python"
FALCON_NAME, GOBBLIN_NAME = "Falcon", "Gobblin"
OURS_QUICK, FALCON_QUICK, GOBBLIN_QUICK = (f"{name}, quick JVM" for name in (OURS, FALCON_NAME, GOBBLIN_NAME))
"""The same with the options of Java that the guide names for a short run; each has all of them."""


Paths: TypeAlias = Callable[[Tree], Iterable[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """What is run over.

    Args:
        tree: which instances.
        store: URI of the store that they are on.
        repo: ours, for the feed of these instances.
        folder: for files of the contestants.
    """

    tree: Tree
    store: str
    repo: OurRepo
    folder: Path

    def file_of(self, name: str, paths: Paths) -> str:
        """A file with these paths, one on a line."""
        file = self.folder / name
        file.write_text("".join(f"{path}\n" for path in paths(self.tree)))
        return str(file)

    def minutes(self) -> int:
        """A limit that divides the tree for programs that take the clock for now: half an hour inside of the gap."""
        gap = timedelta(minutes=30)
        return (datetime.now(UTC) - self.tree.oldest_kept + gap) // timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Contestant:
    """Whoever evicts.

    Args:
        name: as it is printed.
        command: its process for a course.
        tells: whether it prints seconds, one figure a line, the last of which are those of the call.
        environment: what its process has besides.
        layouts: of the trees that it is for.
    """

    name: str
    command: Callable[[Course], list[str]]
    tells: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    layouts: Collection[Layout] = tuple(Layout)

    def run(self, course: Course) -> Took:
        """Evict once.

        Raises:
            Failed: with what it said.
            NoPeer: it cannot be run here.
        """
        course.repo.empty_the_ledger()
        whole, output = timed(self.command(course), self.environment)
        return took(whole, output if self.tells else "")


def _spark_submit(*more: str) -> Callable[[Course], list[str]]:
    def command(course: Course) -> list[str]:
        options = ("--config-repo", str(course.repo.path), "--feed", FEED, "--time", TIME, *more)
        return [SPARK_SUBMIT, _ENTRYPOINT, *options]

    return command


def _in_python(ledger: str) -> Callable[[Course], list[str]]:
    script = str(_HERE / "in_process.py")
    return lambda course: [sys.executable, script, str(course.repo.path), TIME, FEED, ledger]


def _falcon(*options: str) -> Callable[[Course], list[str]]:
    program = replace(FALCON, options=options)

    def command(course: Course) -> list[str]:
        log = f"file://{course.folder / 'falcon.csv'}"
        return program.command(course.store, course.tree.template, f"minutes({course.minutes()})", log)

    return command


def _gobblin(*options: str) -> Callable[[Course], list[str]]:
    program = replace(GOBBLIN, options=options)

    def command(course: Course) -> list[str]:
        tree = course.tree
        return program.command(course.store, tree.root, tree.layout.pattern, f"{course.minutes()}m")

    return command


def _expired(tree: Tree) -> Iterable[str]:
    return tree.paths(tree.going)


def _in_java(program: JavaProgram, name: str, paths: Paths) -> Callable[[Course], list[str]]:
    return lambda course: program.command(course.store, course.file_of(name, paths))


def _in_a_loop(name: str, paths: Paths) -> Callable[[Course], list[str]]:
    script = str(_HERE / "delete_paths.py")
    return lambda course: [sys.executable, script, course.store, course.file_of(name, paths)]


def contestants() -> tuple[Contestant, ...]:
    """Return all contestants, ours first."""
    spark = spark_environment()
    return (
        Contestant(name=OURS, command=_spark_submit(), tells=False, environment=spark),
        Contestant(name=OURS_WITHOUT_LEDGER, command=_spark_submit("--no-ledger"), tells=False, environment=spark),
        Contestant(name=OURS_QUICK, command=_spark_submit(), tells=False, environment=quick_spark_environment()),
        Contestant(name=OUR_CALL, command=_in_python("ledger")),
        Contestant(name=OUR_CALL_WITHOUT_LEDGER, command=_in_python("no-ledger")),
        Contestant(name=FALCON_NAME, command=_falcon()),
        Contestant(name=FALCON_QUICK, command=_falcon(*QUICK_JVM)),
        Contestant(name=GOBBLIN_NAME, command=_gobblin()),
        Contestant(name=GOBBLIN_QUICK, command=_gobblin(*QUICK_JVM)),
        Contestant(name=BARE, command=_in_java(DELETE_PATHS, "expired.txt", _expired)),
        Contestant(name=BARE_IN_PYTHON, command=_in_a_loop("expired.txt", _expired)),
        Contestant(name=FLOOR, command=_in_java(DELETE_PATHS, "whole.txt", Tree.dropped_whole), layouts=(Layout.TREE,)),
        Contestant(name=FLOOR_IN_PYTHON, command=_in_a_loop("whole.txt", Tree.dropped_whole), layouts=(Layout.TREE,)),
    )
