from __future__ import annotations

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import (
    AlreadyExists,
    BadName,
    NotDone,
    NotEmpty,
    NotFound,
    PermissionDenied,
    QuotaExceeded,
    StorageError,
    StorageFailure,
    Unreachable,
    Unsupported,
    WrongKind,
)
from toolkit.storage.calls import BrokenCall, NoAnswer
from toolkit.storage.hdfs.errors import hdfs_error, is_no_such_host, unknown_authority

_PATH = CanonicalPath("hdfs", "ns1", "/a")
_TRACE = r"\n\tat org.apache.hadoop.Foo.bar(Foo.java:1)"


def _rpc(java_class: str, message: str = "said", kind: str = "RPCError") -> RuntimeError:
    return RuntimeError(f'{kind}("{java_class}", "{message}{_TRACE}")')


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileNotFoundError("File does not exist: /a\n\tat Foo"), NotFound),
        (FileNotFoundError("Path is not a file: /a\n\tat Foo"), WrongKind),
        (FileExistsError("rename destination /a already exists\n\tat Foo"), AlreadyExists),
        (_rpc("org.apache.hadoop.security.AccessControlException", "Permission denied: user=eve"), PermissionDenied),
        (_rpc("org.apache.hadoop.security.AccessControlException", "/t/f (is not a directory)"), WrongKind),
        (_rpc("org.apache.hadoop.fs.ParentNotDirectoryException", "/h/f (is not a directory)"), WrongKind),
        (_rpc("org.apache.hadoop.fs.PathIsNotEmptyDirectoryException"), NotEmpty),
        (_rpc("org.apache.hadoop.fs.InvalidPathException"), BadName),
        (_rpc("org.apache.hadoop.HadoopIllegalArgumentException", r"\".snapshot\" is a reserved name."), BadName),
        (_rpc("org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException"), BadName),
        (_rpc("org.apache.hadoop.hdfs.protocol.NSQuotaExceededException"), QuotaExceeded),
        (_rpc("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException"), QuotaExceeded),
        (_rpc("org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException"), QuotaExceeded),
        (_rpc("org.apache.hadoop.hdfs.protocol.FSLimitException$MaxDirectoryItemsExceededException"), QuotaExceeded),
        (_rpc("org.apache.hadoop.hdfs.server.namenode.SafeModeException"), NotDone),
        (_rpc("org.apache.hadoop.ipc.StandbyException"), NotDone),
        (_rpc("org.apache.hadoop.ipc.RetriableException"), NotDone),
        (_rpc("org.apache.hadoop.ipc.StandbyException", kind="FatalRPCError"), NotDone),
        (_rpc("java.io.IOException", "File /a could only be written to 0 of the 1 minReplication nodes"), Unreachable),
        (_rpc("java.lang.UnsupportedOperationException"), Unsupported),
        (_rpc("org.apache.hadoop.hdfs.protocol.SnapshotException", "/a is snapshottable"), StorageFailure),
        (_rpc("java.lang.NullPointerException"), StorageFailure),
        (OSError("Connection refused (os error 111)"), Unreachable),
        (OSError("No route to host (os error 113)"), Unreachable),
        (OSError("RPC listener disconnected"), Unreachable),
        (ConnectionResetError("Connection reset by peer (os error 104)"), Unreachable),
        (TimeoutError("deadline has elapsed"), Unreachable),
        (NoAnswer("no answer within 30 s"), Unreachable),
        (PermissionError("Permission denied (os error 13)"), PermissionDenied),
        (RuntimeError('SASLError("mechanism")'), PermissionDenied),
        (RuntimeError('GSSAPIError(GSS_S_NO_CRED, 2529639053, "No Kerberos credentials available")'), PermissionDenied),
        (RuntimeError("NoSASLMechanism"), PermissionDenied),
        (RuntimeError('GSSAPIError(GSS_S_FAILURE, 1, "Cannot contact any KDC for realm X")'), Unreachable),
        (RuntimeError('BlocksNotFound("/a")'), Unreachable),
        (RuntimeError('DataTransferError("reset")'), Unreachable),
        (RuntimeError('UnsupportedFeature("symlinks")'), Unsupported),
        (RuntimeError('InternalError("odd")'), StorageFailure),
        (RuntimeError(""), StorageFailure),
        (BrokenCall("PanicException: index out of range"), StorageFailure),
        (UnicodeEncodeError("utf-8", "\udc80", 0, 1, "surrogates not allowed"), BadName),
        (ValueError("odd"), StorageFailure),
        (OverflowError("can't convert negative int to unsigned"), StorageFailure),
    ],
)
def test_what_the_client_raises_is_the_storage_error_of_its_meaning(error: Exception, kind: type[StorageError]) -> None:
    found = hdfs_error(error, _PATH)
    assert type(found) is kind
    assert found.path == _PATH
    assert "\n" not in str(found)
    assert "Foo" not in str(found)


