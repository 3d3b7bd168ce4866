"""Contestants take turns to copy one table, each time into a new one, which is looked at afterwards."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.hive_replication.shapes import TABLE, TableShape
from benchmarks.hive_replication.site import DATABASE, LIKE, WAREHOUSE, Site
from benchmarks.peers.java_program import NoPeer
from benchmarks.peers.replication_peers import DISTCP
from benchmarks.replication.shapes import START, Source, WrongCopy
from benchmarks.timing import SPARK_SUBMIT, Failed, spark_environment, timed, took
from benchmarks.whole_process import ROOT

OURS, OUR_CALL = "feedctl", "feedctl, in Python"
PEER, PEER_TOGETHER = "Spark SQL and DistCp", "Spark SQL and DistCp, 20 maps at once"
_IN_PROCESS = ROOT / "benchmarks" / "replication" / "in_process.py"
_PEER = Path(__file__).with_name("spark_sql_copy.py")


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One copy.

    Attributes:
        whole: seconds of the process.
        inside: of the call alone; None: it does not tell.
        processor: seconds of the process and of all that it started, servers not counted; None: its Java outlives it.
        is_over: it was ended then, and would have taken longer.
    """

    whole: float
    inside: float | None
    processor: float | None
    is_over: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Durations of all copies of a contestant."""

    runs: Sequence[Run]

    @property
    def whole(self) -> float:
        """Median seconds of the process."""
        return median(run.whole for run in self.runs)

    @property
    def processor(self) -> float | None:
        """Median seconds of processors."""
        reported = [run.processor for run in self.runs if run.processor is not None]
        return median(reported) if reported else None

    @property
    def inside(self) -> float | None:
        """Median seconds of the call."""
        reported = [run.inside for run in self.runs if run.inside is not None]
        return median(reported) if reported else None

    @property
    def is_over(self) -> bool:
        """True if one was ended, so that these are at least its seconds."""
        return any(run.is_over for run in self.runs)


@dataclass(kw_only=True)
class Race:
    """Copies of one table.

    Attributes:
        site: where.
        shape: of the table.
        longest: seconds after which a peer is ended.
        void: why a contestant has no figures, by its name.
    """

    site: Site
    shape: TableShape
    longest: float
    void: dict[str, str] = field(default_factory=dict)

    def run(self, names: Sequence[str], rounds: int, table: str) -> Mapping[str, Figures]:
        """So many rounds; who fails once, or copies anything else than it should, is out."""
        files = self.site.fill(table, self.shape)
        runs: dict[str, list[Run]] = {}
        for number in range(rounds):
            turn = number % len(names)
            for at, name in enumerate((*names[turn:], *names[:turn])):
                runs.setdefault(name, []).extend(self._lock(name, files, table, f"{table}_{number}_{at}"))
        files.remove()
        return {name: Figures(runs=runs[name]) for name in names if runs[name] and name not in self.void}

    def _lock(self, name: str, files: Source, table: str, copy: str) -> Iterator[Run]:
        if name in self.void:
            return
        with tempfile.TemporaryDirectory() as folder:
            try:
                command = _COMMANDS[name](self, Path(folder), table, copy)
                run = self._ran(name, command)
                if run.is_over:
                    self.site.clusters.at_target.delete(f"{WAREHOUSE}/{copy}", recursive=True)
                else:
                    self.site.compare(files, self.shape, copy)
                yield run
            except (Failed, NoPeer, WrongCopy) as why:
                self.void[name] = str(why)

    def _ran(self, name: str, command: list[str]) -> Run:
        before = _processor_seconds()
        whole, output = timed(command, {**spark_environment(), "PYTHONPATH": str(ROOT)})
        processor = None if name == OUR_CALL else _processor_seconds() - before
        print(f"    {name}: {whole:.1f} s", flush=True)
        inside = None if name == OURS else took(whole, output).inside
        is_over = name not in {OURS, OUR_CALL} and inside is not None and inside >= self.longest
        return Run(whole=whole, inside=inside, processor=processor, is_over=is_over)


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _ours(race: Race, folder: Path, table: str, copy: str) -> list[str]:
    repo, end = race.site.make_repo(folder, table, copy), race.shape.end
    first = f"{START:%Y-%m-%dT%H:%MZ}"
    requested = ["--config-repo", str(repo), "--feed", "clicks", "--time", end, "--start", first, "--end", end]
    return [*requested, "--quiet"]


def _submitted(race: Race, folder: Path, table: str, copy: str) -> list[str]:
    return [SPARK_SUBMIT, str(ROOT / "entrypoints" / "hive_replication.py"), *_ours(race, folder, table, copy)]


def _in_python(race: Race, folder: Path, table: str, copy: str) -> list[str]:
    return [sys.executable, str(_IN_PROCESS), "hive_replication", *_ours(race, folder, table, copy)]


def _spark_sql(framework: str, *settings: str) -> _Command:
    """DistCp with what its users give for such copies; it compares checksums unless told not to."""

    def command(race: Race, folder: Path, table: str, copy: str) -> list[str]:
        del folder, table
        location = f"{race.site.clusters.target}{WAREHOUSE}/{copy}"
        options = (f"-Dmapreduce.framework.name={framework}", *settings, "-update", "-bandwidth", "2000")
        given = {
            "metastore": race.site.target,
            "table": f"{DATABASE}.{copy}",
            "like": f"{DATABASE}.{LIKE}",
            "location": location,
            "distcp": DISTCP.command(*options, f"{race.site.clusters.source}{TABLE}", location),
            "longest": race.longest,
        }
        return [SPARK_SUBMIT, str(_PEER), json.dumps(given)]

    return command


_Command = Callable[[Race, Path, str, str], list[str]]
_COMMANDS: Mapping[str, _Command] = {
    OURS: _submitted,
    OUR_CALL: _in_python,
    PEER: _spark_sql("local"),
    PEER_TOGETHER: _spark_sql("together", "-Dmapreduce.local.map.tasks.maximum=20"),
}
CONTESTANTS = tuple(_COMMANDS)
"""All contestants, ours first."""
