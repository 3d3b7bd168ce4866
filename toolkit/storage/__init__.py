"""File systems and object stores: the port, its errors and its adapters (DESIGN section 5)."""

from toolkit.storage.after_look import AfterLook, LookAgain
from toolkit.storage.aside import ASIDE_PREFIX, aside_name, name_behind
from toolkit.storage.begun import Begun
from toolkit.storage.errors import (
    AlreadyExists,
    BadName,
    BaseBehindLink,
    BaseChanged,
    MountRefused,
    NotEmpty,
    NotFound,
    OutsideBase,
    PermissionDenied,
    QuotaExceeded,
    ReadOnlyStorage,
    StorageError,
    StorageFailure,
    SymlinkRefused,
    Unreachable,
    Unsupported,
    WrongKind,
)
from toolkit.storage.local import LocalFileSystem
from toolkit.storage.local_bases import Bases, RealPlaces
from toolkit.storage.opening import open_file_system
from toolkit.storage.port import (
    OWN_PREFIX,
    Capabilities,
    ContentSummary,
    Deleted,
    Entry,
    FileKind,
    FileStatus,
    FileSystem,
)
from toolkit.storage.readonly import ReadOnlyFileSystem
from toolkit.storage.spec import StorageSpec

__all__ = [
    "ASIDE_PREFIX",
    "OWN_PREFIX",
    "AfterLook",
    "AlreadyExists",
    "BadName",
    "BaseBehindLink",
    "BaseChanged",
    "Bases",
    "Begun",
    "Capabilities",
    "ContentSummary",
    "Deleted",
    "Entry",
    "FileKind",
    "FileStatus",
    "FileSystem",
    "LocalFileSystem",
    "LookAgain",
    "MountRefused",
    "NotEmpty",
    "NotFound",
    "OutsideBase",
    "PermissionDenied",
    "QuotaExceeded",
    "ReadOnlyFileSystem",
    "ReadOnlyStorage",
    "RealPlaces",
    "StorageError",
    "StorageFailure",
    "StorageSpec",
    "SymlinkRefused",
    "Unreachable",
    "Unsupported",
    "WrongKind",
    "aside_name",
    "name_behind",
    "open_file_system",
]
