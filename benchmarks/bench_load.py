"""Loading and validating 10,000 entities, references included, against check-jsonschema on the same files.

Both run as whole processes, once each a round; prints processor seconds, peak memory and the ratio of one run.
check-jsonschema checks the shape of each file only: no formats of ours, no references between files.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.whole_process import check_jsonschema, generated, run

GOAL = 1.0
LOAD = """
import sys
from pathlib import Path
from toolkit.config_source import open_snapshot
from toolkit.entities import load
repository = load(open_snapshot(Path(sys.argv[1])))
print(sum(1 for _ in repository.entities()))
"""


def main() -> int:
    """Prints the figures; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        files = generated(root, options.entities)
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(run([sys.executable, "-c", LOAD, str(root)]))
            theirs.append(check_jsonschema(files))
    return report(options.entities, ours, theirs)


def report(entities: int, ours: list[tuple[float, float]], theirs: list[tuple[float, float]]) -> int:
    seconds = {
        "feedctl": statistics.median(s for s, _ in ours),
        "check-jsonschema": statistics.median(s for s, _ in theirs),
    }
    memory = {"feedctl": max(m for _, m in ours), "check-jsonschema": max(m for _, m in theirs)}
    print(f"load and validate {entities} entities, whole processes")
    for name, each in seconds.items():
        print(f"  {name:18} {each:7.2f} s  {each / entities * 1e6:7.0f} us an entity  peak {memory[name]:5.0f} MiB")
    ratio = seconds["feedctl"] / seconds["check-jsonschema"]
    print(f"  ratio {ratio:.2f} (goal: at most {GOAL})")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
