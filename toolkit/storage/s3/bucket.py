"""Bucket through botocore's client: its keys, and the few requests that feedctl makes."""

from __future__ import annotations

import base64
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, cast

from typing_extensions import override

from toolkit.el import CanonicalPath
from toolkit.storage.attributes import Checksum
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.errors import NotFound, StorageFailure
from toolkit.storage.flat import MOST_KEYS, Objects, Page, StoredObject, byte_range
from toolkit.storage.s3.errors import UNANSWERED, KeyProblem, translated, understood
from toolkit.storage.streams import body_stream

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from types_boto3_s3.client import S3Client
    from types_boto3_s3.type_defs import (
        GetObjectRequestTypeDef,
        ListObjectsV2OutputTypeDef,
        ListObjectsV2RequestTypeDef,
    )
    from urllib3.response import HTTPResponse


_LAST_CHARACTER = "\U0010ffff"
_SURROGATES = range(0xD800, 0xE000)
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


class Span(NamedTuple):
    """All keys from `first` on and before `end`; they belong to one path."""

    first: str
    end: str
    path: CanonicalPath


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
    """Return whether XML can carry the key unchanged: no control characters, no line ends."""
    return _NOT_IN_XML.search(key) is None


_ATTEMPTS = 5
_FIRST_WAIT = 0.2
_NO_CONTENT = 204


_CHECKSUMS = ("SHA512", "SHA256", "XXHASH128", "XXHASH3", "CRC64NVME", "SHA1", "MD5", "XXHASH64", "CRC32C", "CRC32")
"""By which S3 may know an object, the surest first."""


class Keys(Protocol):
    """Requests of a bulk removal to a bucket."""

    @property
    def root(self) -> CanonicalPath:
        """The path of the bucket."""
        ...

    def page(
        self, prefix: str, *, after: str = "", token: str = "", delimiter: str = "", most: int = MOST_KEYS
    ) -> Page:
        """Return a page of a listing, as `Bucket.page` does."""
        ...

    def remove(self, keys: Sequence[str]) -> dict[str, KeyProblem]:
        """Remove keys, as `Bucket.remove` does."""
        ...


