"""Storage errors for the answers of S3 and botocore; by S3's error code first, else by the HTTP status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    MetadataRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    ResponseStreamingError,
    SSLError,
    TokenRetrievalError,
)
from botocore.exceptions import ConnectionError as NoConnection
from botocore.parsers import ResponseParserError

from toolkit.el import CanonicalPath
from toolkit.storage.errors import (
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
from toolkit.storage.flat import NoSuchRange
from toolkit.storage.hadoop_conf import without_secrets

_BY_CODE: dict[str, type[StorageError]] = {
    **dict.fromkeys(("NoSuchKey", "NoSuchBucket"), NotFound),
    **dict.fromkeys(
        (
            "AccessDenied",
            "AllAccessDisabled",
            "AccountProblem",
            "InvalidAccessKeyId",
            "SignatureDoesNotMatch",
            "ExpiredToken",
            "InvalidToken",
            "TokenRefreshRequired",
            "RequestTimeTooSkewed",
        ),
        PermissionDenied,
    ),
    **dict.fromkeys(("InternalError", "InternalServerError", "RequestTimeout", "RequestTimeoutException"), Unreachable),
    **dict.fromkeys(
        (
            "SlowDown",
            "SlowDownRead",
            "SlowDownWrite",
            "ServiceUnavailable",
            "Busy",
            "RequestLimitExceeded",
            "Throttling",
            "ThrottlingException",
            "TooManyRequests",
            "OperationAborted",
            "ConditionalRequestConflict",
        ),
        NotDone,
    ),
    "PreconditionFailed": AlreadyExists,
    "InvalidRange": NoSuchRange,
    **dict.fromkeys(
        ("EntityTooLarge", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"), QuotaExceeded
    ),
    **dict.fromkeys(("KeyTooLong", "KeyTooLongError", "XMinioInvalidObjectName"), BadName),
}
_BY_STATUS: dict[int, type[StorageError]] = {
    401: PermissionDenied,
    403: PermissionDenied,
    404: NotFound,
    408: Unreachable,
    412: AlreadyExists,
    429: NotDone,
    500: Unreachable,
    502: Unreachable,
    503: NotDone,
    504: Unreachable,
    507: QuotaExceeded,
}
_ADVICE = {
    "NoSuchBucket": "the bucket does not exist; check its name and the endpoint",
    "InvalidAccessKeyId": "the endpoint does not know this access key; check AWS_ACCESS_KEY_ID or the profile",
    "SignatureDoesNotMatch": "the secret key does not fit the access key; check AWS_SECRET_ACCESS_KEY or the profile",
    "ExpiredToken": "the session token has expired; get new credentials",
    "TokenRefreshRequired": "the session token must be refreshed; get new credentials",
    "RequestTimeTooSkewed": "the clock of this machine is wrong; set it",
    "PermanentRedirect": "the bucket is in another region; set fs.s3a.endpoint.region",
    "AuthorizationHeaderMalformed": "the bucket is in another region; set fs.s3a.endpoint.region",
    "InvalidObjectState": "the object is archived; restore it first",
}
_LOOKED_IN = (
    "no credentials were found; looked for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile of AWS_PROFILE in "
    "~/.aws/credentials and ~/.aws/config, a web identity, and the role of the container or the machine"
)


class KeyProblem(NamedTuple):
    """Problem with one key in the answer to a bulk request that as a whole succeeded."""

    code: str
    message: str

    @property
    def is_passing(self) -> bool:
        """True if nothing happened, and the same request may succeed a little later.

        A key that may be gone is not asked for again: somebody may have written it anew meanwhile.
        """
        return issubclass(_kind(self.code, 0), NotDone)

    def about(self, path: CanonicalPath, key: str) -> StorageError:
        """The error of the path that the key belongs to."""
        return _kind(self.code, 0)(path=path, detail=f"key {key!r}: {_text(self.code, self.message)}")


UNANSWERED = KeyProblem("NotAnswered", "the answer of the store does not name this key, so it is not that of S3")
"""A key of a bulk removal of which the store said neither that it is gone nor that it is not."""


@contextmanager
def understood(path: CanonicalPath) -> Iterator[None]:
    """An answer without what is looked for comes from something else than S3, such as a proxy's page to sign in."""
    try:
        yield
    except KeyError as error:
        raise StorageFailure(path=path, detail=f"the answer is not that of S3: it has no {error.args[0]}") from error


@contextmanager
def translated(path: CanonicalPath) -> Iterator[None]:
    """Turn what botocore raises in the body into a storage error about `path`."""
    try:
        yield
    except ClientError as error:
        raise _from_answer(error, path) from error
    except ResponseParserError as error:
        raise Unreachable(path=path, detail=f"an answer broke off: {error}") from error
    except BotoCoreError as error:
        raise _from_botocore(error, path) from error
    except ValueError as error:
        raise StorageFailure(path=path, detail=f"the answer is not that of S3: {error}") from error
    except RecursionError as error:
        raise StorageFailure(path=path, detail="the answer is not that of S3: it is nested too deep") from error


_LONGEST = 1000


def _from_answer(error: ClientError, path: CanonicalPath) -> StorageError:
    message = error.response.get("Error", {}).get("Message", "")
    return _kind(*_named(error.response))(path=path, detail=_text(_named(error.response)[0], message))


def is_unanswered(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer leaves open if the store has done what it was asked for, as that of a gateway does."""
    kind = _kind(*_named(answer))
    return issubclass(kind, Unreachable) and not issubclass(kind, NotDone)


def _named(answer: Mapping[str, Any]) -> tuple[str, int]:
    """Return the error code and the HTTP status of an answer."""
    return answer.get("Error", {}).get("Code", ""), answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


def _kind(code: str, status: int) -> type[StorageError]:
    # The answer to a HEAD has no body: botocore then gives the status as the code.
    by_status = _BY_STATUS.get(int(code) if code.isdecimal() else status, StorageFailure)
    return _BY_CODE.get(code, by_status)


def _text(code: str, message: str) -> str:
    return f"{code[:_LONGEST]}: {_ADVICE.get(code, message)[:_LONGEST]}".removesuffix(": ")


def _from_botocore(error: BotoCoreError, path: CanonicalPath) -> StorageError:
    if isinstance(error, NoCredentialsError):
        return PermissionDenied(path=path, detail=_LOOKED_IN)
    text = without_secrets(str(error))
    if isinstance(error, _CREDENTIALS):
        return PermissionDenied(path=path, detail=text)
    if isinstance(error, SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        return StorageFailure(path=path, detail=f"{text}; AWS_CA_BUNDLE names the authorities that are trusted")
    if isinstance(error, _SILENCES):
        return Unreachable(path=path, detail=text)
    return StorageFailure(path=path, detail=text)


_CREDENTIALS = (PartialCredentialsError, CredentialRetrievalError, TokenRetrievalError, ProfileNotFound)
_SILENCES = (NoConnection, HTTPClientError, IncompleteReadError, ResponseStreamingError, MetadataRetrievalError)
