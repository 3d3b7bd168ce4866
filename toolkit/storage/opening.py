"""From a small picklable spec to an open file system; driver and executors open the same way (DESIGN section 1)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from toolkit.errors import NotImplementedYet
from toolkit.storage.after_look import seen_lately
from toolkit.storage.deadlines import PATIENCE_SECONDS
from toolkit.storage.local import LocalFileSystem, no_check
from toolkit.storage.patient import PatientFileSystem
from toolkit.storage.readonly import ReadOnlyFileSystem

if TYPE_CHECKING:
    from toolkit.storage.local_bases import Bases
    from toolkit.storage.port import FileSystem
    from toolkit.storage.spec import StorageSpec

Opener: TypeAlias = Callable[["StorageSpec", Callable[[], None]], "FileSystem"]

_REMOTE = {
    "hdfs": "toolkit.storage.hdfs",
    "webhdfs": "toolkit.storage.webhdfs",
    "swebhdfs": "toolkit.storage.webhdfs",
    "s3": "toolkit.storage.s3",
    "gs": "toolkit.storage.objects",
    "abfs": "toolkit.storage.objects",
}
"""The module of each scheme; its `opened(spec, before_effect)` is an `Opener`. Loaded when wanted: they are large."""


def open_file_system(
    spec: StorageSpec,
    *,
    read_only: bool = False,
    before_effect: Callable[[], None] = no_check,
    while_waiting: Callable[[], None] | None = None,
    patience: float = PATIENCE_SECONDS,
    bases: Bases | None = None,
) -> FileSystem:
    """The file system that the spec describes; nothing is asked of a remote one yet.

    Args:
        spec: which store.
        read_only: every mutating call fails with `ReadOnlyStorage`.
        before_effect: called before every single change, from any thread; what it raises stops the change.
        while_waiting: called while a silent store is waited for, which is no change; what it raises ends the waiting;
            None: as `before_effect`.
        patience: seconds for which a store may be silent before it is given up.
        bases: of the feeds on a local disk, see `LocalFileSystem`.

    Raises:
        NotImplementedYet: no adapter for the scheme exists yet.
        InvalidInput: the settings cannot be used.
    """
    if spec.scheme == "file":
        opened: FileSystem = LocalFileSystem(before_effect, bases=bases)
    else:
        opened = _opened(spec, before_effect, while_waiting or before_effect, patience)
    return ReadOnlyFileSystem(opened) if read_only else opened


def _opened(
    spec: StorageSpec, before_effect: Callable[[], None], while_waiting: Callable[[], None], patience: float
) -> FileSystem:
    if spec.scheme not in _REMOTE:
        known = ", ".join(("file", *_REMOTE))
        raise NotImplementedYet(what=f"storage {spec.scheme}://{spec.authority}", instead=f"use one of: {known}")
    opener: Opener = import_module(_REMOTE[spec.scheme]).opened
    return PatientFileSystem(inner=opener(spec, seen_lately(before_effect)), check=while_waiting, patience=patience)
