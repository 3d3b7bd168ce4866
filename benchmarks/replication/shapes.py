"""What is copied: instances with files, made on the source, changed there, and compared with a copy byte by byte."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hdfs_native import Client, WriteOptions
from xxhash import xxh3_128

ROOT = "/from"
START = datetime(2025, 1, 1, tzinfo=UTC)
TEMPLATE = "/${YEAR}-${MONTH}-${DAY}-${HOUR}"
_CREATE = WriteOptions(create_parent=True, overwrite=True)
_THREADS, _MEMORY_BYTES = 256, 1 << 30
_NAMED_IN_A_MESSAGE = 3


class WrongCopy(Exception):  # noqa: N818 - named for what was found
    """The target is not what the source is: the figure of the run before it is void."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """Instances, one an hour, with files of one size.

    Args:
        name: as it is printed.
        instances: how many.
        files: in each.
        size: bytes of a file.
        changed: so many files, in as many instances as there are, change between two runs.
    """

    name: str
    instances: int
    files: int
    size: int
    changed: int

    @property
    def nominal(self) -> datetime:
        """When all are due."""
        return START + timedelta(hours=self.instances - 1)

    @property
    def bytes(self) -> int:
        """Of all files."""
        return self.instances * self.files * self.size

    def names(self) -> Iterator[str]:
        """Of the files, below the root: the first of each instance, then the second, and so on."""
        for number in range(self.files):
            for hour in range(self.instances):
                yield f"{START + timedelta(hours=hour):%Y-%m-%d-%H}/part-{number:05}"


@dataclass(kw_only=True, slots=True)
class Source:
    """The files of a shape on the source.

    Args:
        client: of the source.
        shape: what is there.
    """

    client: Client
    shape: Shape
    _digests: dict[str, str] = field(default_factory=dict)

    def make(self) -> None:
        """Write all files."""
        self._write(list(self.shape.names()), "new")

    def change(self, version: int) -> None:
        """Write other bytes, as many, into some files."""
        names = list(self.shape.names())
        step = len(names) // self.shape.changed
        self._write(names[::step][: self.shape.changed], f"changed {version}")

    def remove(self) -> None:
        """Nothing of it is left."""
        self.client.delete(ROOT, recursive=True)

    def compare(self, client: Client, root: str) -> None:
        """Read all that is below a directory.

        Raises:
            WrongCopy: a file is missing, has other bytes, or should not be there.
        """
        files = [each for each in client.list_status(root, recursive=True) if not each.isdir]
        with ThreadPoolExecutor(self._threads()) as pool:
            found = dict(pool.map(lambda each: (each.path[len(root) + 1 :], _digest(client, each.path)), files))
        self.require(found, root)

    def require(self, found: Mapping[str, str], root: str) -> None:
        """Return when a copy has these files with the digests that the source's have.

        Raises:
            WrongCopy: see `compare`.
        """
        if found != self._digests:
            raise WrongCopy(_told(root, found, self._digests))

    def _write(self, names: list[str], version: str) -> None:
        def write(name: str) -> None:
            content = random.Random(f"{name} {version}").randbytes(self.shape.size)  # noqa: S311 - no secret
            with self.client.create(f"{ROOT}/{name}", _CREATE) as file:
                file.write(content)
            self._digests[name] = xxh3_128(content).hexdigest()

        with ThreadPoolExecutor(self._threads()) as pool:
            list(pool.map(write, names))

    def _threads(self) -> int:
        return min(_THREADS, max(1, _MEMORY_BYTES // self.shape.size))


def _digest(client: Client, path: str) -> str:
    digest = xxh3_128()
    with client.read(path) as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _told(root: str, found: Mapping[str, str], expected: Mapping[str, str]) -> str:
    wrong = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
    missing = len(expected.keys() - found.keys())
    return f"{root}: {len(wrong)} files are wrong, {missing} of them missing: {wrong[:_NAMED_IN_A_MESSAGE]}"
