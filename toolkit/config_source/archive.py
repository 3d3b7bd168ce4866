"""A zip or tar archive as a snapshot; nothing is unpacked to the disk."""

import hashlib
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from toolkit.config_source.errors import BadArchive
from toolkit.config_source.snapshot import Snapshot, SnapshotId, SnapshotKind
from toolkit.config_source.zip_time import zip_time
from toolkit.entities.problems import Problem
from toolkit.entities.source_files import REPO_FILE, is_config_file, is_config_place

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
"""What an archive's name ends with."""

_MOST_BYTES = 256 << 20
"""More configuration than any repo has; a small archive can expand to terabytes."""

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


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
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadArchive(path=str(path), reason=f"cannot be read ({error})") from error
    except OSError as error:
        raise BadArchive(path=str(path), reason=f"cannot be read ({error.strerror or error})") from error
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
    with zipfile.ZipFile(path) as archive:
        return _Archive(members=tuple(_zip_members(archive, path)), comment=archive.comment.decode(errors="replace"))


def _zip_members(archive: zipfile.ZipFile, path: Path) -> Iterator[_Member]:
    budget = _Budget(path)
    for info in archive.infolist():
        if info.is_dir():
            continue
        is_file = (info.external_attr >> 28) in {0, 0o10}
        content = None
        if is_file and _wanted(info.filename):
            budget.spend(info.file_size)
            content = archive.read(info)
        yield _Member(name=info.filename, is_file=is_file, content=content, modified=zip_time(info))


def _read_tar(path: Path) -> _Archive:
    with tarfile.open(path, "r:*") as archive:
        return _Archive(members=tuple(_tar_members(archive, path)), comment=archive.pax_headers.get("comment", ""))


def _tar_members(archive: tarfile.TarFile, path: Path) -> Iterator[_Member]:
    budget = _Budget(path)
    for info in archive:
        if info.isdir():
            continue
        stream = None
        if info.isreg() and _wanted(info.name):
            budget.spend(info.size)
            stream = archive.extractfile(info)
        yield _Member(
            name=info.name.removeprefix("./"),
            is_file=info.isreg(),
            content=None if stream is None else stream.read(),
            modified=datetime.fromtimestamp(int(info.mtime), UTC),
        )


class _Budget:
    def __init__(self, path: Path) -> None:
        self.path, self.left = path, _MOST_BYTES

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
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
    digest = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    return SnapshotId(kind=SnapshotKind.ARCHIVE, value=commit or digest, committed_at=newest)


def _refused(name: str) -> Problem:
    message = "found a link, expected a file: an archive does not hold what it points to"
    return Problem(file=name, rule="symlink", message=message, hint="archive the content itself")
