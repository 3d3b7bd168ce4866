"""What a NameNode answers, by the class of its Java exception, as storage errors; HDFS and WebHDFS share it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.storage.errors import (
    AlreadyExists,
    BadName,
    NotEmpty,
    NotFound,
    PermissionDenied,
    QuotaExceeded,
    StorageError,
    StorageFailure,
    SymlinkRefused,
    Unreachable,
    Unsupported,
    WrongKind,
)

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

_BY_CLASS: dict[str, type[StorageError]] = {
    "FileNotFoundException": NotFound,
    "PathNotFoundException": NotFound,
    "AccessControlException": PermissionDenied,
    "SnapshotAccessControlException": PermissionDenied,
    "AuthorizationException": PermissionDenied,
    "AuthenticationException": PermissionDenied,
    "SecurityException": PermissionDenied,
    "InvalidToken": PermissionDenied,
    "SaslException": PermissionDenied,
    "FileAlreadyExistsException": AlreadyExists,
    "AlreadyBeingCreatedException": AlreadyExists,
    "PathExistsException": AlreadyExists,
    "PathIsNotEmptyDirectoryException": NotEmpty,
    "ParentNotDirectoryException": WrongKind,
    "PathIsNotDirectoryException": WrongKind,
    "PathIsDirectoryException": WrongKind,
    "UnresolvedPathException": SymlinkRefused,
    "UnresolvedLinkException": SymlinkRefused,
    "NSQuotaExceededException": QuotaExceeded,
    "DSQuotaExceededException": QuotaExceeded,
    "QuotaByStorageTypeExceededException": QuotaExceeded,
    "QuotaExceededException": QuotaExceeded,
    "ClusterStorageCapacityExceededException": QuotaExceeded,
    "MaxDirectoryItemsExceededException": QuotaExceeded,
    "PathComponentTooLongException": BadName,
    "IllegalNameException": BadName,
    "InvalidPathException": BadName,
    "HadoopIllegalArgumentException": BadName,
    "UnsupportedOperationException": Unsupported,
    "RpcNoSuchMethodException": Unsupported,
    # A NameNode that starts, is about to hand over or has too much to do; waiting helps.
    "StandbyException": Unreachable,
    "ObserverRetryOnActiveException": Unreachable,
    "RetriableException": Unreachable,
    "SafeModeException": Unreachable,
    "ServerNotRunningYetException": Unreachable,
    "ConnectException": Unreachable,
    "ConnectTimeoutException": Unreachable,
    "SocketTimeoutException": Unreachable,
    "NoRouteToHostException": Unreachable,
    "UnknownHostException": Unreachable,
    "ServerTooBusyException": Unreachable,
    "NoNamenodesAvailableException": Unreachable,
    "EOFException": Unreachable,
}
"""By the simple name: its package differs between versions, and WebHDFS may leave it out."""

LOGIN = (
    "log in first: with kinit, or let KRB5CCNAME name a ticket cache, KRB5_CLIENT_KTNAME a keytab, or "
    "HADOOP_TOKEN_FILE_LOCATION a file of delegation tokens that have not ended"
)
"""What to do when a secure cluster knows nobody behind a call."""

_BY_TEXT: tuple[tuple[str, str, type[StorageError]], ...] = (
    ("AccessControlException", "(is not a directory)", WrongKind),
    ("FileNotFoundException", "Path is not a file", WrongKind),
    ("IOException", "must both be directories", WrongKind),
    ("IOException", "could only be written to", Unreachable),
)
"""Simple name of the class, part of the message, meaning: the NameNode has no classes of their own for these.

A look below a file, a read of a directory, a rename of one kind over the other, a write that no DataNode can take."""

_ADVICE: tuple[tuple[str, str, str], ...] = (
    ("AccessControlException", "uthentication is not enabled", LOGIN),
    ("AccessControlException", "Client cannot authenticate", LOGIN),
    ("AccessControlException", "protected directory", "see fs.protected.directories of the cluster"),
    ("InvalidToken", "", "the delegation token has ended or was cancelled; start the run anew"),
    ("SnapshotException", "snapshottable", "delete its snapshots first"),
)
"""Simple name of the class, part of the message, what to do."""

_LONGEST = 300

_TRY_ANOTHER = frozenset({"StandbyException", "ObserverRetryOnActiveException", "RetriableException"})


def java_error(path: CanonicalPath, java_class: str, message: str) -> StorageError:
    """The storage error for a Java exception.

    Args:
        path: what the call was about.
        java_class: with or without its package, ``org.apache.hadoop.hdfs.server.namenode.SafeModeException``.
        message: what it said; a stack trace behind it is cut off.
    """
    kind, name = java_error_kind(java_class, message), simple_name(java_class)
    said = message.partition("\n")[0].strip()[:_LONGEST]
    detail = (f"{name}: {said}" if kind is StorageFailure and said and name else said) or java_class
    advice = "; ".join(advice for of, part, advice in _ADVICE if of == name and part in message)
    return kind(path=path, detail=f"{detail}; {advice}" if advice else detail)


def java_error_kind(java_class: str, message: str) -> type[StorageError]:
    """The class of storage error for a Java exception; one that is not known is a `StorageFailure`."""
    name = simple_name(java_class)
    for of, part, kind in _BY_TEXT:
        if of == name and part in message:
            return kind
    return _BY_CLASS.get(name, StorageFailure)


def is_not_active(java_class: str) -> bool:
    """Whether another NameNode of the name service should be asked instead; this one did nothing."""
    return simple_name(java_class) in _TRY_ANOTHER


def simple_name(java_class: str) -> str:
    """The name without package and outer classes."""
    return java_class.rpartition(".")[2].rpartition("$")[2]
