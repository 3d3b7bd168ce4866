"""Memory of a replication that grows with what it copies: peak of the whole process for 10,000 and 100,000 files.

All files are in one instance on this disk, of 100 bytes each, which are copied to another directory of it. A dry run
lists and decides; a run copies, compares with the listings and publishes; the second run finds all at the target.
What a file costs is the difference of both sizes, so that interpreter and libraries do not count. Spark is in none.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.whole_process import PROGRAMS, ROOT, keep_bytecode, run

FEW, MANY = 10_000, 100_000
BYTES_A_FILE = 2048
"""The goal: what a run may add for each file, at its worst moment."""
_DIRECTORIES = 100
_REPO = """\
name: memory
ledger: sqlite:///{ledger}
"""
_CLUSTER = """\
kind: cluster
name: {name}
interfaces: {{write: {{endpoint: "file://{place}"}}}}
"""
_FEED = """\
kind: feed
name: clicks
frequency: hours(1)
locations: {data: "/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}"}
clusters:
  - {name: primary, type: source, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
  - {name: backup, type: target, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
"""
INSTANCE = "2026-01-01T00:00Z"


def made(folder: Path, files: int) -> list[str]:
    """A repo and its data; gives the command of a run."""
    texts = {"repo.yaml": _REPO.format(ledger=folder / "ledger.db"), "feeds/clicks.yaml": _FEED}
    for name, place in {"primary": "from", "backup": "to"}.items():
        (folder / place).mkdir()
        texts[f"clusters/{name}.yaml"] = _CLUSTER.format(name=name, place=folder / place)
    for name, text in texts.items():
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(text)
    for number in range(files):
        path = folder / "from/clicks/2026-01-01-00" / f"part={number % _DIRECTORIES:03}" / f"part-{number:05}.parquet"
        if number < _DIRECTORIES:
            path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * 100)
    entrypoint = str(ROOT / "entrypoints" / "replication.py")
    options = ["--feed", "clicks", "--config-repo", str(folder / "repo"), "--time", INSTANCE, "--output", "jsonl"]
    return [sys.executable, entrypoint, *options]


def measured(files: int) -> Iterator[tuple[str, float, float]]:
    """What was done, its seconds of processor, and its peak in MiB."""
    with tempfile.TemporaryDirectory() as name:
        command = made(Path(name), files)
        run([str(PROGRAMS / "feedctl"), "ledger", "upgrade", "--config-repo", f"{name}/repo"])
        for what, more in {
            "dry run": ["--dry-run"],
            "run": [],
            "run with nothing to do": ["--start", INSTANCE],
        }.items():
            yield what, *run([*command, *more])
        copied = sum(path.is_file() for path in (Path(name) / "to/clicks").rglob("part-*"))
        if copied != files:
            message = f"{copied} of {files} files were copied"
            raise SystemExit(message)


def main() -> int:
    """Prints the figures; 1 when a file costs more than it may."""
    with tempfile.TemporaryDirectory() as bytecode:
        keep_bytecode(Path(bytecode))
        list(measured(1))
        few, many = list(measured(FEW)), list(measured(MANY))
    is_met = True
    for (what, seconds, small), (_, longer, large) in zip(few, many, strict=True):
        each = (large - small) * 1024 * 1024 / (MANY - FEW)
        is_met &= each <= BYTES_A_FILE
        reported = (
            f"{FEW:,} files: {small:.0f} MiB, {seconds:.1f} s of CPU; {MANY:,} files: {large:.0f} MiB, {longer:.1f} s"
        )
        print(f"{what}: {reported}; {each:.0f} bytes a file (goal: {BYTES_A_FILE})")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
