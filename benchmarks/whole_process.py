"""Commands as whole processes: how much processor time they take, and how much memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "toolkit" / "entities" / "schemas"
PROGRAMS = Path(sys.executable).parent
FOLDERS = {"cluster": "clusters", "datasource": "datasources", "feed": "feeds", "process": "processes"}

_LAUNCHER = """
import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_CLOSE, 3)])
_, status, usage = os.wait4(process, 0)
os.write(3, f"{os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}".encode())
"""
"""A small process between: the peak of a process counts that of the one that started it."""


def keep_bytecode(folder: Path) -> None:
    """Lets what is measured find its bytecode, as when installed, on a machine that forbids writing it, too."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


def run(command: list[str], fine: Collection[int] = (0,)) -> tuple[float, float]:
    """Processor seconds and peak MiB of one whole process, which must end with one of these exit codes.

    Processor time is that of the process and of what it started; other work on the machine does not count.
    """
    silent = os.open(os.devnull, os.O_WRONLY)
    reader, writer = os.pipe()
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
    actions = [(os.POSIX_SPAWN_DUP2, silent, 1), (os.POSIX_SPAWN_DUP2, writer, 3)]
    process = os.posix_spawn(launcher[0], launcher, os.environ, file_actions=actions)
    os.close(silent)
    os.close(writer)
    with os.fdopen(reader) as told:
        figures = told.read().split()
    os.waitpid(process, 0)
    if len(figures) < 3 or int(figures[0]) not in fine:  # noqa: PLR2004 - what the launcher tells
        message = f"{command[0]} failed with {figures[0] if figures else 'no exit code'}"
        raise SystemExit(message)
    return float(figures[1]), int(figures[2]) / 1024


def generated(root: Path, entities: int) -> dict[str, list[Path]]:
    """Makes a config repo and returns its entity files by kind."""
    run([sys.executable, str(Path(__file__).with_name("generate_repo.py")), str(root), str(entities)])
    return {kind: sorted((root / folder).rglob("*.yaml")) for kind, folder in FOLDERS.items()}


def check_jsonschema(files: Mapping[str, list[Path]]) -> tuple[float, float]:
    """One process for each kind, since each has its own schema: the seconds add up, the greatest memory counts."""
    program = str(PROGRAMS / "check-jsonschema")
    runs = [run([program, "--schemafile", str(SCHEMAS / f"{kind}.json"), *map(str, of)]) for kind, of in files.items()]
    return sum(seconds for seconds, _ in runs), max(memory for _, memory in runs)
