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
    WrongKind,
)
from toolkit.storage.hdfs.errors import is_not_active, java_error

_PATH = CanonicalPath("hdfs", "ns1", "/a")


@pytest.mark.parametrize(
    ("java_class", "message", "kind"),
    [
        ("java.io.FileNotFoundException", "File does not exist: /a", NotFound),
        ("java.io.FileNotFoundException", "Path is not a file: /a\n\tat org.apache", WrongKind),
        ("org.apache.hadoop.security.AccessControlException", "Permission denied: user=eve", PermissionDenied),
        ("org.apache.hadoop.security.AccessControlException", "/t/f (is not a directory)", WrongKind),
        ("org.apache.hadoop.fs.FileAlreadyExistsException", "Path is not a directory: /a", AlreadyExists),
        ("org.apache.hadoop.fs.PathIsNotEmptyDirectoryException", "`/a is non empty'", NotEmpty),
        ("org.apache.hadoop.fs.InvalidPathException", "Invalid file name: /a:b", BadName),
        ("org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException", "limit=255", BadName),
        ("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", "the quota", QuotaExceeded),
        ("org.apache.hadoop.hdfs.server.namenode.SafeModeException", "Name node is in safe mode", NotDone),
        ("SafeModeException", "Name node is in safe mode", NotDone),
        ("java.io.IOException", "Source /a and destination /b must both be directories", WrongKind),
        ("java.io.IOException", "something else", StorageFailure),
        ("", "", StorageFailure),
    ],
)
def test_a_java_exception_is_the_storage_error_of_its_meaning(
    java_class: str, message: str, kind: type[StorageError]
) -> None:
    assert type(java_error(_PATH, java_class, message)) is kind


def test_a_stack_trace_does_not_get_into_the_message() -> None:
    error = java_error(_PATH, "java.io.IOException", "no luck\n\tat org.apache.hadoop.Foo(Foo.java:1)\n")
    assert error.detail == "IOException: no luck"


def test_an_exception_without_a_message_is_told_by_its_class() -> None:
    assert java_error(_PATH, "java.lang.NullPointerException", "").detail == "java.lang.NullPointerException"


def test_another_name_node_is_asked_only_when_this_one_did_nothing() -> None:
    assert is_not_active("org.apache.hadoop.ipc.StandbyException")
    assert is_not_active("org.apache.hadoop.ipc.RetriableException")
    assert not is_not_active("org.apache.hadoop.security.AccessControlException")
    assert not is_not_active("java.net.SocketTimeoutException")
