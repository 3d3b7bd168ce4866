"""Rounds of process runs that fail, die, or lose their ledger, judged by what a reader of the directories finds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from entrypoints import late_check
from tests.e2e.commands import ROOT
from tests.integration.process_runs import KEYS, Runs
from tests.integration.test_late_check import ARRIVAL, FIRST, LATE
from tests.integration.validated_runs import ValidatedRuns, basis
from tests.liveness import is_alive
from tests.testbed.running import ending
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.runs import lease

KEY = KEYS[0]
PARTS = 4
WHOLE = {f"part-{number}": f"{number}\n" for number in range(PARTS)}

Rounds = Callable[[Path, int, int], None]


def rounds_of(directory: Path, rounds: int, seed: int) -> Iterator[tuple[Path, random.Random, str]]:
    """Yield a directory, the chances and the name of each round."""
    for number in range(rounds):
        place = directory / str(number)
        place.mkdir()
        yield place, random.Random(f"{seed}/{number}"), f"seed {seed}, round {number}"  # noqa: S311 - no secrets


def read(runs: Runs) -> dict[str, str] | None:
    """Return what a reader takes for the output; None: there is no flag, so it takes nothing."""
    place = runs.at("counts", KEY)
    if not (place / "_SUCCESS").exists():
        return None
    return {each.name: each.read_text() for each in sorted(place.iterdir()) if each.name != "_SUCCESS"}


def writing_parts(runs: Runs) -> str:
    """Return a script that writes the parts slowly, fails where a file says, and ends when its output is there."""
    place = runs.at("counts", KEY)
    lines = [f"if [ -d {place} ]; then exit 0; fi", f"mkdir -p {place}"]
    for number in range(PARTS):
        lines += [f"test ! -f {runs.directory}/fail-{number}", f"echo {number} > {place}/part-{number}"]
        lines += ["sleep 0.1"]
    return runs.saying("count", "\n".join(lines))


def half_outputs(directory: Path, rounds: int, seed: int) -> None:
    """A step fails, or its run is killed, after some of its parts; its rerun leaves the rest as it is."""
    for place, chance, name in rounds_of(directory, rounds, seed):
        runs = Runs(directory=place)
        runs.fill(KEY)
        runs.write(scripts={"count": writing_parts(runs)})
        if chance.random() < 0.5:
            fails = place / f"fail-{chance.randrange(PARTS)}"
            fails.touch()
            assert runs.run()[0] == 1, name
            fails.unlink()
        else:
            with runs.started() as run:
                runs.until("count", run)
                time.sleep(chance.uniform(0, 0.5))
                run.kill()
                run.communicate()
        assert read(runs) in (None, WHOLE), name
        for more in chance.choice(([()], [(), ("--force",)], [(), ()])):
            was_whole = read(runs) == WHOLE
            code, _ = runs.run(*more)
            assert read(runs) in (None, WHOLE), name
            is_whole = ("available", "00") in runs.events()
            assert is_whole == (read(runs) == WHOLE), name
            assert was_whole or (code == 0) == is_whole, name  # --force on a finished output fails: no part is new
        if read(runs) is None:
            for each in runs.at("counts", KEY).iterdir():
                each.unlink()
            runs.at("counts", KEY).rmdir()
            assert runs.run("--force")[0] == 0, name
        assert read(runs) == WHOLE, name


def validated_outputs(directory: Path, rounds: int, seed: int) -> None:
    """Runs write a good output, a bad one or none, and a person decides; who is told of success reads the last one."""
    for place, chance, name in rounds_of(directory, rounds, seed):
        runs = ValidatedRuns(directory=place)
        script = 'if grep -q nothing "$clicks/part-0"; then exit 0; fi\n'
        runs.fill(KEY)
        runs.write(scripts={"count": f"{script}{runs.making()}"})
        allowed, last = list[str](), ""
        with basis(runs):
            for number in range(6):
                last = f"{chance.choice(('good', 'bad', 'nothing'))} {number}\n"
                (runs.at("clicks", KEY) / "part-0").write_text(last)
                codes = [runs.run("--force")[0]]
                decision = chance.choice(("release", "reject", ""))
                if decision and "bad" in last:
                    decide = ["quality", decision, "counts", "--time", KEY, "--reason", "r", *runs.repo]
                    assert main(decide) == 0, name
                allowed += [last] if "good" in last or ("bad" in last and decision == "release") else []
                codes += [runs.run()[0] for _ in range(chance.randrange(2))] if codes[0] else []
                seen = (read(runs) or {}).get("part-0")
                assert seen is None or seen in allowed, name
                if 0 in codes:
                    assert seen == last, f"{name}: success is told of {last!r}, and readers have {seen!r}"


def ledger_outages(directory: Path, rounds: int, seed: int) -> None:
    """The ledger is away from a random moment around the end of the step on, for less than the lease."""
    for place, chance, name in rounds_of(directory, rounds, seed):
        runs = Runs(directory=place)
        runs.fill(KEY)
        before, seconds = chance.uniform(0, 1), chance.uniform(0.2, 4)
        script = f"touch {place}/away\nsleep {before:.2f}\n{runs.making()}"
        runs.write(scripts={"count": script})
        with outage(place / "away", seconds, lambda runs=runs: read(runs)) as seen:  # type: ignore[misc]
            code, result = runs.run()
        assert code == 0, f"{name}: {result}"
        assert all(each is None for each in seen), f"{name}: a flag came while the ledger was away"
        assert read(runs) == {"part-0": f"clicks of {KEY}\n"}, name
        assert (len(runs.output()), runs.events()) == (1, [("available", "00")]), name
        assert runs.query("SELECT status FROM step_run") == [("succeeded",)], name


@contextmanager
def outage(away: Path, seconds: float, look: Callable[[], object]) -> Iterator[list[object]]:
    """Let no transaction begin for some seconds after a file came; gives what was seen at each that did not."""
    begin, seen = Ledger._transaction, list[object]()  # noqa: SLF001 - where the server would be asked

    def transaction(ledger: Ledger, options: Mapping[str, bool]) -> AbstractContextManager[Transaction]:
        if away.exists() and time.time() - away.stat().st_mtime < seconds:
            seen.append(look())
            raise LedgerUnavailable(place="it", why="it is away")
        return begin(ledger, options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lease, "LEASE_SECONDS", 20.0)
        patch.setattr(Ledger, "_transaction", transaction)
        yield seen


_PARENT = """
import os, socket, subprocess, sys
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
own = {**os.environ, "PYSPARK_GATEWAY_PORT": str(listener.getsockname()[1])}
child = subprocess.Popen(sys.argv[1:], env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(child.pid, flush=True)
child.wait()
"""


def dead_parents(directory: Path, rounds: int, seed: int) -> None:
    """Kill the stand-in of spark-submit at a random moment, or signal the run while that process lives."""
    for place, chance, name in rounds_of(directory, rounds, seed):
        runs = Runs(directory=place)
        runs.fill(KEY)
        hang = place / "hang"
        hang.touch()
        script = runs.saying("begun", f"while test -e {hang}; do sleep 0.05; done\n{runs.making()}")
        runs.write(scripts={"count": script}, more="retry: {policy: periodic, delay: minutes(1), attempts: 2}")
        is_signal = chance.random() < 0.3
        with _submitted(runs) as (parent, driver):
            runs.until("begun", parent)
            time.sleep(chance.uniform(0, 0.5))
            os.kill(driver if is_signal else parent.pid, signal.SIGTERM if is_signal else signal.SIGKILL)
            _until_gone(driver, name)
        hang.unlink()
        expected = "killed" if is_signal else "failed"
        assert runs.statuses() == [("00", 1, expected)], name
        assert (read(runs), runs.alive()) == (None, []), name
        runs.change("UPDATE run SET retry_at = '2026-01-01T00:00:00.000000Z' WHERE retry_at IS NOT NULL")
        assert runs.run("--due")[0] == 0, name
        assert (read(runs) is None) is is_signal, name


@contextmanager
def _submitted(runs: Runs) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-c", _PARENT, sys.executable, str(ROOT / "entrypoints/process.py"), *runs.arguments()]
    own = {**os.environ, "FEEDCTL_LOG_DIR": str(runs.directory / "logs")}
    with ending(
        subprocess.Popen(command, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True, start_new_session=True)
    ) as parent:
        assert parent.stdout is not None
        yield parent, int(parent.stdout.readline())


def _until_gone(pid: int, name: str) -> None:
    deadline = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < deadline, name
        time.sleep(0.05)


def ordered_reruns(directory: Path, rounds: int, seed: int) -> None:
    """A person orders a rerun; checks for late data come before the process run, and data may come late as well."""
    for place, chance, name in rounds_of(directory, rounds, seed):
        runs = Runs(directory=place)
        runs.fill(KEY)
        scripts = {"count": runs.making(), "late": runs.making("late")}
        runs.write(scripts=scripts, more=LATE, flag=ARRIVAL)
        assert runs.run()[0] == 0, name
        order = ["instance", "rerun", "count", "--start", KEY, "--config-repo", str(place / "repo")]
        assert main([*order, *chance.choice(([], ["--force"]))]) == 0, name
        for number in range(chance.randrange(1, 4)):
            if chance.random() < 0.7:
                (runs.at("clicks", KEY) / f"part-{number + 1}").write_text("late\n")
            run_app(late_check.app, runs.arguments("--due", time=FIRST))
            assert runs.statuses()[1:] == [("00", 2, "ready")], name
        assert runs.run("--due")[0] == 0, name
        assert runs.output() == [f"{KEY} count"] * 2, name
        assert runs.statuses()[1:] == [("00", 2, "succeeded")], name
