"""File systems and object stores: the port, its errors and its adapters (DESIGN section 5)."""

from toolkit.storage.attributes import Checksum
from toolkit.storage.base import BasicFileSystem
from toolkit.storage.deletion import ASIDE_PREFIX, aside_name, name_behind
from toolkit.storage.errors import (
    AlreadyExists,
    BadName,
    BaseBehindLink,
    BaseChanged,
    MountRefused,
    NotBegun,
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
from toolkit.storage.local.bases import Bases, RealPlaces
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.storage.look import LOOK_SECONDS, Look, LookTooOld
from toolkit.storage.multipart import MultipartUpload, UploadedPart
from toolkit.storage.opening import close_clients, open_file_system
from toolkit.storage.port import (
    DATA_PREFIX,
    OWN_PREFIX,
    REPLACED_PREFIX,
    STAGING_PREFIX,
    Capabilities,
    ContentSummary,
    Deleted,
    Entry,
    FileKind,
    FileStatus,
    FileSystem,
    StorageSpec,
)
from toolkit.storage.readonly import ReadOnlyFileSystem

__all__ = [
    "ASIDE_PREFIX",
    "DATA_PREFIX",
    "LOOK_SECONDS",
    "OWN_PREFIX",
    "REPLACED_PREFIX",
    "STAGING_PREFIX",
    "AlreadyExists",
    "BadName",
    "BaseBehindLink",
    "BaseChanged",
    "Bases",
    "BasicFileSystem",
    "Capabilities",
    "Checksum",
    "ContentSummary",
    "Deleted",
    "Entry",
    "FileKind",
    "FileStatus",
    "FileSystem",
    "LocalFileSystem",
    "Look",
    "LookTooOld",
    "MountRefused",
    "MultipartUpload",
    "NotBegun",
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
    "UploadedPart",
    "WrongKind",
    "aside_name",
    "close_clients",
    "name_behind",
    "open_file_system",
]
