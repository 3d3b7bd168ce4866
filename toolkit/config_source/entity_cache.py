"""Cache of a config repo that was merged without problems, on the machine, for the next command (decision 0030).

A cache file is used when its name, which is the digest of all that loading looks at, and the digest of its content are
right, and only the user of this run can have written it. Whatever else there is, the repo is loaded anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import yaml

import toolkit
from toolkit.config_source.snapshot import Snapshot
from toolkit.el.zones import ZONE_DATA
from toolkit.entities.loader import load, load_known
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import entity_kind
from toolkit.entities.vocabulary import Kind

NO_CACHE_VARIABLE = "FEEDCTL_NO_CACHE"
"""Environment variable that has every command load the config repo anew."""

_FORMAT = 1
_FEWEST = 200
"""Fewer entities are loaded as quickly as they are found."""
_MOST_BYTES = 64 << 20
_MOST_FILES = 8
_DIGEST = hashlib.sha256().digest_size
_OWN_NAME = re.compile(r"[0-9a-f]{64}|\.[0-9a-f]{64}\.\d+")
"""The name of a cache file, and of one that is being written."""
_CODE = ("config_source", "el", "entities")
"""The packages of feedctl that say what an entity is."""
_CODE_SUFFIXES = (".py", ".json")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OWNER_ONLY = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityCache:
    """The cache of one user.

    Attributes:
        folder: where its files are; made when it is missing.
        fewest: entities that a repo must have to be worth a file.
    """

    folder: Path
    fewest: int = _FEWEST

    def load(self, snapshot: Snapshot, environment: str | None) -> Repository:
        """The config repo of a snapshot, as `toolkit.entities.load` gives it, and with the same errors."""
        files = sorted(file for file in snapshot.files if entity_kind(file) is not None)
        key = _key(snapshot, environment) if len(files) >= self.fewest and not snapshot.problems else None
        if key is None:
            return load(snapshot, environment)
        documents = None
        with suppress(OSError, ValueError):
            documents = self._read(key, files)
        if documents is not None:
            return load_known(snapshot, environment, documents)
        repository = load(snapshot, environment)
        with suppress(OSError, ValueError):  # no place for it, or a text that UTF-8 does not have
            self._write(key, files, repository)
        return repository

    def _read(self, key: str, files: list[str]) -> Mapping[str, bytes]:
        """The documents of a cache file; `OSError` or `ValueError`: there is none that can be trusted."""
        with self._opened() as folder, _descriptor(key, _READ, folder) as file:
            found = _own(file)
            data = os.read(file, found.st_size) if stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES else b""
            os.utime(file)
        content = data[_DIGEST:]
        if hashlib.sha256(content).digest() != data[:_DIGEST]:
            raise ValueError
        head, _, body = content.partition(b"\n")
        ends = pairwise(accumulate(json.loads(head), initial=0))
        return {file: body[start:end] for file, (start, end) in zip(files, ends, strict=True)}

    def _write(self, key: str, files: list[str], repository: Repository) -> None:
        entries = {entry.file: entry for entry in repository.entries.values()}
        # An alias is written out wherever it stands: some kilobytes of YAML can be a gigabyte of JSON.
        documents = [
            b""
            if entity_kind(file) is Kind.MIRROR or any(b"&" in layer.data for layer in entries[file].layers)
            else _json(entries[file].document)
            for file in files
        ]
        content = b"\n".join([_json([len(each) for each in documents]), b"".join(documents)])
        if len(content) + _DIGEST > _MOST_BYTES:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._opened() as folder:
            beside = f".{key}.{os.getpid()}"
            try:
                with _descriptor(beside, _MAKE, folder) as file, os.fdopen(os.dup(file), "wb") as stream:
                    stream.write(hashlib.sha256(content).digest() + content)
                os.replace(beside, key, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(beside, dir_fd=folder)
            _forget_oldest(folder)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        with _descriptor(str(self.folder), _FOLDER) as folder:
            _own(folder)
            yield folder


def cache_of(variables: Mapping[str, str]) -> EntityCache | None:
    """The cache of the user, in the XDG Base Directory's XDG_CACHE_HOME; None: there is none to be used.

    Args:
        variables: of the environment.
    """
    home, configured = Path(variables.get("HOME", "")), Path(variables.get("XDG_CACHE_HOME", ""))
    place = configured if configured.is_absolute() else home / ".cache"
    if variables.get(NO_CACHE_VARIABLE) or not place.is_absolute():
        return None
    return EntityCache(folder=place / "feedctl" / "entities")


def _key(snapshot: Snapshot, environment: str | None) -> str | None:
    """The digest of everything that loading looks at; None: what feedctl itself is cannot be told, as in a zip."""
    code = [
        _state(each) for name in _CODE for each in sorted((_HERE / name).rglob("*")) if each.suffix in _CODE_SUFFIXES
    ]
    if not code:
        return None
    versions = [toolkit.__version__, sys.version, yaml.__version__, ZONE_DATA]
    total = hashlib.sha256(_json([_FORMAT, versions, code, environment, len(snapshot.files), len(snapshot.names)]))
    for name, content in sorted(snapshot.files.items()):
        total.update(b"%s\0%d\0" % (os.fsencode(name), len(content)))
        total.update(content)
    for name in sorted(snapshot.names):
        total.update(os.fsencode(name) + b"\0")
    return total.hexdigest()


_HERE = Path(toolkit.__file__).parent


def _state(file: Path) -> tuple[str, int, int]:
    found = file.stat()
    return file.name, found.st_size, found.st_mtime_ns


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@contextmanager
def _descriptor(name: str, flags: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, flags, _OWNER_ONLY, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _own(descriptor: int) -> os.stat_result:
    """Return the status of an open file; PermissionError: another user may have written it."""
    found = os.fstat(descriptor)
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
        raise PermissionError
    return found


def _forget_oldest(folder: int) -> None:
    """Remove the oldest of our own files: with a wrong XDG_CACHE_HOME, the folder may have had others before."""
    with os.scandir(folder) as entries:
        own = (each for each in entries if _OWN_NAME.fullmatch(each.name))
        by_age = sorted(own, key=lambda each: each.stat(follow_symlinks=False).st_mtime_ns)
    for each in by_age[:-_MOST_FILES]:
        os.unlink(each.name, dir_fd=folder)
