"""How long feedctl takes to start, against `import typer` alone: whole processes, interleaved, medians of one run.

Goals: at most 2.5 times for the help, 4 times for a command. Seconds depend on the machine, ratios hardly do.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROUNDS = 15
HELP_GOAL, GOAL = 2.5, 4.0
FEEDCTL = str(Path(sys.executable).with_name("feedctl"))
BASELINE = 'python -c "import typer"'
HELP = "feedctl --help"
COMMANDS = {
    BASELINE: [sys.executable, "-c", "import typer"],
    HELP: [FEEDCTL, "--help"],
    'feedctl el eval "today(-3,-20)"': [FEEDCTL, "el", "eval", "today(-3,-20)", "--time", "2010-01-02T01:30Z"],
}


def seconds(command: list[str]) -> float:
    """The wall-clock time of one whole process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def medians() -> dict[str, float]:
    """The median seconds of each command; a first round fills the disk cache and does not count."""
    rounds = [[seconds(command) for command in COMMANDS.values()] for _ in range(ROUNDS + 1)][1:]
    return dict(zip(COMMANDS, map(median, zip(*rounds, strict=True)), strict=True))


def main() -> int:
    """Prints medians and ratios; 1 when a ratio misses its goal."""
    figures = medians()
    ratios = {name: figure / figures[BASELINE] for name, figure in figures.items()}
    print(f"medians of {ROUNDS} rounds; goals: the help at most {HELP_GOAL} times the first line, others {GOAL:.0f}")
    for name, figure in figures.items():
        print(f"{name:<34} {figure * 1000:7.0f} ms  {ratios[name]:5.2f}x")
    return int(any(ratio > (HELP_GOAL if name == HELP else GOAL) for name, ratio in ratios.items()))


if __name__ == "__main__":
    raise SystemExit(main())
