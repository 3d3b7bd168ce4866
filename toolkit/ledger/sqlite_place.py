"""Files of a SQLite ledger: who may write them, and whether its folder and disk will do.

Other machines must not share the disk, since they do not share its locks (proc(5), mountinfo), and a cluster must not
have chosen this machine, where a local file is no other feed's.
"""

from __future__ import annotations

import os
import pwd
import re
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from toolkit.ledger.errors import LedgerUnavailable, UnusableLedger


def cluster_mode(variables: Mapping[str, str]) -> str | None:
    """The kind of container that a cluster started this process in; None: it runs on a machine that was chosen.

    YARN names the container in CONTAINER_ID, also for the launchers of Oozie. In a driver pod Spark sets
    SPARK_DRIVER_BIND_ADDRESS; a pod by itself, as of a CI runner, is no cluster mode.

    Args:
        variables: of the environment.
    """
    if variables.get("CONTAINER_ID", "").startswith("container_"):
        return "a container of YARN"
    if "KUBERNETES_SERVICE_HOST" in variables and "SPARK_DRIVER_BIND_ADDRESS" in variables:
        return "a driver pod of Kubernetes"
    return None


_MOUNT_INFO = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")
_SHARED = re.compile(r"nfs\d*|cifs|smb\w*|ceph|lustre|gpfs|beegfs|glusterfs|afs|9p|fuse(\..+)?")
"""Network file systems, the usual ones."""
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs"})
"""The root of a container without root is one, on a local disk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A file system in the tree.

    Attributes:
        point: where it begins.
        kind: for example ext4.
    """

    point: PurePath
    kind: str

    @property
    def is_shared(self) -> bool:
        """True if other machines may have the same files, so that a local lock does not exclude them.

        FUSE counts as shared unless it is known better: most of what is mounted by it is somewhere else.
        """
        return _SHARED.fullmatch(self.kind) is not None and self.kind not in _LOCAL_FUSE


def read_mounts(info: str) -> Iterator[Mount]:
    """The mounts in the text of a mountinfo file; lines that are none are left out."""
    for line in info.splitlines():
        fields, separator, system = line.partition(" - ")
        before, after = fields.split(" "), system.split(" ")
        if separator and len(before) > 4 and after[0]:  # noqa: PLR2004 - the fifth field is the mount point
            point = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), before[4])
            yield Mount(point=PurePath(point), kind=after[0])


