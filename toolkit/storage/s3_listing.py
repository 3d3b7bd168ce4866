"""Directories as S3 shows them: common beginnings of keys, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import commonprefix

from toolkit.storage.port import ContentSummary, Entry, FileKind
from toolkit.storage.s3_bucket import Bucket, Page, StoredObject
from toolkit.storage.s3_keys import just_before


def entries(bucket: Bucket, prefix: str, start_from: str) -> Iterator[Entry]:
    """The entries of a directory in the order of the keys; the directory's own marker is none of them."""
    start = prefix + start_from
    after = just_before(start) if start_from else ""
    # A text that does not begin with the prefix lies before all keys that do; some stores would list nothing from it.
    after = after if after.startswith(prefix) else ""
    for page in _pages(bucket, prefix, after, "/"):
        for key in sorted([each.key for each in page.objects] + list(page.prefixes)):
            if key != prefix and key >= start:
                yield _entry(key, prefix)


def _entry(key: str, prefix: str) -> Entry:
    if key.endswith("/"):
        return Entry(key[len(prefix) : -1], FileKind.DIRECTORY)
    return Entry(key[len(prefix) :], FileKind.FILE)


def _pages(bucket: Bucket, prefix: str, after: str, delimiter: str) -> Iterator[Page]:
    page = bucket.page(prefix, after=after, delimiter=delimiter)
    yield page
    while page.token:
        page = bucket.page(prefix, token=page.token, delimiter=delimiter)
        yield page


def first_below(bucket: Bucket, prefix: str) -> StoredObject | None:
    """The first object below a directory, which may be its marker; None: there is no such directory."""
    return next(iter(bucket.page(prefix, most=1).objects), None)


def summary_below(bucket: Bucket, prefix: str) -> ContentSummary | None:
    """Count what is below a directory, itself included; None when it does not exist."""
    files, size, directories, before = 0, 0, 0, ""
    for page in _pages(bucket, prefix, "", ""):
        for key, length, _ in page.objects:
            files, size = files + (not key.endswith("/")), size + length
            # Keys of one directory lie together: it is new where this key and the one before differ within its name.
            shared = commonprefix([before, key]) if before else prefix  # noqa: RUF071 - of keys, not of paths
            directories += key.count("/", len(shared)) + (not before)
            before = key
    if not before and prefix:
        return None
    return ContentSummary(files=files, directories=directories or 1, size=size)  # a bucket has its root
