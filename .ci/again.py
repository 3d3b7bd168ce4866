"""Ends a run of tests in CI that did not end well: tries again what a busy machine may have spoilt, and prints why.

A test of what may be lost, or of who is let in, is not tried again: where it fails once, there is something to find.
`.ci/again.py TARGET LOG` comes after `make TARGET`, whose output LOG is, and ends with 1 where the failure stays one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST = 3
"""More failures than this have one cause, which is not the machine."""
NEVER = ("tests/loss/", "tests/proof/", "tests/security/", "tests/soak/", "kill", "quarantine")
"""Parts of the names of tests that are not tried again."""
_MOST_LINES, _MOST_WIDTH = 40, 200
_BROKEN_OFF = "INTERNALERROR>"
_TELLING = re.compile(
    rf"E  |{_BROKEN_OFF}.*(Error|assert)|_{{5,}} .* _{{5,}}$|FAILED |ERROR |worker 'gw|replacing crashed|=+ .* in "
)


def why_not(failed: Collection[str], log: str = "") -> str:
    """Return why tests are not tried again, by their names and the output of their run; empty: they are."""
    if not failed:
        return "no test has failed, so it is something else"
    if _BROKEN_OFF in log:
        return "the run broke off, so that not all tests have run"
    if len(failed) > MOST:
        return f"{len(failed)} tests have failed, and at most {MOST} are tried again"
    kept = [name for name in sorted(failed) if any(part in name for part in NEVER)]
    return f"one failure of {kept[0]} is a finding" if kept else ""


def telling(log: str) -> list[str]:
    """Return the lines of a run's output that say what failed, the last ones and not their whole width."""
    return [line[:_MOST_WIDTH] for line in log.splitlines() if _TELLING.match(line)][-_MOST_LINES:]


def main(target: str, output: str) -> int:
    """Try again what failed in a target of the Makefile; return the exit code."""
    failed: Collection[str] = json.loads(FAILED.read_text()) if FAILED.exists() else ()
    log = Path(output).read_text(errors="replace")
    if why := why_not(failed, log):
        print(*telling(log), *sorted(failed)[:_MOST_LINES], sep="\n", file=sys.stderr)  # noqa: T201 - for who reads the log of CI
        print(f"feedctl: not tried again: {why}", file=sys.stderr)  # noqa: T201 - the same
        return 1
    again = ["make", target, "ARGS=--last-failed -n 0"]
    code = subprocess.run(again, cwd=ROOT, check=False).returncode  # noqa: S603 - a target that .ci/run names
    for name in sorted(failed):
        end = "failed" if code else "passed"
        print(f"feedctl: WARNING: failed beside the others, alone {end}: {name}", file=sys.stderr)  # noqa: T201 - the same
    return int(code != 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
