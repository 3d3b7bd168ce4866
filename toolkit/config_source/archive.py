"""A zip or tar archive as a snapshot; nothing is unpacked to the disk."""

import bz2
import gzip
import hashlib
import io
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NoReturn

from toolkit.config_source.errors import BadArchive
from toolkit.config_source.snapshot import Snapshot, SnapshotId, SnapshotKind
from toolkit.config_source.zip_time import zip_time
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.source_files import REPO_FILE, is_config_file, is_config_place

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
"""Endings of an archive's name."""

_MOST_BYTES = 256 << 20
"""More configuration than any repo has; a small archive can expand to terabytes."""

_MOST_HEADERS = 64 << 20
"""Names, times and the like of all members of a tar archive."""

_MOST_INDEX = 16 << 20
"""The same of a zip archive: of about 100,000 members."""

_MOST_EXTRA = 4096
"""So many bytes of extra fields a member of a zip archive may have: reading them costs the square of it."""

_CHUNK = 64 << 10
"""More than the header of one member of a tar archive has; what is read of a member at once."""

_ZIP_END = 22 + 0xFFFF
"""The end of a zip archive, with the longest comment."""

_INDEX_MAGIC = b"PK\1\2"
_INDEX_HEAD = struct.Struct("<28x3H12x")
"""Member in the index of a zip archive: the lengths of its name, extra fields and comment."""

_MOST_GLOBAL = 100
"""So many headers for all members; each member is compared with each of them."""

_LONG_NUMBER = re.compile(rb"\d{101}")
"""The standard library looks for a number from each of its digits on (CVE-2024-6232)."""

_DECOMPRESSORS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open))
"""By what the file begins with. Not xz: such a file says how much memory it needs, up to 4 GiB."""

