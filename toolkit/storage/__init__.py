"""File systems and object stores: the port, its errors and its adapters (DESIGN section 5)."""

from toolkit.storage.aside import ASIDE_PREFIX, aside_name, name_behind
from toolkit.storage.errors import (
    AlreadyExists,
    MountRefused,
    NotEmpty,
    NotFound,
    OutsideBase,
    PermissionDenied,
    ReadOnlyStorage,
    StorageError,
    StorageFailure,
    SymlinkRefused,
    Unreachable,
    WrongKind,
)
from toolkit.storage.local import LocalFileSystem
from toolkit.storage.opening import StorageSpec, open_file_system
from toolkit.storage.port import (
    OWN_PREFIX,
    Capabilities,
    ContentSummary,
    Entry,
    FileKind,
    FileStatus,
    FileSystem,
)
from toolkit.storage.readonly import ReadOnlyFileSystem

__all__ = [
    "ASIDE_PREFIX",
    "OWN_PREFIX",
    "AlreadyExists",
    "Capabilities",
    "ContentSummary",
    "Entry",
    "FileKind",
    "FileStatus",
    "FileSystem",
    "LocalFileSystem",
    "MountRefused",
    "NotEmpty",
    "NotFound",
    "OutsideBase",
    "PermissionDenied",
    "ReadOnlyFileSystem",
    "ReadOnlyStorage",
    "StorageError",
    "StorageFailure",
    "StorageSpec",
    "SymlinkRefused",
    "Unreachable",
    "WrongKind",
    "aside_name",
    "name_behind",
    "open_file_system",
]
