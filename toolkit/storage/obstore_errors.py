"""What obstore raises, as storage errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)

from toolkit.el import CanonicalPath
from toolkit.storage.errors import (
    AlreadyExists,
    BadName,
    NotFound,
    PermissionDenied,
    StorageError,
    StorageFailure,
    Unreachable,
)
from toolkit.storage.secret_keys import without_secrets

_KINDS: tuple[tuple[type[Exception], type[StorageError]], ...] = (
    (AlreadyExistsError, AlreadyExists),
    (PreconditionError, AlreadyExists),
    (PermissionDeniedError, PermissionDenied),
    (UnauthenticatedError, PermissionDenied),
    (InvalidPathError, BadName),
)
_SILENCES = ("timed out", "error sending request", "connect error", "status 429", "status 5", "503", "500 internal")


@contextmanager
def translated(path: CanonicalPath) -> Iterator[None]:
    """Turn what obstore raises in the body into a storage error about `path`."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(path=path) from error
    except BaseError as error:
        raise _kind(error)(path=path, detail=without_secrets(str(error).partition("\n")[0])) from error


def _kind(error: BaseError) -> type[StorageError]:
    for raised, kind in _KINDS:
        if isinstance(error, raised):
            return kind
    # Obstore has one error for everything else, also for silence, which only its text tells.
    text = str(error).lower()
    return Unreachable if any(silence in text for silence in _SILENCES) else StorageFailure