def test_only_a_store_that_does_not_answer_is_worth_another_try() -> None:
    assert hdfs_error(OSError("Connection refused"), _PATH).retriable
    assert not hdfs_error(_rpc("java.io.IOException"), _PATH).retriable


def test_an_unknown_class_is_named_with_its_first_line() -> None:
    found = hdfs_error(_rpc("org.apache.hadoop.odd.Thing$OddException", r"said \"this\" of C:\\dir"), _PATH)
    assert found.detail == 'OddException: said "this" of C:\\dir'


def test_a_message_in_another_script_is_readable() -> None:
    assert hdfs_error(_rpc("java.io.IOException", r"it\'s \u{e9}\u{1f98a}"), _PATH).detail == "IOException: it's é🦊"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError('GSSAPIError(GSS_S_NO_CRED, 1, "No Kerberos credentials available")'),
        _rpc("org.apache.hadoop.security.AccessControlException", "SIMPLE authentication is not enabled."),
    ],
)
def test_who_is_not_logged_in_is_told_how_to(error: Exception) -> None:
    assert "kinit" in hdfs_error(error, _PATH).detail


def test_a_directory_with_snapshots_says_what_to_do() -> None:
    output = "The directory /a cannot be deleted since /a is snapshottable and already has snapshots"
    found = hdfs_error(_rpc("org.apache.hadoop.hdfs.protocol.SnapshotException", output), _PATH)
    assert found.detail == f"SnapshotException: {output}; delete its snapshots first"


def test_a_very_long_message_is_cut() -> None:
    assert len(hdfs_error(RuntimeError("x" * 5000), _PATH).detail) < 400
    assert len(hdfs_error(_rpc("java.io.IOException", "x" * 5000), _PATH).detail) < 400


_LOOKUP = "failed to lookup address information: "


@pytest.mark.parametrize(
    ("output", "is_final"),
    [
        ("Name or service not known", True),
        ("Name does not resolve", True),
        ("nodename nor servname provided, or not known", True),
        ("Temporary failure in name resolution", False),
        ("Try again", False),
        ("No address associated with hostname", False),
    ],
)
def test_a_resolver_that_is_in_trouble_itself_does_not_make_a_name_unknown(output: str, *, is_final: bool) -> None:
    error = OSError(f"{_LOOKUP}{output}")
    assert is_no_such_host(error) is is_final
    assert hdfs_error(error, _PATH).retriable


def test_a_name_that_nobody_has_is_told_with_the_settings_that_do_not_have_it_either() -> None:
    error = unknown_authority(OSError(f"{_LOOKUP}Name or service not known"), _PATH, "HADOOP_CONF_DIR=/conf")
    assert not error.retriable
    assert "neither a host nor a name service" in str(error)
    assert "read HADOOP_CONF_DIR=/conf, found no dfs.ha.namenodes.ns1 there" in error.detail
