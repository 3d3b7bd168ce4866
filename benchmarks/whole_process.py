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


def keep_bytecode(folder: Path) -> None:
    """Lets what is measured find its bytecode, as when installed, on a machine that forbids writing it, too."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


def run(command: list[str], fine: Collection[int] = (0,)) -> tuple[float, float]:
    """Processor seconds and peak MiB of one whole process, which must end with one of these exit codes.

    Processor time is that of the process and of what it started; other work on the machine does not count.
    """
    silent = os.open(os.devnull, os.O_WRONLY)
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, silent, 1)])
    os.close(silent)
    _, status, usage = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status) not in fine:
        message = f"{command[0]} failed with {os.waitstatus_to_exitcode(status)}"
        raise SystemExit(message)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def generated(root: Path, entities: int) -> dict[str, list[Path]]:
    """Makes a config repo and returns its entity files by kind."""
    run([sys.executable, str(Path(__file__).with_name("generate_repo.py")), str(root), str(entities)])
    return {kind: sorted((root / folder).rglob("*.yaml")) for kind, folder in FOLDERS.items()}


def check_jsonschema(files: Mapping[str, list[Path]]) -> tuple[float, float]:
    """One process for each kind, since each has its own schema: the seconds add up, the greatest memory counts."""
    program = str(PROGRAMS / "check-jsonschema")
    runs = [run([program, "--schemafile", str(SCHEMAS / f"{kind}.json"), *map(str, of)]) for kind, of in files.items()]
    return sum(seconds for seconds, _ in runs), max(memory for _, memory in runs)
