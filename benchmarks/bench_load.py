"""Loading and validating 10,000 entities, references included, against check-jsonschema on the same files.

Both run as whole processes, once each a round; prints seconds, peak memory and the ratio of one run. check-jsonschema
checks the shape of each file only: no formats of ours, no references between files.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

GOAL = 1.0
FOLDERS = {"cluster": "clusters", "datasource": "datasources", "feed": "feeds", "process": "processes"}
ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "toolkit" / "entities" / "schemas"
LOAD = """
import sys
from pathlib import Path
from toolkit.config_source import open_snapshot
from toolkit.entities import load
repository = load(open_snapshot(Path(sys.argv[1])))
print(sum(1 for _ in repository.entities()))
"""


def run(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MiB of one whole process."""
    began = time.perf_counter()
    silent = os.open(os.devnull, os.O_WRONLY)
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, silent, 1)])
    os.close(silent)
    _, status, usage = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        message = f"{command[0]} failed with {os.waitstatus_to_exitcode(status)}"
        raise SystemExit(message)
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def check_jsonschema(files: dict[str, list[Path]]) -> tuple[float, float]:
    """One process for each kind, since each has its own schema: the seconds add up, the greatest memory counts."""
    program = str(Path(sys.executable).parent / "check-jsonschema")
    runs = [run([program, "--schemafile", str(SCHEMAS / f"{kind}.json"), *map(str, of)]) for kind, of in files.items()]
    return sum(seconds for seconds, _ in runs), max(memory for _, memory in runs)


def main() -> int:
    """Prints the figures; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        run([sys.executable, str(Path(__file__).with_name("generate_repo.py")), str(root), str(options.entities)])
        files = {kind: sorted((root / folder).rglob("*.yaml")) for kind, folder in FOLDERS.items()}
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
