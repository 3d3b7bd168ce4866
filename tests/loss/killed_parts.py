"""Replications in parts that are killed, beside readers of the instance: no reader finds a mixture under a flag."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from entrypoints import replication
from tests.databases.forking import Forks, Task
from tests.e2e.commands import ROOT
from tests.integration.replications import KEYS, End, Replication
from tests.loss.part_reader import generations, is_mixed, reads_of
from tests.testbed.running import ending
from toolkit.cli.boundary import run_app
from toolkit.replication.completeness import Completeness

FLAG, INSTANCE = "_SUCCESS", "clicks/2026-03-01-00"
SOURCES = ("east", "west")
NAMES = ("at", "de", "fr")
PARTS = tuple(f"{source}/{name}" for source in SOURCES for name in NAMES)
ONE = ("--start", KEYS[0])
READERS = 2
_DEADLINE_SECONDS = 60.0
_EVENTS = "SELECT count(*) FROM event"


@dataclass(kw_only=True, slots=True)
class Seen:
    """Counts of a loop.

    Attributes:
        rounds: of the loop.
        killed: runs that died of kill -9.
        midway: rounds after which the flag was not there.
        reads: of the readers, by their kind.
    """

    rounds: int = 0
    killed: int = 0
    midway: int = 0
    reads: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(self.reads.items()))
        return (
            f"{self.rounds} rounds, {self.killed} runs killed, {self.midway} rounds ended without the flag; "
            f"{self.reads.total():,} reads: {kinds}; {self.reads['mixed']} mixed"
        )


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Two sources of one instance in parts, and its target.

    Attributes:
        copying: the config repo.
        longest: no run lives longer, in seconds, before it is killed.
    """

    copying: Replication
    longest: float

    @classmethod
    def make(cls, directory: Path, target: End, longest: float) -> Scene:
        """Make the config repo, with both sources on this disk."""
        sources = {name: End(uri=f"file://{directory / name}") for name in SOURCES}
        copying = Replication(
            directory=directory,
            sources=sources,
            target=target,
            more=f"availability_flag: {FLAG}\npartitions: [colo, country]",
            partition=dict.fromkeys(SOURCES, "${cluster.colo}/*"),
        )
        return cls(copying=copying, longest=longest)

    @property
    def uri(self) -> str:
        """Place of the instance at the target."""
        return f"{self.copying.target.uri}/{INSTANCE}"

    def write(self, generation: int) -> None:
        """Write the instance anew at both sources, the flag last."""
        for name, end in self.copying.sources.items():
            flag = Path(end.root.path, INSTANCE, FLAG)
            flag.unlink(missing_ok=True)
            for part in NAMES:
                file = Path(end.root.path, INSTANCE, name, part, "data")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"generation {generation}")
            flag.touch()

    def look(self) -> tuple[bool, set[tuple[str, str]]]:
        """Return whether the flag is at the target, and the generations of its parts."""
        store, directory = reads_of(self.uri)
        return store.flag(f"{directory}/{FLAG}") is not None, generations(store, directory, PARTS)

    def events(self) -> int:
        """So many events were sent to consumers."""
        with contextlib.closing(sqlite3.connect(self.copying.directory / "ledger.db")) as ledger:
            (number,) = ledger.execute(_EVENTS).fetchone()
            return int(number)

    def certain_round(self, seed: int, forks: Forks, seen: Seen) -> None:
        """Do the same as `one_round`, except that one run dies for certain, with the flag withdrawn."""
        dying, other = SOURCES
        tasks = (self._task(dying, 1, None), self._task(other, 1, _DEADLINE_SECONDS))
        self._round(seed, tasks, forks, seen)

    def one_round(self, seed: int, forks: Forks, seen: Seen) -> None:
        """Write a generation, kill one or both of the two runs that copy it, and let the next ones complete it."""
        chance = random.Random(seed)  # noqa: S311 - a repeatable test, no secret
        tasks = [self._random_task(name, chance, dies=chance.random() < 3 / 4) for name in SOURCES]
        self._round(seed, tasks, forks, seen)

    def _round(self, seed: int, tasks: Sequence[Task], forks: Forks, seen: Seen) -> None:
        self.write(seed)
        before = self.events()
        ended = list(forks.run(tasks, at_once=len(tasks)))
        seen.rounds += 1
        seen.killed += sum(each.was_killed for each in ended)
        assert all(each.was_killed or each.code == 0 for each in ended), ended
        self._check_interrupted(seed, before, seen)
        self._complete()
        assert self.look() == (True, {(name, f"generation {seed}") for name in SOURCES})

    def _random_task(self, source: str, chance: random.Random, *, dies: bool) -> Task:
        longest = self.longest if chance.random() < 1 / 4 else self.longest / 10
        moment = chance.uniform(0, longest) if dies else _DEADLINE_SECONDS
        calls = chance.randrange(len(NAMES) + 1)  # 0: from the beginning of the run on
        return self._task(source, calls, moment)

    def _task(self, source: str, calls: int, moment: float | None) -> Task:
        arguments = self.copying.arguments("--source", source, *ONE)
        result = str(self.copying.directory / f"result-{source}.json")
        own = [result if each.endswith("result.json") else each for each in arguments]
        return Task(function=run_and_die, arguments=(own, calls, moment))

    def _check_interrupted(self, seed: int, before: int, seen: Seen) -> None:
        is_announced, found = self.look()
        assert not (is_announced and is_mixed(found)), f"a mixture is announced after the kill: {found}"
        published = [name for name in SOURCES if {text for of, text in found if of == name} == {f"generation {seed}"}]
        assert self.events() - before <= len(published), "an event was sent before all parts of its source were there"
        code, document = self.copying.feedctl("instance", "list", "clicks", *ONE, "--cluster", "backup")
        states = {each["state"] for each in document["instances"]}
        assert (code, "available" in states) == (0, is_announced), document
        seen.midway += not is_announced

    def _complete(self) -> None:
        """Run until nothing is left to do; the lease of a dead run is over at once on the machine it ran on."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while (code := self.copying.run(*ONE)[0]) != 0:
            assert time.monotonic() < deadline, code
            time.sleep(0.1)


def run_and_die(arguments: Sequence[str], calls: int, seconds: float | None) -> str:
    """Run a replication; kill -9 this process so many seconds after it began to withdraw the flag for the n-th time.

    None: not after a time, but at once when the flag is withdrawn.
    """
    if not calls and seconds is not None:
        _die_after(seconds)
    withdraw, number = Completeness.withdraw, 0

    def counted(self: Completeness) -> None:
        nonlocal number
        number += 1
        if number == calls and seconds is not None:
            _die_after(seconds)
        withdraw(self)
        if number == calls and seconds is None:
            os.kill(os.getpid(), signal.SIGKILL)

    Completeness.withdraw = counted  # type: ignore[method-assign]
    code = run_app(replication.app, [*arguments])
    assert code == 0, code
    return str(code)


def _die_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL))
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def reading(scene: Scene, seen: Seen) -> Iterator[None]:
    """Read the instance in other processes while the block runs, and count what they have read."""
    stop = scene.copying.directory / "stop-reading"
    program = [sys.executable, "-m", "tests.loss.part_reader", scene.uri, FLAG, str(stop), *PARTS]
    with contextlib.ExitStack() as stack:
        readers = [
            stack.enter_context(ending(subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True)))
            for _ in range(READERS)
        ]
        yield
        stop.touch()
        counted = [reader.communicate(timeout=_DEADLINE_SECONDS)[0] for reader in readers]
    for each in counted:
        seen.reads.update(json.loads(each))
