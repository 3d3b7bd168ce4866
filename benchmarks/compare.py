"""Processor time of one commit against another, and how many modules an eviction and a replication go through.

Eviction and replication on local disks, jobs and leases of a SQLite ledger, start-up, lint. All are whole processes
that take turns in one run, with the packages that are installed now. Goal: at most 5 % more than before, of the ledger
20 %.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.whole_process import ROOT, generated, keep_bytecode, run

GOAL, LEDGER_GOAL = 1.05, 1.20
MODULES = {"eviction": 125, "replication": 140}
TIME = "2026-03-20T12:00Z"
FOUND_OR_NOT = (0, 1)
COMMAND = "from toolkit.cli.main import run; run()"
INSTANCES, FILES = 1_440, 400
ALWAYS = "{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
LEDGER = """
import sys, sqlalchemy as sa
from benchmarks import ledger_filling as filling
from benchmarks.ledger_work import job, lease
ledger = filling.registered(sa.URL.create("sqlite", database=sys.argv[2]))
filling.enqueue(ledger, 150)
for _ in range(150):
    {"jobs": job, "leases": lease}[sys.argv[1]](ledger)
ledger.close()
"""
TRACED = """
import os, runpy, sys, threading
from toolkit.cli.boundary import run_app
app, seen = runpy.run_path(sys.argv[1])["app"], set()
def look(frame, event, _):
    name = frame.f_globals.get("__name__", "")
    if event == "call" and name.startswith("toolkit.") and frame.f_code.co_flags & 1:  # a function, no body of a class
        seen.add(name)
for feed in ("warm", "clicks"):  # the first run imports what the second is traced in
    if feed == "clicks":
        threading.setprofile(look)
        sys.setprofile(look)
    assert run_app(app, ["--feed", feed, *sys.argv[2:]]) == 0
sys.setprofile(None)
os.write(3, str(len(seen)).encode())
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Something that both do.

    Attributes:
        command: makes what is needed in an empty directory; returns the command.
        goal: times of before.
        fine: exit codes.
    """

    command: Callable[[Path, Path], list[str]]
    goal: float = GOAL
    fine: tuple[int, ...] = (0,)


def _repo(folder: Path, clusters: tuple[str, ...], feed: str) -> Path:
    """Write a config repo with the feeds `clicks` and `warm`, and a ledger."""
    documents = {"repo.yaml": f"name: compared\nledger: sqlite:///{folder}/ledger.db\n"}
    for name in clusters:
        (folder / name).mkdir(parents=True)
        endpoint = f'{{endpoint: "file://{folder}/{name}"}}'
        interfaces = f"{{readonly: {endpoint}, write: {endpoint}}}"
        documents[f"clusters/{name}.yaml"] = f"kind: cluster\nname: {name}\ninterfaces: {interfaces}\n"
    documents |= {f"feeds/{name}.yaml": feed.replace("NAME", name) for name in ("clicks", "warm")}
    for name, text in documents.items():
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(text)
    return folder / "repo"


def evicted(folder: Path, instances: int) -> list[str]:
    """Make a feed with so many instances that are old; the options of their eviction."""
    feed = f"""kind: feed
name: NAME
frequency: minutes(1)
locations: {{data: "/NAME/${{YEAR}}-${{MONTH}}-${{DAY}}/${{HOUR}}/${{MINUTE}}"}}
clusters: [{{name: primary, validity: {ALWAYS}, retention: {{limit: days(10)}}}}]
"""
    repo = _repo(folder, ("primary",), feed)
    for name in ("clicks", "warm"):
        for minute in range(instances):
            place = folder / f"primary/{name}/2026-03-01/{minute // 60:02}/{minute % 60:02}"
            place.mkdir(parents=True)
            (place / "part-0").touch()
    return ["--config-repo", str(repo), "--time", TIME]


def replicated(folder: Path, files: int) -> list[str]:
    """Make a feed with so many files in its latest instance; the options of its replication."""
    feed = """kind: feed
name: NAME
frequency: hours(1)
availability_flag: _SUCCESS
locations: {data: "/NAME/${YEAR}-${MONTH}-${DAY}-${HOUR}"}
clusters:
  - {name: primary, type: source, validity: {start: 2026-03-20T12:00Z, end: 2099-01-01T00:00Z}}
  - {name: backup, type: target, validity: {start: 2026-03-20T12:00Z, end: 2099-01-01T00:00Z}}
