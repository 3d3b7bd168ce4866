"""From a small picklable spec to an open file system; driver and executors open the same way (DESIGN section 1)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from toolkit.errors import NotImplementedYet
from toolkit.storage.calls import PATIENCE_SECONDS
from toolkit.storage.local.file_system import LocalFileSystem, no_check
from toolkit.storage.patient import PatientFileSystem, Silence
from toolkit.storage.readonly import ReadOnlyFileSystem
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from toolkit.storage.local.bases import Bases
    from toolkit.storage.port import Bindable, FileSystem, StorageSpec

Opener: TypeAlias = Callable[["StorageSpec", Callable[[], None]], "Bindable"]

_REMOTE = {
    "hdfs": "toolkit.storage.hdfs.file_system",
    "webhdfs": "toolkit.storage.webhdfs.file_system",
    "swebhdfs": "toolkit.storage.webhdfs.file_system",
    "s3": "toolkit.storage.s3.file_system",
    "gs": "toolkit.storage.cloud.file_system",
    "abfs": "toolkit.storage.cloud.file_system",
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
    silence: Silence | None = None,
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
        silence: of a remote store, shared with other views of it, see `PatientFileSystem`; None: its own.

    Raises:
        NotImplementedYet: no adapter for the scheme exists yet.
        InvalidInput: the settings cannot be used.
    """
    if spec.scheme == "file":
        opened: FileSystem = LocalFileSystem(before_effect, bases=bases)
    else:
        inner = _remote(spec).bound(before_effect)
        opened = PatientFileSystem(
            inner=inner, check=while_waiting or before_effect, patience=patience, silence=silence or Silence()
        )
    return ReadOnlyFileSystem(opened) if read_only else opened


def _remote(spec: StorageSpec) -> Bindable:
    if spec.scheme not in _REMOTE:
        known = ", ".join(("file", *_REMOTE))
        raise NotImplementedYet(what=f"storage {spec.scheme}://{spec.authority}", instead=f"use one of: {known}")
    return _shared(spec)


_SHARED: dict[tuple[object, ...], Bindable] = {}
_OPENING = threading.Lock()


def _shared(spec: StorageSpec) -> Bindable:
    """The store with its client: one for each spec and process, since a client has connections and threads.

    Variables that changed give another one. Files that changed do not: what a client has read of them when it was
    opened stays for the process, on executors for the application, unless its library reads them anew (as botocore
    does for credentials that a program or a service gives).
    """
    settings = tuple(sorted(spec.hadoop_conf.items()))
    key = (spec.scheme, spec.authority, spec.user, settings, tuple(sorted(process_variables().items())))
    with _OPENING:
        if key not in _SHARED:
            opener: Opener = import_module(_REMOTE[spec.scheme]).opened
            _SHARED[key] = opener(spec, no_check)
        return _SHARED[key]


def close_clients() -> None:
    """End the clients of all remote stores that this process has opened; who goes on with one connects anew."""
    with _OPENING:
        for system in _SHARED.values():
            system.close()
        _SHARED.clear()
