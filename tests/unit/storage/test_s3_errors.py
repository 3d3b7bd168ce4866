from __future__ import annotations

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
    SSLError,
)
from botocore.parsers import ResponseParserError

from toolkit.el import CanonicalPath
from toolkit.storage import (
    AlreadyExists,
    BadName,
    NotDone,
    NotFound,
    PermissionDenied,
    QuotaExceeded,
    StorageError,
    StorageFailure,
    Unreachable,
)
from toolkit.storage.s3.errors import KeyProblem, translated

PATH = CanonicalPath("s3", "bucket", "/a")


def reported(error: Exception) -> StorageError:
    with pytest.raises(StorageError) as raised, translated(PATH):
        raise error
    assert raised.value.path == PATH
    return raised.value


def answered(code: str, status: int) -> StorageError:
    return reported(
        ClientError({"Error": {"Code": code, "Message": "m"}, "ResponseMetadata": {"HTTPStatusCode": status}}, "X")  # type: ignore[typeddict-item] # the rest is not looked at
    )


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("NoSuchKey", 404, NotFound),
        ("404", 404, NotFound),
        ("NoSuchBucket", 404, NotFound),
        ("AccessDenied", 403, PermissionDenied),
        ("403", 403, PermissionDenied),
        ("ExpiredToken", 400, PermissionDenied),
        ("SignatureDoesNotMatch", 403, PermissionDenied),
        ("SlowDown", 503, NotDone),
        ("InternalError", 500, Unreachable),
        ("RequestTimeout", 400, Unreachable),
        ("ConditionalRequestConflict", 409, NotDone),
        ("NeverHeardOf", 502, Unreachable),
        ("429", 429, NotDone),
        ("PreconditionFailed", 412, AlreadyExists),
        ("QuotaExceeded", 403, QuotaExceeded),
        ("EntityTooLarge", 400, QuotaExceeded),
        ("XMinioStorageFull", 507, QuotaExceeded),
        ("KeyTooLongError", 400, BadName),
        ("MalformedXML", 400, StorageFailure),
        ("InvalidObjectState", 403, PermissionDenied),
    ],
)
def test_an_answer_is_told_by_its_code_else_by_its_status(code: str, status: int, kind: type[StorageError]) -> None:
    error = answered(code, status)
    assert type(error) is kind
    assert error.detail.startswith(code)
    assert error.retriable is issubclass(kind, Unreachable)


def test_what_to_do_about_it_is_said() -> None:
    assert "new credentials" in str(answered("ExpiredToken", 400))
    assert "fs.s3a.endpoint.region" in str(answered("PermanentRedirect", 301))
    assert "bucket does not exist" in str(answered("NoSuchBucket", 404))
    assert "AWS_PROFILE" in str(reported(NoCredentialsError()))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EndpointConnectionError(endpoint_url="u"), Unreachable),
        (ConnectTimeoutError(endpoint_url="u"), Unreachable),
        (ReadTimeoutError(endpoint_url="u"), Unreachable),
        (ResponseParserError("cut"), Unreachable),
        (SSLError(endpoint_url="u", error=OSError("EOF")), Unreachable),
        (SSLError(endpoint_url="u", error=OSError("CERTIFICATE_VERIFY_FAILED")), StorageFailure),
        (NoCredentialsError(), PermissionDenied),
        (ParamValidationError(report="r"), StorageFailure),
    ],
)
def test_what_botocore_itself_raises_is_told(error: Exception, kind: type[StorageError]) -> None:
    assert type(reported(error)) is kind


def test_a_bug_is_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError), translated(PATH):
        raise ZeroDivisionError


def test_a_problem_with_one_key_names_the_key_and_may_pass() -> None:
    denied, busy = KeyProblem("AccessDenied", "no"), KeyProblem("SlowDown", "")
    assert (denied.is_passing, busy.is_passing) == (False, True)
    assert type(denied.about(PATH, "a/b")) is PermissionDenied
    assert "'a/b'" in str(denied.about(PATH, "a/b"))