"""
    repo = _repo(folder, ("primary", "backup"), feed)
    for name in ("clicks", "warm"):
        place = folder / f"primary/{name}/2026-03-20-12"
        place.mkdir(parents=True)
        for number in range(files):
            (place / f"part-{number}").write_bytes(b"x" * 1000)
        (place / "_SUCCESS").touch()
    return ["--config-repo", str(repo), "--time", TIME]


def _entrypoint(name: str, prepared: Callable[[Path, int], list[str]], size: int) -> Callable[[Path, Path], list[str]]:
    def command(source: Path, folder: Path) -> list[str]:
        return [sys.executable, "-P", f"{source}/entrypoints/{name}.py", "--feed", "clicks", *prepared(folder, size)]

    return command


def _feedctl(*arguments: str) -> Callable[[Path, Path], list[str]]:
    return lambda _, __: [sys.executable, "-P", "-c", COMMAND, *arguments]


def _ledger(what: str) -> Callable[[Path, Path], list[str]]:
    return lambda _, folder: [sys.executable, "-P", "-c", LEDGER, what, f"{folder}/ledger.db"]


def works(lint: Path) -> Mapping[str, Work]:
    """Return all that is compared."""
    return {
        f"eviction of {INSTANCES:,} instances": Work(command=_entrypoint("retention", evicted, INSTANCES)),
        f"replication of {FILES} files": Work(command=_entrypoint("replication", replicated, FILES)),
        "ledger: 150 jobs of three steps": Work(command=_ledger("jobs"), goal=LEDGER_GOAL),
        "ledger: 150 runs with a lease": Work(command=_ledger("leases"), goal=LEDGER_GOAL),
        "start-up: feedctl --help": Work(command=_feedctl("--help")),
        "start-up: feedctl el eval": Work(command=_feedctl("el", "eval", "today(-3,-20)", "--time", TIME)),
        "lint of 300 entities": Work(
            command=_feedctl("lint", "--config-repo", str(lint), "--time", TIME), fine=FOUND_OR_NOT
        ),
    }


def seconds(work: Work, source: Path) -> float:
    """Return the processor seconds of one run."""
    with tempfile.TemporaryDirectory() as name:
        command = work.command(source, Path(name))
        os.environ["PYTHONPATH"] = str(source)
        return run(command, work.fine)[0]


def modules(source: Path, entrypoint: str, prepared: Callable[[Path, int], list[str]]) -> int:
    """Return how many modules have a function that one run calls."""
    with tempfile.TemporaryDirectory() as name:
        options = prepared(Path(name), 3)
        script = f"{source}/entrypoints/{entrypoint}.py"
        reported, writer = os.pipe()
        ran = subprocess.run(
            ["sh", "-c", f'exec "$@" 3>&{writer}', "sh", sys.executable, "-P", "-c", TRACED, script, *options],
            env={**os.environ, "PYTHONPATH": str(source)},
            pass_fds=(writer,), capture_output=True, text=True, check=False,
        )  # fmt: skip
        os.close(writer)
        with os.fdopen(reported) as answer:
            found = answer.read()
    assert ran.returncode == 0, ran.stderr
    return int(found)


def source_of(ref: str, folder: Path) -> Path:
    """Return the files of a commit of this repo, in a new folder."""
    parts = ("toolkit", "entrypoints", "benchmarks", "tests/databases", "tests/__init__.py")
    archive = subprocess.run(["git", "archive", ref, *parts], cwd=ROOT, check=True, capture_output=True).stdout
    folder.mkdir()
    subprocess.run(["tar", "--extract"], cwd=folder, input=archive, check=True)
    return folder


def main() -> int:
    """Prints the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", metavar="REF", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="TEXT", help="what has this in its title")
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keep_bytecode(folder / "bytecode")
        sources = {"before": source_of(options.before, folder / "before"), "now": source_of("HEAD", folder / "now")}
        for action, (entrypoint, prepared) in {
            "eviction": ("retention", evicted), "replication": ("replication", replicated),
        }.items():  # fmt: skip
            found = {each: modules(source, entrypoint, prepared) for each, source in sources.items()}
            missed |= found["now"] > MODULES[action]
            print(f"{action}: {found['before']} modules before, {found['now']} now, goal {MODULES[action]}")
        generated(folder / "lint", 300)
        chosen = {title: work for title, work in works(folder / "lint").items() if options.only in title}
        for title, work in chosen.items():
            rounds = [
                {each: seconds(work, source) for each, source in sources.items()} for _ in range(options.rounds + 1)
            ]
            before, now = (median(each[which] for each in rounds[1:]) for which in ("before", "now"))
            missed |= now > work.goal * before
            print(f"{title:36} {before:7.3f} s {now:7.3f} s  {now / before:5.2f}x  goal {work.goal:.2f}x", flush=True)
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
