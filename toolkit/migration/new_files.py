"""Puts the files of a migration into their place: all of them at once, or, into a config repo, each as a whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from toolkit.entities import Kind
from toolkit.errors import Failed, InvalidInput

_ORDER = (
    "",
    Kind.CLUSTER.folder,
    Kind.DATASOURCE.folder,
    Kind.FEED.folder,
    "workflows",
    Kind.PROCESS.folder,
    Kind.MIRROR.folder,
)
"""Order of writing: referenced entities first, so that no reference breaks where a migration died halfway."""


class NotAConfigRepo(InvalidInput):
    """The folder has something in it, and is no config repo.

    Args:
        path: the folder.
    """

    def __init__(self, *, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} is neither new nor empty, and no config repo (it has no repo.yaml); name another folder"
        )


class NotWritten(Failed):
    """A file could not be written.

    Args:
        path: of the file or folder.
        reason: what the system said.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} could not be written: {reason}; what is missing is written by another run")


def is_new(root: Path) -> bool:
    """Return whether a folder does not exist, or is empty.

    Raises:
        NotAConfigRepo: there is something at its place that is no folder.
    """
    if os.path.lexists(root) and not root.is_dir():
        raise NotAConfigRepo(path=str(root))
    return not root.exists() or not any(root.iterdir())


def place(root: Path, files: Mapping[str, bytes]) -> None:
    """Write the files.

    A new folder appears with all of them or not at all. In one that exists each file appears as a whole, and never in
    the place of another one.

    Args:
        root: of the config repo.
        files: by path below it.

    Raises:
        NotWritten: the system refused, or a file that differs is in the way.
    """
    try:
        if is_new(root):
            _make(root, files)
        else:
            _add(root, files)
    except OSError as error:
        raise NotWritten(path=str(error.filename or root), reason=error.strerror or str(error)) from error


def _make(root: Path, files: Mapping[str, bytes]) -> None:
    root.parent.mkdir(parents=True, exist_ok=True)
    with _beside(root.with_name(f".{root.name}.migrating-{os.getpid()}")) as folder:
        _write(folder, files)
        folder.rename(root)


def _add(root: Path, files: Mapping[str, bytes]) -> None:
    with _beside(root / f".feedctl-migrating-{os.getpid()}") as folder:
        _write(folder, files)
        for name in sorted(files, key=_rank):
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.parent.resolve() != root.resolve() / Path(name).parent:
                raise NotWritten(path=str(target), reason=f"{target.parent} is a link")
            _link(folder / name, target)


def _link(new: Path, target: Path) -> None:
    """A link refuses to replace a file, where a rename would do it without a word."""
    try:
        os.link(new, target)
    except FileExistsError:
        if target.is_symlink() or target.read_bytes() != new.read_bytes():
            raise


def _rank(name: str) -> int:
    return _ORDER.index(name.partition("/")[0] if "/" in name else "")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
        if data.startswith(b"#!"):
            path.chmod(path.stat().st_mode | 0o111)


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder of our own, which goes when it is still there at the end."""
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