_ZIP_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2})

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError, LookupError),
)
"""Errors of the standard library for an archive with a wrong byte in it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Member:
    name: str
    is_file: bool
    content: bytes | None
    modified: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class _Archive:
    members: tuple[_Member, ...]
    comment: str


def from_archive(path: Path) -> Snapshot:
    """Reads an archive of a config repo, at its top or in its only top folder (`git archive --prefix`).

    Raises:
        BadArchive: it cannot be read, or a name leads outside of it.
    """
    archive = _read(path)
    top = _top_folder(archive, path)
    members = [(member.name.removeprefix(top), member) for member in archive.members]
    files = {name: member.content for name, member in members if member.content is not None and is_config_file(name)}
    return Snapshot(
        root=str(path),
        files=files,
        names=frozenset(name for name, _ in members) - files.keys(),
        id=_identity(archive, path),
        problems=tuple(_refused(name) for name, each in members if not each.is_file and is_config_place(name)),
    )


def _read(path: Path) -> _Archive:
    try:
        archive = _read_zip(path) if path.name.endswith(".zip") else _read_tar(path)
    except BadArchive:
        raise
    except OSError as error:
        raise BadArchive(path=str(path), reason=f"cannot be read ({error.strerror or error})") from error
    except _DAMAGED as error:
        raise BadArchive(path=str(path), reason=f"cannot be read ({error})") from error
    seen: set[str] = set()
    for member in archive.members:
        _check_name(member.name, path)
        if member.name in seen:
            raise BadArchive(path=str(path), reason=f"has the name {member.name!r} twice")
        seen.add(member.name)
    return archive


def _check_name(name: str, path: Path) -> None:
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        raise BadArchive(path=str(path), reason=f"has the name {name!r}, which leads outside of the archive")


def _wanted(name: str) -> bool:
    inner = name.partition("/")[2]
    return is_config_file(name) or is_config_file(inner)


def _read_zip(path: Path) -> _Archive:
    with path.open("rb") as file, zipfile.ZipFile(_ZipFile(file, path)) as archive:
        return _Archive(members=tuple(_zip_members(archive, path)), comment=archive.comment.decode(errors="replace"))


def _zip_members(archive: zipfile.ZipFile, path: Path) -> Iterator[_Member]:
    budget = _Budget(path)
    for info in archive.infolist():
        if info.is_dir():
            continue
        is_file = (info.external_attr >> 28) in {0, 0o10}
        content = None
        if is_file and _wanted(info.filename):
            if info.compress_type not in _ZIP_METHODS:
                raise BadArchive(path=str(path), reason=f"has the member {info.filename!r}, packed in an unusual way")
            budget.spend(info.file_size)
            with archive.open(info) as stream:  # `read` without a size would trust the member, not its header
                content = stream.read(info.file_size)
        yield _Member(name=info.filename, is_file=is_file, content=content, modified=zip_time(info))


def _read_tar(path: Path) -> _Archive:
    with path.open("rb") as file:
        start = file.read(4)
    opened = next((each for magic, each in _DECOMPRESSORS if start.startswith(magic)), io.open)
    with opened(path, "rb") as stream:
        bounded = _TarFile(stream, path)
        with tarfile.open(fileobj=bounded, mode="r:") as archive:
            members = tuple(_tar_members(archive, bounded, path))
            return _Archive(members=members, comment=archive.pax_headers.get("comment", ""))


def _tar_members(archive: tarfile.TarFile, bounded: "_TarFile", path: Path) -> Iterator[_Member]:
    budget = _Budget(path)
    for info in archive:
        if len(archive.pax_headers) > _MOST_GLOBAL:
            raise BadArchive(path=str(path), reason=f"has more than {_MOST_GLOBAL} headers for all members")
        if info.isdir():
            continue
        is_file = info.isreg() and not info.issparse()
        content = None
        if is_file and _wanted(info.name):
            budget.spend(info.size)
            with bounded.data():
                content = _content(archive, info)
        name = info.name.removeprefix("./")
        yield _Member(name=name, is_file=is_file, content=content, modified=_modified(info, path))


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(info)
    return b"" if stream is None else b"".join(iter(lambda: stream.read(_CHUNK), b""))


def _modified(info: tarfile.TarInfo, path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(int(info.mtime), UTC)
    except (ValueError, OverflowError, OSError) as error:
        reason = f"has the member {info.name!r} with a time that cannot be ({info.mtime})"
        raise BadArchive(path=str(path), reason=reason) from error


class _Bounded(io.RawIOBase):
    """A file of which the standard library reads as much at once as a header asks for, but not more than is wise."""

    def __init__(self, stream: io.BufferedIOBase, path: Path) -> None:
        self.stream, self.path = stream, path

    def refuse(self, reason: str) -> NoReturn:
        raise BadArchive(path=str(self.path), reason=reason)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def seekable(self) -> bool:
        return True


class _ZipFile(_Bounded):
    def read(self, size: int = -1, /) -> bytes:
        if size > _MOST_INDEX:
            self.refuse(f"has an index of more than {_MOST_INDEX >> 20} MiB")
        data = self.stream.read(_ZIP_END if size < 0 else size)
        if data.startswith(_INDEX_MAGIC):
            self._check_extra(data)
        return data

    def _check_extra(self, index: bytes) -> None:
        at = 0
        while index.startswith(_INDEX_MAGIC, at) and at + _INDEX_HEAD.size <= len(index):
            name, extra, comment = _INDEX_HEAD.unpack_from(index, at)
            if extra > _MOST_EXTRA:
                self.refuse(f"has a member with {extra:,} bytes of extra fields, expected at most {_MOST_EXTRA:,}")
            at += _INDEX_HEAD.size + name + extra + comment


class _TarFile(_Bounded):
    """Counts what is read of headers; `data` brackets the reading of a member."""

    def __init__(self, stream: io.BufferedIOBase, path: Path) -> None:
        super().__init__(stream, path)
        self.left, self.is_data = _MOST_HEADERS, False

    def read(self, size: int = -1, /) -> bytes:
        if size > _CHUNK:
            self.refuse(f"has a header of more than {_CHUNK >> 10} KiB")
        data = self.stream.read(_CHUNK if size < 0 else size)
        if not self.is_data:
            self.left -= len(data)
            if self.left < 0:
                self.refuse(f"has more than {_MOST_HEADERS >> 20} MiB of headers")
            if _LONG_NUMBER.search(data):
                self.refuse("has a header with a number of more than 100 digits")
        return data

    @contextmanager
    def data(self) -> Iterator[None]:
        self.is_data = True
        try:
            yield
        finally:
            self.is_data = False


class _Budget:
    def __init__(self, path: Path) -> None:
        self.path, self.left = path, _MOST_BYTES

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0 or size < 0:
            raise BadArchive(path=str(self.path), reason=f"has more than {_MOST_BYTES >> 20} MiB of configuration")


def _top_folder(archive: _Archive, path: Path) -> str:
    names = {member.name for member in archive.members}
    if REPO_FILE in names:
        return ""
    tops = {name.partition("/")[0] for name in names}
    top = next(iter(tops)) + "/" if len(tops) == 1 else ""
    if f"{top}{REPO_FILE}" not in names:
        raise BadArchive(path=str(path), reason=f"has no {REPO_FILE} at its top")
    return top


def _identity(archive: _Archive, path: Path) -> SnapshotId:
    comment = archive.comment.strip()
    commit = comment if _COMMIT.fullmatch(comment) else None
    newest = max((member.modified for member in archive.members), default=None)
    with path.open("rb") as file:
        digest = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    return SnapshotId(kind=SnapshotKind.ARCHIVE, value=commit or digest, committed_at=newest)


def _refused(name: str) -> ConfigProblem:
    message = "found a link, expected a file: an archive does not hold what it points to"
    return ConfigProblem(file=name, rule="symlink", message=message, hint="archive the content itself")
