"""What the client library of HDFS raises, as storage errors (DESIGN section 5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolkit.storage.bounded import NoAnswer
from toolkit.storage.errors import (
    BadName,
    PermissionDenied,
    StorageError,
    StorageFailure,
    Unreachable,
    Unsupported,
    WrongKind,
)
from toolkit.storage.java_errors import LOGIN, java_error

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

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
_CLOSED = "RPC listener disconnected"
_HUNG_UP = "the NameNode hung up: it ends, or it wants Kerberos and hadoop.security.authentication does not say so"
"""The library does not pass on what the NameNode said last."""
_REMOTE = re.compile(r'(?:Fatal)?RPCError\("(?P<java_class>[\w.$]+)", "(?P<text>.*)"\)', re.DOTALL)
_LIBRARY = re.compile(r"(?P<name>\w+)")
_LOOKUP = "failed to lookup address information"
_NO_SUCH_NAME = ("Name or service not known", "Name does not resolve", "nodename nor servname provided")
"""The resolver's answer that nobody has the name (EAI_NONAME), in the words of glibc, musl and macOS.

Any other one, such as `Temporary failure in name resolution` (EAI_AGAIN), may be another one soon."""
_LONGEST = 300


class UnknownAuthority(StorageFailure):
    """What the end point names is neither a host nor a name service; asking again would not change that."""

    code = "unknown_authority"
    text = (
        "the end point names neither a host nor a name service; correct it, or let HADOOP_CONF_DIR or hadoop_conf of "
        "the cluster describe the name service"
    )


def is_no_such_host(error: Exception) -> bool:
    """Whether the resolver said for good that nobody has the name."""
    return isinstance(error, OSError) and _LOOKUP in str(error) and any(each in str(error) for each in _NO_SUCH_NAME)


def unknown_authority(error: Exception, path: CanonicalPath, read: str) -> UnknownAuthority:
    """The error for an authority that nobody has as a name.

    Args:
        error: of the resolver.
        path: what the call was about.
        read: where the settings are from that do not know it either, in words.
    """
    host = path.authority.partition(":")[0]
    looked = f"read {read}, found no dfs.ha.namenodes.{host} there"
    return UnknownAuthority(path=path, detail=f"{host}: {_first_line(str(error))}; {looked}")


def hdfs_error(error: Exception, path: CanonicalPath) -> StorageError:
    """What the exception of a call means.

    What is not known by name is a `StorageFailure`, which is not tried again: nobody knows what it would do.
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
