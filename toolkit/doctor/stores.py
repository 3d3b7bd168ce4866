"""Checks that stores answer, and that the directories that feedctl needs exist and are writable."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.doctor.access import Access, Actor, write_access
from toolkit.doctor.findings import CheckResult, failed, ok, skipped, warning
from toolkit.el import CanonicalPath
from toolkit.storage import FileKind, FileStatus, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.storage import FileSystem

    Opened = Callable[[CanonicalPath], FileSystem]

_BY_BITS = "by its permission bits; nothing was written to try"


def answer_findings(path: CanonicalPath, opened: Opened) -> Iterator[CheckResult]:
    """Check that the store of an end point answers, and how quickly.

    Raises:
        StorageError: it does not.
        InvalidInput: the settings cannot be used.
    """
    system = opened(path)
    begun = time.monotonic()
    try:
        system.status(path)
    except NotFound:
        answered = _milliseconds(begun)
        if not system.capabilities.directories:
            yield _of_keys(path, system, answered)
        else:
            yield warning(
                f"{path} answers ({answered}), but there is nothing", todo="make it, or correct the end point"
            )
    else:
        yield ok(f"{path} answers ({_milliseconds(begun)})")


def location_findings(path: CanonicalPath, opened: Opened, actor: Actor) -> Iterator[CheckResult]:
    """Check that a directory of feedctl's own exists and is writable.

    Raises:
        StorageError: the store does not tell.
        InvalidInput: the settings cannot be used.
    """
    system = opened(path)
    if not system.capabilities.directories:
        yield skipped(f"{path}: the store has no directories and no permission bits; nothing was written to try")
        return
    try:
        found = system.status(path)
    except NotFound:
        yield warning(f"{path} is not there", todo=f"make it, and let {actor.name} write to it")
        return
    if found.kind is not FileKind.DIRECTORY:
        yield failed(f"{path} is a {found.kind}", todo="name a directory")
        return
    yield _access_finding(found, actor)


def base_findings(path: CanonicalPath, opened: Opened, actor: Actor, *, is_evicted: bool) -> Iterator[CheckResult]:
    """Check that the fixed part of a feed's path exists and can be listed.

    Args:
        path: the fixed part.
        opened: gives the store.
        actor: acts on it.
        is_evicted: the feed has retention there, so that instances must be removable.

    Raises:
        StorageError: the store does not tell.
        InvalidInput: the settings cannot be used.
    """
    system = opened(path)
    try:
        entries = "is empty" if next(iter(system.list(path)), None) is None else "has entries"
    except NotFound:
        todo = "nothing to do if no instance was made yet; else correct the path"
        yield warning(f"{path} is not there", todo=todo)
        return
    if is_evicted and system.capabilities.permissions:
        status = system.status(path)
        if write_access(status, actor) is Access.NO:
            found = f"{path} {entries}, {_rights(status)}: {actor.name} may not remove in it"
            yield warning(found, todo=f"give {actor.name} the right to write, or run retention as its owner")
            return
    yield ok(f"{path} {entries}")


def _of_keys(path: CanonicalPath, system: FileSystem, answered: str) -> CheckResult:
    """No key begins so, which is nothing unusual, or there is no such bucket."""
    root = path.root
    try:
        system.status(root)
    except NotFound:
        return failed(f"{root}: there is no such bucket ({answered})", todo="make it, or correct the end point")
    return ok(f"{path} answers ({answered}); there is nothing yet")


def _access_finding(status: FileStatus, actor: Actor) -> CheckResult:
    found = f"{status.path}, {_rights(status)}"
    match write_access(status, actor):
        case Access.YES:
            return ok(f"{found}: {actor.name} may write ({_BY_BITS})")
        case Access.BY_GROUP:
            return ok(f"{found}: {actor.name} may write if in group {status.group} ({_BY_BITS})")
        case Access.UNKNOWN:
            return skipped(f"{found}: the store tells no permission bits; nothing was written to try")
        case Access.NO:
            todo = f"give {actor.name} the right to write, unless it is a superuser or on an access list"
            return warning(f"{found}: {actor.name} may not write ({_BY_BITS})", todo=todo)


def _rights(status: FileStatus) -> str:
    bits = "" if status.permission is None else f" {stat.filemode(stat.S_IFDIR | status.permission)}"
    return f"{status.owner}:{status.group}{bits}"


def _milliseconds(begun: float) -> str:
    return f"{(time.monotonic() - begun) * 1000:.0f} ms"
