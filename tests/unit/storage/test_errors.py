"""Storage errors: one stable code each, and what the operating system's numbers become."""

from __future__ import annotations

import errno
import os

import pytest

from toolkit.el import CanonicalPath
from toolkit.errors import Failed, Unavailable
from toolkit.storage import (
    NotFound,
    PermissionDenied,
    QuotaExceeded,
    StorageError,
    StorageFailure,
    Unreachable,
)
from toolkit.storage.local.system import translated

PATH = CanonicalPath("file", "", "/data")


def test_every_error_has_its_own_code() -> None:
    kinds = StorageError.__subclasses__()
    assert len({kind.code for kind in kinds}) == len(kinds)


def test_only_an_unreachable_store_is_worth_another_try() -> None:
    retriable = [kind for kind in StorageError.__subclasses__() if kind.retriable]
    assert retriable == [Unreachable]
    assert issubclass(Unreachable, Unavailable)
    assert issubclass(NotFound, Failed)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, NotFound),
        (errno.EROFS, PermissionDenied),
        (errno.ESTALE, Unreachable),
        (errno.ENOSPC, QuotaExceeded),
        (errno.EINVAL, StorageFailure),
    ],
)
def test_a_number_of_the_system_becomes_an_error_about_the_path(number: int, kind: type[StorageError]) -> None:
    with pytest.raises(kind, match="file:///data: ") as caught, translated(PATH):
        raise OSError(number, os.strerror(number))
    assert os.strerror(number) in str(caught.value)
