"""feedctl in a fresh Python: `in_process.py ENTRYPOINT OPTIONS...`; prints seconds of imports, of the call."""

# ruff: noqa: E402 - the imports are what is measured

import time

_BEGAN = time.perf_counter()

import contextlib
import gc
import importlib
import os
import sys
from pathlib import Path

from toolkit.cli.boundary import run_app

_APP = importlib.import_module(f"entrypoints.{sys.argv[1]}").app

_IMPORTED = time.perf_counter()


def main() -> int:
    """The exit code of the run."""
    gc.set_threshold(200_000)  # as `run_process`, by which every entrypoint starts
    began = time.perf_counter()
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        code = run_app(_APP, sys.argv[2:])
    print(_IMPORTED - _BEGAN)
    print(time.perf_counter() - began)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
