"""Meaning of Java's class names, and of hdfs-native's messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolkit.storage.calls import NoAnswer
from toolkit.storage.errors import (
    AlreadyExists,
    BadName,
    NotDone,
    NotEmpty,
    NotFound,
    NotSnapshottable,
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
    "StandbyException": NotDone,
    "ObserverRetryOnActiveException": NotDone,
    "RetriableException": NotDone,
    "SafeModeException": NotDone,
    "ServerNotRunningYetException": NotDone,
    "ConnectException": Unreachable,
    "ConnectTimeoutException": Unreachable,
    "SocketTimeoutException": Unreachable,
    "NoRouteToHostException": Unreachable,
    "UnknownHostException": Unreachable,
    "ServerTooBusyException": NotDone,
    "NoNamenodesAvailableException": Unreachable,
    "EOFException": Unreachable,
}
"""By the simple name: its package differs between versions, and WebHDFS may leave it out."""

LOGIN = (
    "log in first: with kinit, or let KRB5CCNAME name a ticket cache, KRB5_CLIENT_KTNAME a keytab, or "
    "HADOOP_TOKEN_FILE_LOCATION a file of delegation tokens that have not ended"
)
"""Advice for a call of a secure cluster without a known user."""

_BY_TEXT: tuple[tuple[str, str, type[StorageError]], ...] = (
    ("AccessControlException", "(is not a directory)", WrongKind),
    ("FileNotFoundException", "Path is not a file", WrongKind),
    ("IOException", "must both be directories", WrongKind),
    ("IOException", "could only be written to", Unreachable),
    ("SnapshotException", "is not a snapshottable directory", NotSnapshottable),
    ("SnapshotException", "already a snapshot with the same name", AlreadyExists),
    ("SnapshotException", "Cannot find the snapshot", NotFound),
    ("SnapshotException", "does not exist", NotFound),
)
"""Simple name of the class, part of the message, meaning: the NameNode has no classes of their own for these.

A look below a file, a read of a directory, a rename of one kind over the other, a write that no DataNode can take; and
what can be wrong with a snapshot."""

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
    text = message.partition("\n")[0].strip()[:_LONGEST]
    detail = (f"{name}: {text}" if kind is StorageFailure and text and name else text) or java_class
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
    """Return whether another NameNode of the name service should be tried; this one did nothing."""
    return simple_name(java_class) in _TRY_ANOTHER


def simple_name(java_class: str) -> str:
    """The name without package and outer classes."""
    return java_class.rpartition(".")[2].rpartition("$")[2]


_BY_LIBRARY: dict[str, tuple[type[StorageError], str]] = {
    "SASLError": (PermissionDenied, LOGIN),
    "GSSAPIError": (PermissionDenied, LOGIN),
    "NoSASLMechanism": (PermissionDenied, LOGIN),
    "BlocksNotFound": (Unreachable, "no DataNode that has the block answers"),
    "DataTransferError": (Unreachable, "a DataNode broke off"),
    "UnsupportedFeature": (Unsupported, ""),
    "UnsupportedErasureCodingPolicy": (Unsupported, ""),
    "InvalidPath": (BadName, ""),
    "IsADirectoryError": (WrongKind, ""),
    "IOError": (Unreachable, ""),
}
"""Errors that the library found itself, by the name that it gives them."""

_NO_KDC = "Cannot contact any KDC"
_NO_REPLICA = "All DataNodes failed: []"
"""A block is lost, or all that have it are dead to the NameNode; a retry in this run would not help."""
_CLOSED = "RPC listener disconnected"
_HUNG_UP = "the NameNode hung up: it ends, or it wants Kerberos and hadoop.security.authentication does not say so"
"""The library does not pass on what the NameNode said last."""
_REMOTE = re.compile(r'(?:Fatal)?RPCError\("(?P<java_class>[\w.$]+)", "(?P<text>.*)"\)', re.DOTALL)
_LIBRARY = re.compile(r"(?P<name>\w+)")
_LOOKUP = "failed to lookup address information"
_NO_SUCH_NAME = ("Name or service not known", "Name does not resolve", "nodename nor servname provided")
"""The resolver's answer that the host name is unknown (EAI_NONAME), in the words of glibc, musl and macOS.

Any other one, such as `Temporary failure in name resolution` (EAI_AGAIN), may be another one soon."""


class UnknownAuthority(StorageFailure):
    """Error for an authority that is neither a host nor a name service; a retry would not help."""

    code = "unknown_authority"
    text = (
        "the end point names neither a host nor a name service; correct it, or let HADOOP_CONF_DIR or hadoop_conf of "
        "the cluster describe the name service"
    )


def is_no_such_host(error: Exception) -> bool:
    """Return whether the resolver reported for certain that the host name is unknown."""
    return isinstance(error, OSError) and _LOOKUP in str(error) and any(each in str(error) for each in _NO_SUCH_NAME)


def unknown_authority(error: Exception, path: CanonicalPath, read: str) -> UnknownAuthority:
    """The error for an authority that is no host's name.

    Args:
        error: of the resolver.
        path: what the call was about.
        read: where the settings are from that do not know it either, in words.
    """
    host = path.authority.partition(":")[0]
    looked = f"read {read}, found no dfs.ha.namenodes.{host} there"
    return UnknownAuthority(path=path, detail=f"{host}: {_first_line(str(error))}; {looked}")


def hdfs_error(error: Exception, path: CanonicalPath) -> StorageError:
    """Return the storage error for the exception of a call.

    What is not known by name is a `StorageFailure`, which is not tried again: it is unknown what it would do.
    """
    if isinstance(error, NoAnswer):
        return Unreachable(path=path, detail=str(error))
    if isinstance(error, UnicodeEncodeError):
        return BadName(path=path, detail="HDFS keeps names in UTF-8, and this one has no such form")
    remote = _REMOTE.match(str(error))
    if remote is not None:
        return java_error(path, remote["java_class"], _unescaped(remote["text"]))
    if isinstance(error, FileNotFoundError):
        return java_error(path, "FileNotFoundException", str(error))
    if isinstance(error, FileExistsError):
        return java_error(path, "FileAlreadyExistsException", str(error))
    return _library_error(error, path)


def _library_error(error: Exception, path: CanonicalPath) -> StorageError:
    line = _first_line(str(error))
    if isinstance(error, PermissionError):
        return PermissionDenied(path=path, detail=line)
    # What the library itself reads and writes are its sockets.
    if isinstance(error, OSError) or _NO_KDC in line:
        return Unreachable(path=path, detail=f"{line}; {_HUNG_UP}" if _CLOSED in line else line)
    if _NO_REPLICA in line:
        return StorageFailure(path=path, detail="the NameNode knows no DataNode that has a block of it")
    named = _LIBRARY.match(line)
    kind, advice = _BY_LIBRARY.get(named["name"] if named else "", (StorageFailure, ""))
    return kind(path=path, detail=f"{line}; {advice}" if advice else line)


def _first_line(message: str) -> str:
    line = next((line.strip() for line in message.splitlines() if line.strip()), "no message")
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "..."


def _unescaped(text: str) -> str:
    """The message as it was before the library wrote it as a string literal of Rust."""
    return re.sub(r"\\(?:u\{([0-9a-f]+)\}|(.))", _character, text, flags=re.DOTALL)


def _character(escape: re.Match[str]) -> str:
    if escape[1] is not None:
        return chr(int(escape[1], 16))
    return {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(escape[2], escape[2])