def mount_of(path: PurePath, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that holds a path: the deepest one, and of several on one point the newest.

    Args:
        path: absolute, without links.
        mounts: in the order of mountinfo.
    """
    holding = [(len(each.point.parts), place, each) for place, each in enumerate(mounts) if _holds(each, path)]
    return max(holding)[2] if holding else None


def own_mounts() -> Iterator[Mount]:
    """The mounts that this process sees; none where the system does not say."""
    try:
        info = _MOUNT_INFO.read_bytes()
    except OSError:
        return
    yield from read_mounts(os.fsdecode(info))


def shared_disk(path: Path, mounts: Iterable[Mount]) -> str | None:
    """The kind of the file system that shares a path with other machines; None: it is local, or it is unknown.

    Args:
        path: of something that need not be there yet.
        mounts: for example `own_mounts()`, which is read after the automounter has done its work.
    """
    resolved = path.resolve()
    with suppress(OSError):
        resolved.parent.stat()
    found = mount_of(resolved, mounts)
    return found.kind if found is not None and found.is_shared else None


def _holds(mount: Mount, path: PurePath) -> bool:
    return path.is_relative_to(mount.point)


_OTHER_USER = "run as the user whose ledger it is, let this user write them, or use PostgreSQL"
_PUT_IN_ORDER = "run `feedctl ledger upgrade` as a user who may write all of them, such as root, which removes these"


def require_writable(file: Path, place: str) -> None:
    """Refuse to open a ledger whose files are another user's.

    SQLite would notice too late: by then it has made a -wal and a -shm, also to read, which their owner may not write.

    Args:
        file: of the ledger; it need not be there yet.
        place: of the ledger, for messages.

    Raises:
        LedgerUnavailable: this user may not write one of its files.
    """
    found = hindrance(file)
    if found is not None:
        why, todo = found
        raise LedgerUnavailable(place=place, why=why, todo=todo)


def hindrance(file: Path) -> tuple[str, str] | None:
    """Why this user cannot write a ledger, and what to do; None: nothing is known that is in the way."""
    resolved = file.resolve()
    main = [each for each in (resolved, resolved.parent) if _is_closed(each)]
    beside = [each for each in _beside(resolved) if _is_closed(each)]
    if not main and not beside:
        return None
    named = " and ".join(_named(each) for each in (*main, *beside))
    why = f"this user, {_user(os.geteuid())}, may not write {named}"
    return why, _OTHER_USER if main else _PUT_IN_ORDER


def _beside(file: Path) -> tuple[Path, Path]:
    return file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")


def _is_closed(path: Path) -> bool:
    """Return whether this user may not write what is there.

    A run that ends removes its -wal and -shm, and `os.access` also returns False for a file that is not there: so the
    file has to be the same before and after.
    """
    before = _identity(path)
    return before is not None and not os.access(path, os.W_OK, effective_ids=True) and _identity(path) == before


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns


def _named(path: Path) -> str:
    with suppress(OSError):
        found = path.stat()
        return f"{path} (of {_user(found.st_uid)}, mode {stat.S_IMODE(found.st_mode):o})"
    return str(path)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


_POSTGRESQL = "set FEEDCTL_LEDGER, or `ledger:` in repo.yaml, to a PostgreSQL database"
_FOLDER_OWNER_ONLY = 0o700
_OWNER_ONLY = 0o600
_OLDEST = (3, 35)
"""The first with RETURNING."""


def refuse_shared(file: Path, place: str, variables: Mapping[str, str], mounts: Iterable[Mount]) -> None:
    """Refuse a file that other machines have a copy of their own of, or share without sharing its locks.

    Args:
        file: of the ledger.
        place: for messages.
        variables: of the environment.
        mounts: that this process sees.

    Raises:
        UnusableLedger: SQLite will not do here (DESIGN section 6).
    """
    container = cluster_mode(variables)
    if container is not None:
        found = f"is a local file, and this run is in {container}: each machine would have a ledger of its own"
        raise UnusableLedger(place=place, found=found, todo=_POSTGRESQL)
    kind = shared_disk(file, mounts)
    if kind is not None:
        found = f"is on a disk of type {kind}, which other machines may share but not its locks"
        raise UnusableLedger(place=place, found=found, todo=f"put it on a local disk, or {_POSTGRESQL}")


def refuse_old_library(place: str, version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Refuse a SQLite library that does not understand the ledger's SQL.

    Args:
        place: for messages.
        version: of the library that this Python is linked with.

    Raises:
        UnusableLedger: it is too old.
    """
    if version < _OLDEST:
        found, expected = (".".join(map(str, each)) for each in (version, _OLDEST))
        found = f"needs SQLite {expected} or newer, and this Python has {found}"
        raise UnusableLedger(place=place, found=found, todo=f"use a Python with a newer SQLite, or {_POSTGRESQL}")


def make_place(file: Path, place: str) -> None:
    """Make the folder of a ledger and its empty file, closed to other users, and have git leave a new folder alone.

    SQLite would make the file by the umask, and gives the -wal and -shm the rights of the database.

    Raises:
        UnusableLedger: the folder cannot be made.
    """
    folder = file.parent
    try:
        if not folder.is_dir():
            folder.mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
            (folder / ".gitignore").write_text("*\n", encoding="ascii")
    except OSError as error:
        todo = "name a file in a folder that the user of this run may write"
        raise UnusableLedger(place=place, found=f"cannot be made: {error}", todo=todo) from error
    with suppress(OSError):  # it is there; or SQLite says why it cannot be made
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))
