"""Reader of an instance in parts, as `python -m tests.loss.part_reader DIRECTORY FLAG STOP PARTS...`.

It shares no code with the product. It reads until the file STOP is there, and then prints what it counted.

A read looks at the flag, reads one file of each part, and looks at the flag again. It counts as

- unannounced: the flag is not there before or not there after;
- across: another flag is there after than before, so that the instance was announced anew meanwhile;
- whole: the same flag is there, and all parts of each source are of one generation;
- mixed: the same flag is there, and a part is missing or of another generation than others of its source.

The first directory of a part names its source. Sources have no generation in common: each is published by itself.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import hdfs_native

MISSING = "missing"


class Reads(Protocol):
    """A store as a reader sees it."""

    def flag(self, path: str) -> tuple[int, ...] | None:
        """Return what tells one flag from the next, or None if there is none."""
        ...

    def text(self, path: str) -> str:
        """Return what a file says, or `MISSING`."""
        ...


class LocalReads:
    """Files of this machine."""

    def flag(self, path: str) -> tuple[int, ...] | None:
        try:
            found = os.stat(path)  # noqa: PTH116 - many of them a second
        except FileNotFoundError:
            return None
        return (found.st_ino, found.st_mtime_ns)

    def text(self, path: str) -> str:
        try:
            with open(path) as file:  # noqa: PTH123 - many of them a second
                return file.read()
        except FileNotFoundError:
            return MISSING


class HdfsReads:
    """Files of an HDFS."""

    def __init__(self, uri: str) -> None:
        self._client = hdfs_native.Client(uri)

    def flag(self, path: str) -> tuple[int, ...] | None:
        try:
            return (self._client.get_file_info(path).modification_time,)
        except FileNotFoundError:
            return None

    def text(self, path: str) -> str:
        try:
            with self._client.read(path) as stream:
                content: bytes = stream.read()
                return content.decode()
        except FileNotFoundError:
            return MISSING


def reads_of(uri: str) -> tuple[Reads, str]:
    """Return the store of a directory, and the directory's path there."""
    scheme, _, rest = uri.partition("://")
    authority, _, path = rest.partition("/")
    return (LocalReads() if scheme == "file" else HdfsReads(f"{scheme}://{authority}")), f"/{path}"


def generations(store: Reads, directory: str, parts: Sequence[str]) -> set[tuple[str, str]]:
    """Return each source with each generation that its parts have."""
    return {(part.partition("/")[0], store.text(f"{directory}/{part}/data")) for part in parts}


def is_mixed(found: set[tuple[str, str]]) -> bool:
    """Return whether a part is missing, or of another generation than others of its source."""
    return len(dict(found)) < len(found) or MISSING in dict(found).values()


def one_read(store: Reads, directory: str, flag: str, parts: Sequence[str]) -> str:
    """Read the instance once, and say what kind of read it was."""
    before = store.flag(f"{directory}/{flag}")
    found = generations(store, directory, parts)
    after = store.flag(f"{directory}/{flag}")
    if before is None or after is None:
        return "unannounced"
    if before != after:
        return "across"
    return "mixed" if is_mixed(found) else "whole"


def count(read: Callable[[], str], stop: Path) -> Counter[str]:
    """Read until a file is there."""
    counted: Counter[str] = Counter()
    while not stop.exists():
        for _ in range(20):
            counted[read()] += 1
    return counted


if __name__ == "__main__":
    _uri, _flag, _stop, *_parts = sys.argv[1:]
    _store, _directory = reads_of(_uri)
    print(json.dumps(count(lambda: one_read(_store, _directory, _flag, _parts), Path(_stop))))  # noqa: T201
