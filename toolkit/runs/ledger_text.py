"""Paths and messages as a database can hold them: names on a disk are bytes, and need not be Unicode."""

from __future__ import annotations

from urllib.parse import quote_from_bytes, unquote_to_bytes

_AS_BYTES = "bytes:"
_PLAIN = "/:"


def path_text(path: str) -> str:
    """A path as text that is Unicode; what is none is written byte by byte, and `path_of` reads it back.

    Args:
        path: with a scheme, so that none begins like the written bytes.
    """
    if _is_unicode(path):
        return path
    return _AS_BYTES + quote_from_bytes(path.encode("utf-8", "surrogateescape"), safe=_PLAIN)


def path_of(text: str) -> str:
    """The path that was written with `path_text`."""
    if not text.startswith(_AS_BYTES):
        return text
    return unquote_to_bytes(text.removeprefix(_AS_BYTES)).decode("utf-8", "surrogateescape")


def message_text(message: str) -> str:
    """A message for people, with escapes for what is no Unicode."""
    return message if _is_unicode(message) else message.encode("utf-8", "backslashreplace").decode()


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= each <= "\udfff" for each in text)
