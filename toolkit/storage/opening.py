"""From a small picklable spec to an open file system; driver and executors open the same way (DESIGN section 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.errors import NotImplementedYet
from toolkit.storage.local import LocalFileSystem, no_check
from toolkit.storage.readonly import ReadOnlyFileSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolkit.storage.port import FileSystem


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSpec:
    """Which store to open.

    Attributes:
        scheme: as in a `CanonicalPath`: ``file``, ``hdfs``, ``s3``.
        authority: name service, host and port, or bucket; empty for ``file``.
        root: the directory of the store that absolute paths of entities begin in; empty for its own root.
        options: settings of the adapter, such as the Hadoop ones of the cluster entity.
    """

    scheme: str
    authority: str = ""
    root: str = ""
    options: Mapping[str, str] = field(default_factory=dict, hash=False)


def _open_local(spec: StorageSpec, before_effect: Callable[[], None]) -> FileSystem:  # noqa: ARG001 - one signature for all adapters
    return LocalFileSystem(before_effect)


_OPENERS: dict[str, Callable[[StorageSpec, Callable[[], None]], FileSystem]] = {"file": _open_local}


def open_file_system(
    spec: StorageSpec, *, read_only: bool = False, before_effect: Callable[[], None] = no_check
) -> FileSystem:
    """The file system that the spec describes.

    Args:
        spec: which store.
        read_only: every mutating call fails with `ReadOnlyStorage`.
        before_effect: called before every single change; what it raises stops the change.

    Raises:
        NotImplementedYet: no adapter for the scheme exists yet.
    """
    opener = _OPENERS.get(spec.scheme)
    if opener is None:
        authority = f"{spec.scheme}://{spec.authority}"
        raise NotImplementedYet(what=f"storage {authority}", instead=f"use one of: {', '.join(_OPENERS)}")
    opened = opener(spec, before_effect)
    return ReadOnlyFileSystem(opened) if read_only else opened
