"""feedctl evicts in a fresh Python: `in_process.py REPO TIME FEED LEDGER`; prints seconds of imports, of the call."""

# ruff: noqa: E402 - the imports are what is measured

import time

_BEGAN = time.perf_counter()

import os
import sys

from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.retention import evict
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.runs.stop import watched_signals

_IMPORTED = time.perf_counter()


def main() -> int:
    """The exit code of the run."""
    repo, nominal_time, feed, ledger = sys.argv[1:]
    options = ActionOptions(
        selection=EntitySelection(names=(feed,)),
        repo=RepoRequest(config_repo=repo, variables=os.environ),
        nominal_time=parse_instant(nominal_time),
        dry_run=False,
        approve=None,
        allow_dirty=False,
        no_ledger=ledger == "no-ledger",
    )
    began = time.perf_counter()
    with watched_signals(os.environ) as line:
        result = evict(options, SystemClock(), line, NoProgress())
    print(_IMPORTED - _BEGAN)
    print(time.perf_counter() - began)
    return result.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