class Bucket(Objects):
    """The requests; may be used by several threads at once.

    Args:
        name: of the bucket.
        client: makes, or gives, botocore's client; it is not asked for before the first request.
        reads: the time limit of each piece of an object that is read.
    """

    is_sorted = True

    def __init__(self, name: str, client: Callable[[], S3Client], reads: BoundedCalls | None = None) -> None:
        self.name, self.reads = name, reads or BoundedCalls()
        self.root = CanonicalPath("s3", name, "/")
        self._client = client

    @property
    def client(self) -> S3Client:
        """Botocore's client, for the requests that write."""
        return self._client()

    @override
    def pages(self, prefix: str, *, start: str = "", delimiter: str = "", most: int = MOST_KEYS) -> Iterator[Page]:
        after = just_before(start) if start else ""
        # A text that does not begin with the prefix lies before all keys that do; some stores list nothing from it.
        page = self.page(prefix, after=after if after.startswith(prefix) else "", delimiter=delimiter, most=most)
        yield page
        while page.token:
            page = self.page(prefix, token=page.token, delimiter=delimiter, most=most)
            yield page

    def page(
        self, prefix: str, *, after: str = "", token: str = "", delimiter: str = "", most: int = MOST_KEYS
    ) -> Page:
        """The first keys that begin with `prefix` and sort behind `after`, at most `most`.

        Raises:
            NotFound: the bucket does not exist.
            StorageFailure: the answer is not one of S3, or breaks its rules.
        """
        params: ListObjectsV2RequestTypeDef = {"Bucket": self.name, "Prefix": prefix, "MaxKeys": most}
        if delimiter:
            params["Delimiter"] = delimiter
        if token:
            params["ContinuationToken"] = token
        elif after:
            params["StartAfter"] = after
        place = self.place(prefix)
        with translated(place):
            answer = self.client.list_objects_v2(**params)
        with understood(place):
            found = _page(answer)
        self._refuse_disorder(prefix, after, found.objects)
        if answer["IsTruncated"] and not (found.token and (found.objects or found.prefixes)):
            # Taken for the last page, it would make of a part of the keys the whole.
            detail = "the store says that there are more keys, but not how to ask for them; does it know ListObjectsV2?"
            raise StorageFailure(path=place, detail=detail)
        return found

    def _refuse_disorder(self, prefix: str, after: str, objects: Sequence[StoredObject]) -> None:
        """Everything relies on the order of the keys; a store that gives another one must not be worked on."""
        is_sorted = all(left.key < right.key for left, right in pairwise(objects))
        if not is_sorted or (objects and not (objects[0].key > after and objects[0].key.startswith(prefix))):
            raise StorageFailure(path=self.place(prefix), detail="the store lists keys that are not in order")

    @override
    def head(self, key: str) -> StoredObject | None:
        """The object with exactly this key; None when there is none."""
        if not key:
            return None
        try:
            with translated(self.place(key)):
                answer = self.client.head_object(Bucket=self.name, Key=key)
        except NotFound:
            return None
        with understood(self.place(key)):
            return StoredObject(key, answer["ContentLength"], answer["LastModified"])

    @override
    def opened(self, key: str, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        place = self.place(key)
        params: GetObjectRequestTypeDef = {"Bucket": self.name, "Key": key}
        if part := byte_range(offset, length):
            params["Range"] = part
        with translated(place):
            answer = self.client.get_object(**params)
        if offset and not answer.get("ContentRange", "").startswith(f"bytes {offset}-"):
            answer["Body"].close()
            raise StorageFailure(path=place, detail="the store does not give ranges of an object")
        return _stream(answer["Body"], place, self.reads)

    def uploads(self, prefix: str) -> Iterator[tuple[str, str]]:
        """The keys that begin so and are being uploaded in parts, each with what the store knows its upload by."""
        place = self.place(prefix)
        with translated(place):
            pages = self.client.get_paginator("list_multipart_uploads").paginate(Bucket=self.name, Prefix=prefix)
            for page in pages:
                with understood(place):
                    yield from [(each["Key"], each["UploadId"]) for each in page.get("Uploads", ())]

    @override
    def checksum(self, key: str) -> Checksum | None:
        """Return the store's checksum of an object; one of the whole object goes before one made of its parts."""
        with translated(self.place(key)):
            answer = self.client.head_object(Bucket=self.name, Key=key, ChecksumMode="ENABLED")
        found = cast("Mapping[str, str]", answer)
        name = next((name for name in _CHECKSUMS if f"Checksum{name}" in found), "")
        tag = found.get("ETag", "").strip('"')
        if not name:
            return Checksum("ETag", tag.encode()) if tag else None
        text = found[f"Checksum{name}"]
        # Not all stores tell what it is of; the tag of what came in parts ends with their number.
        if found.get("ChecksumType", "COMPOSITE" if "-" in tag else "FULL_OBJECT") == "FULL_OBJECT":
            return Checksum(name, base64.b64decode(text))
        return Checksum(f"{name}-composite", text.encode())

    def remove(self, keys: Sequence[str]) -> dict[str, KeyProblem]:
        """Remove up to 1,000 keys; what is not in the answer is gone.

        A key that the store was too busy for is tried again a few times; one that it said nothing about, or that may be
        gone in spite of an error, is not.
        """
        problems: dict[str, KeyProblem] = {}
        waiting = list(keys)
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_FIRST_WAIT * 2**attempt * random.uniform(0.5, 1.0))  # noqa: S311 - only spreads load
            found = self._removed_once(waiting)
            problems = {**{key: each for key, each in problems.items() if key not in waiting}, **found}
            waiting = [key for key, each in found.items() if each.is_passing]
            if not waiting:
                break
        return problems

    def _removed_once(self, keys: Sequence[str]) -> dict[str, KeyProblem]:
        # XML cannot carry control characters, and changes line ends: such keys go one by one, in the URL.
        together = [key for key in keys if fits_xml(key)]
        problems = self._removed_together(together) if together else {}
        for key in set(keys).difference(together):
            with translated(self.place(key)):
                answer = self.client.delete_object(Bucket=self.name, Key=key)
            if answer["ResponseMetadata"]["HTTPStatusCode"] != _NO_CONTENT:
                problems[key] = UNANSWERED
        return problems

    def _removed_together(self, keys: Sequence[str]) -> dict[str, KeyProblem]:
        """The keys that are not confirmed to be gone; silence about a key confirms nothing."""
        with translated(self.root):
            # Not `Quiet`: any answer without errors, such as an empty one of a proxy, would then mean success.
            answer = self.client.delete_objects(Bucket=self.name, Delete={"Objects": [{"Key": key} for key in keys]})
        gone = {each.get("Key") for each in answer.get("Deleted", ())}
        problems = {
            each.get("Key", ""): KeyProblem(each.get("Code", ""), each.get("Message", ""))
            for each in answer.get("Errors", ())
        }
        # An error that names none of our keys could be about any of those that the answer does not name.
        stray = next((problem for key, problem in problems.items() if key not in set(keys)), UNANSWERED)
        return {key: problems.get(key, stray) for key in keys if key in problems or key not in gone}


def _page(answer: ListObjectsV2OutputTypeDef) -> Page:
    return Page(
        objects=[StoredObject(each["Key"], each["Size"], each["LastModified"]) for each in answer.get("Contents", ())],
        prefixes=[each["Prefix"] for each in answer.get("CommonPrefixes", ())],
        token=answer.get("NextContinuationToken", "") if answer["IsTruncated"] else "",
    )


def _stream(body: StreamingBody, path: CanonicalPath, calls: BoundedCalls) -> BinaryIO:
    def read(size: int) -> bytes:
        with translated(path):
            return body.read(size)

    # Botocore's body has no way to end a read that hangs; what is under it does.
    raw = cast("HTTPResponse", body._raw_stream)  # type: ignore[attr-defined]  # noqa: SLF001 - said above
    return body_stream(path, raw, read, calls)
