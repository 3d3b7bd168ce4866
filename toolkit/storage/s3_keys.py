"""Keys of objects, and the places that a path stands for among them: S3 knows no directories, only sorted keys."""

from __future__ import annotations

import re
from typing import NamedTuple

from toolkit.el import CanonicalPath
from toolkit.storage.errors import BadName, StorageFailure

_LONGEST = 1024
_LAST_CHARACTER = "\U0010ffff"
_SURROGATES = range(0xD800, 0xE000)
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


class Span(NamedTuple):
    """All keys from `first` on and before `end`; they belong to one path."""

    first: str
    end: str
    path: CanonicalPath


def key_of(path: CanonicalPath, bucket: str) -> str:
    """The key of the object at a path; empty for the bucket's root.

    Raises:
        BadName: no key can be that long, or it is no Unicode text.
        StorageFailure: the path is in another store.
    """
    if (path.scheme, path.authority) != ("s3", bucket):
        raise StorageFailure(path=path, detail=f"asked of s3://{bucket}, which is another store")
    key = path.path.removeprefix("/")
    try:
        length = len(key.encode())
    except UnicodeEncodeError as error:
        raise BadName(path=path, detail="not Unicode text") from error
    if length > _LONGEST:
        raise BadName(path=path, detail=f"{length} bytes, at most {_LONGEST} are allowed")
    return key


def prefix_of(key: str) -> str:
    """How the keys of what is in the directory begin; it is also the key of the directory's marker."""
    return f"{key}/" if key else ""


def spans_of(key: str, path: CanonicalPath) -> tuple[Span, Span]:
    """The object itself, and everything below; between the two, as the keys are sorted, others may lie (``a-b``)."""
    return Span(key, f"{key}\0", path), Span(f"{key}/", f"{key}0", path)  # "0" is the character behind "/"


def just_before(key: str) -> str:
    """A text that sorts before the key with hardly anything between them; S3 lists only what is behind a given text."""
    # Some stores put the text into their answer as it is; so it ends before the first character that breaks XML.
    text = _NOT_IN_XML.split(key, maxsplit=1)[0]
    if text != key:
        return text
    previous = ord(key[-1]) - 1
    if previous in _SURROGATES:
        previous = _SURROGATES.start - 1
    return _NOT_IN_XML.split(f"{key[:-1]}{chr(previous)}{_LAST_CHARACTER}", maxsplit=1)[0]


def fits_xml(key: str) -> bool:
    """Whether a document can carry the key unchanged: no control characters, no line ends."""
    return _NOT_IN_XML.search(key) is None
