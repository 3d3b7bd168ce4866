"""The floor: `bare_copy.py SOURCE TARGET FROM TO THREADS` streams all files, as many at once; prints its seconds.

It makes no digest, checks nothing, publishes nothing and remembers nothing.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

from hdfs_native import Client, WriteOptions

_PIECE_BYTES = 1 << 20


def main() -> int:
    """0."""
    source, target, root, place, threads = sys.argv[1:]
    began = time.perf_counter()
    reading, writing = Client(source), Client(target)

    def copy(path: str) -> None:
        options = WriteOptions(create_parent=True, overwrite=True)
        with reading.read(path) as there, writing.create(place + path.removeprefix(root), options) as here:
            while piece := there.read(_PIECE_BYTES):
                here.write(piece)

    files = [each.path for each in reading.list_status(root, recursive=True) if not each.isdir]
    with ThreadPoolExecutor(int(threads)) as pool:
        list(pool.map(copy, files))
    print(time.perf_counter() - began)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
