"""Deletes the paths in a file, one by one: `delete_paths.py STORE FILE`; prints seconds of the imports, of the loop."""

# ruff: noqa: E402 - the imports are what is measured

import time

_BEGAN = time.perf_counter()

import sys
from pathlib import Path

from hdfs_native import Client

_IMPORTED = time.perf_counter()


def main() -> int:
    """0 when all were there."""
    store, file = sys.argv[1:]
    paths = Path(file).read_text().splitlines()
    client = Client(store)
    client.get_file_info("/")  # connected before the clock starts
    began = time.perf_counter()
    found = [client.delete(path, recursive=True) for path in paths]
    print(_IMPORTED - _BEGAN)
    print(time.perf_counter() - began)
    return 0 if all(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
