"""Linting with all rules: against check-jsonschema on the same files, growth, and one changed file of a small repo.

All are whole processes, seconds are processor time. check-jsonschema checks the shape of each file only: no formats of
ours, nothing between files.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.whole_process import PROGRAMS, ROOT, check_jsonschema, generated, keep_bytecode, run

GOAL = 0.35
GROWTH_GOAL = 1.5
START_GOAL = 4.0
START_ROUNDS = 15
FEEDCTL = str(PROGRAMS / "feedctl")
CHANGED = "feeds/web/clicks.yaml"
TIME = "2026-03-20T12:00Z"
FOUND_OR_NOT = (0, 1)


def lint(root: Path, *more: str) -> tuple[float, float]:
    """Seconds and peak MiB of a lint of a whole repo."""
    return run([FEEDCTL, "lint", "--config-repo", str(root), "--time", TIME, *more], FOUND_OR_NOT)


def against_check_jsonschema(folder: Path, entities: int) -> tuple[float, bool]:
    """Prints both on the same files; the seconds of ours, and whether the goal is met."""
    files = generated(folder, entities)
    (ours, memory), (theirs, their_memory) = lint(folder), check_jsonschema(files)
    ratio = ours / theirs
    print(f"lint of {entities} entities with all rules")
    for name, seconds, peak in (("feedctl lint", ours, memory), ("check-jsonschema", theirs, their_memory)):
        print(f"  {name:18} {seconds:7.2f} s  {seconds / entities * 1e6:7.0f} us an entity  peak {peak:5.0f} MiB")
    print(f"  ratio {ratio:.2f} (goal: at most {GOAL})")
    return ours, ratio <= GOAL


def growth(folder: Path, largest: int, seconds_of_largest: float) -> bool:
    """Prints what an entity costs more in larger repos, without the cost of starting."""
    sizes = [largest // 100, largest // 10]
    for size in sizes:
        generated(folder / str(size), size)
    found = [(size, median(lint(folder / str(size))[0] for _ in range(3))) for size in sizes]
    found.append((largest, seconds_of_largest))
    print("growth")
    for size, seconds in found:
        print(f"  {size:6} entities {seconds:7.2f} s  {seconds / size * 1e6:7.0f} us an entity")
    (small, first), (middle, second), (_, last) = found
    few, many = (second - first) / (middle - small), (last - second) / (largest - middle)
    print(f"  each further one: {few * 1e6:.0f} us up to {middle}, {many * 1e6:.0f} us up to {largest}")
    print(f"  ratio {many / few:.2f} (goal: at most {GROWTH_GOAL})")
    return many / few <= GROWTH_GOAL


def one_changed_file(folder: Path) -> bool:
    """Prints the time of linting one changed file of the template, against starting Python with typer."""
    shutil.copytree(ROOT / "config_repo_template", folder)
    commit = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "--quiet", "--message=template"]
    for command in (["init", "--quiet"], ["add", "--all"], commit):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / CHANGED).write_text((folder / CHANGED).read_text() + "# changed\n")
    commands = {
        'python -c "import typer"': [sys.executable, "-c", "import typer"],
        f"feedctl lint {CHANGED}": [FEEDCTL, "lint", "--config-repo", str(folder), str(folder / CHANGED)],
    }
    rounds = [[run(command, FOUND_OR_NOT)[0] for command in commands.values()] for _ in range(START_ROUNDS + 1)][1:]
    python, ours = (float(median(times)) for times in zip(*rounds, strict=True))
    print(f"one changed file of the template, medians of {START_ROUNDS} rounds")
    for name, seconds in zip(commands, (python, ours), strict=True):
        print(f"  {name:34} {seconds * 1000:7.0f} ms  {seconds / python:5.2f}x")
    print(f"  goal: under {START_GOAL:.0f} times the first line")
    return ours / python < START_GOAL


def main() -> int:
    """Prints the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keep_bytecode(folder / "bytecode")
        seconds, fast = against_check_jsonschema(folder / "large", options.entities)
        met = [fast, growth(folder, options.entities, seconds), one_changed_file(folder / "template")]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
