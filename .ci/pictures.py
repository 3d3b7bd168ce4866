"""Draws the pictures of docs/pictures from what feedctl prints on a terminal: `pictures.py [DIRECTORY]`."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
COLUMNS = {"lint": 118, "status": 136}
_DATE = "2026-03-20T12:00:00Z"
_CLOCK = re.compile(r"(?!2026-03-)20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""Times of the machine's clock; those of the example are in March 2026."""
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Rich's picture fetches its font from a network; the page's own monospace font does."""


def main(directory: Path) -> int:
    """Draw each picture."""
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="feedctl-pictures-") as parent:
        repo = _example_repo(Path(parent))
        status = _terminal(repo, "status", "--time", "2026-03-20T12:00Z")
        process = repo / "processes" / "customer_activity_job.yaml"
        process.write_text(process.read_text().replace('"yesterday(0,0)"', '"today(-480,0)"'))
        finding = _terminal(repo, "lint", "--select", "input-older-than-retention", "--time", _DATE)
    for command, output in (("status", status), ("lint", finding)):
        (directory / f"{command}.svg").write_text(picture(command, output), encoding="utf-8")
    return 0


def picture(command: str, output: str) -> str:
    """Return the SVG of a terminal with the output of the command, the same for the same output."""
    console = Console(record=True, width=COLUMNS[command], file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(_CLOCK.sub("2026-03-20T12:00:29Z", output.strip())))
    svg = console.export_svg(title=f"feedctl {command}", unique_id=f"feedctl-{command}")
    return "".join(f"{line.rstrip()}\n" for line in _FONTS.sub("", svg).splitlines())


def _example_repo(parent: Path) -> Path:
    """Return a config repo from the template: retention has run, a process is suspended, data is late."""
    repo = parent / "web-feeds"
    _quietly(parent, "feedctl", "init", repo.name)
    for feed in ("clicks", "clicks_hourly", "impressions"):
        script = str(ROOT / "entrypoints" / "retention.py")
        _quietly(repo, sys.executable, script, "--feed", feed, "--time", "2026-03-20T12:00Z")
    _quietly(repo, "feedctl", "entity", "suspend", "clicks_hourly_job", "--reason", "schema change")
    for time in ("2026-03-20T08:00Z", "2026-03-20T12:00Z"):
        _quietly(repo, "feedctl", "monitor", "--time", time, "--no-send")
    return repo


def _quietly(directory: Path, *command: str) -> None:
    subprocess.run(command, cwd=directory, env=_variables(), stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - commands of this module


def _terminal(directory: Path, command: str, *options: str) -> str:
    """Return what the command of feedctl writes to a terminal."""
    ours, theirs = pty.openpty()
    variables = {**_variables(), "COLUMNS": str(COLUMNS[command])}
    words = ["feedctl", command, *options]
    with subprocess.Popen(words, cwd=directory, env=variables, stdout=theirs, stderr=theirs):  # noqa: S603 - the feedctl of this environment
        os.close(theirs)
        output = b""
        while block := _read(ours):
            output += block
    os.close(ours)
    return output.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # a terminal that nobody writes to any more
        return b""


def _variables() -> Mapping[str, str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "LINES": "60", "TERM": "xterm-256color", "PATH": programs}


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if sys.argv[1:] else PICTURES))
