"""Whoever evicts: each is a process that is given a tree, and told how long it took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TypeAlias

from benchmarks.eviction.our_repo import FEED, TIME, OurRepo
from benchmarks.eviction.trees import Layout, Tree
from benchmarks.peers.eviction_peers import DELETE_PATHS, FALCON, GOBBLIN, JavaProgram
from benchmarks.whole_process import PROGRAMS, ROOT
from tests.testbed import java

_HERE = Path(__file__).parent
_ENTRYPOINT = str(ROOT / "entrypoints" / "retention.py")
_SPARK_SUBMIT = str(PROGRAMS / "spark-submit")
_EMPTY_ROUNDS = 3
_SECONDS = 1200
_SAID_CHARACTERS = 2000
OURS, OUR_CALL = "feedctl", "feedctl, in Python"
OURS_WITHOUT_LEDGER, OUR_CALL_WITHOUT_LEDGER = "feedctl --no-ledger", "feedctl --no-ledger, in Python"
BARE, BARE_IN_PYTHON = "bare loop, Java", "bare loop, Python"
FLOOR, FLOOR_IN_PYTHON = "floor, Java", "floor, Python"
FALCON_NAME, GOBBLIN_NAME = "Falcon", "Gobblin"
OURS_QUICK, FALCON_QUICK, GOBBLIN_QUICK = (f"{name}, quick JVM" for name in (OURS, FALCON_NAME, GOBBLIN_NAME))
"""The same with the options of Java that the guide names for a short run; each has all of them."""
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


Paths: TypeAlias = Callable[[Tree], Iterable[str]]


class Failed(Exception):  # noqa: N818 - named for what happened
    """A contestant did not end well."""

    def __init__(self, *, command: list[str], code: int, said: str) -> None:
        super().__init__(f"{command[0]} ended with {code}; it said at last: {said[-_SAID_CHARACTERS:]}")


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
class Took:
    """Seconds of one run.

    Args:
        whole: of the process, from its start to its end.
        inside: of the call alone, after imports and connections; None: it does not tell.
        imports: of loading what it needs, where it tells.
    """

    whole: float
    inside: float | None = None
    imports: float | None = None


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
        whole, said = _timed(self.command(course), self.environment)
        return _took(whole, said.split() if self.tells else [])


def _timed(command: list[str], environment: Mapping[str, str]) -> tuple[float, str]:
    """Seconds of a process that ends well, and what it said."""
    began = time.perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    whole = time.perf_counter() - began
    if done.returncode:
        raise Failed(command=command, code=done.returncode, said=f"{done.stdout}{done.stderr}")
    return whole, done.stdout


def _took(whole: float, told: list[str]) -> Took:
    figures = [float(each) for each in told]
    return Took(
        whole=whole,
        inside=figures[-1] if figures else None,
        imports=figures[-2] if len(figures) > 1 else None,
    )


def _spark_submit(*more: str) -> Callable[[Course], list[str]]:
    def command(course: Course) -> list[str]:
        options = ("--config-repo", str(course.repo.path), "--feed", FEED, "--time", TIME, *more)
        return [_SPARK_SUBMIT, _ENTRYPOINT, *options]

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


def spark_submit_seconds(folder: Path, *, quick: bool = False) -> float:
    """What spark-submit takes for a script that does nothing, with a quick JVM or not: the median of three."""
    empty = folder / "empty.py"
    empty.touch()
    environment = _quick_spark() if quick else _spark()
    return median(_timed([_SPARK_SUBMIT, str(empty)], environment)[0] for _ in range(_EMPTY_ROUNDS))


def _spark() -> dict[str, str]:
    return {
        "JAVA_HOME": str(java.java_home()),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def _quick_spark() -> dict[str, str]:
    """Both of spark-submit's JVMs."""
    return {**_spark(), "SPARK_SUBMIT_OPTS": " ".join(_QUICK), "SPARK_LAUNCHER_OPTS": " ".join(_QUICK)}


def contestants() -> tuple[Contestant, ...]:
    """All of them, ours first."""
    spark = _spark()
    return (
        Contestant(name=OURS, command=_spark_submit(), tells=False, environment=spark),
        Contestant(name=OURS_WITHOUT_LEDGER, command=_spark_submit("--no-ledger"), tells=False, environment=spark),
        Contestant(name=OURS_QUICK, command=_spark_submit(), tells=False, environment=_quick_spark()),
        Contestant(name=OUR_CALL, command=_in_python("ledger")),
        Contestant(name=OUR_CALL_WITHOUT_LEDGER, command=_in_python("no-ledger")),
        Contestant(name=FALCON_NAME, command=_falcon()),
        Contestant(name=FALCON_QUICK, command=_falcon(*_QUICK)),
        Contestant(name=GOBBLIN_NAME, command=_gobblin()),
        Contestant(name=GOBBLIN_QUICK, command=_gobblin(*_QUICK)),
        Contestant(name=BARE, command=_in_java(DELETE_PATHS, "expired.txt", _expired)),
        Contestant(name=BARE_IN_PYTHON, command=_in_a_loop("expired.txt", _expired)),
        Contestant(name=FLOOR, command=_in_java(DELETE_PATHS, "whole.txt", Tree.dropped_whole), layouts=(Layout.TREE,)),
        Contestant(name=FLOOR_IN_PYTHON, command=_in_a_loop("whole.txt", Tree.dropped_whole), layouts=(Layout.TREE,)),
    )
