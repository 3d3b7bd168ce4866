"""Writing an object: in one request when it is small, else in parts that become visible together."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from toolkit.el import CanonicalPath
from toolkit.storage.errors import AlreadyExists, NotFound, StorageError, Unreachable
from toolkit.storage.s3.bucket import Bucket
from toolkit.storage.s3.errors import translated, understood
from toolkit.storage.streams import in_parts

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import (
        CompletedMultipartUploadTypeDef,
        CompletedPartTypeDef,
        CompleteMultipartUploadOutputTypeDef,
        PutObjectOutputTypeDef,
        UploadPartOutputTypeDef,
    )


if TYPE_CHECKING:
    _Tagged: TypeAlias = PutObjectOutputTypeDef | UploadPartOutputTypeDef | CompleteMultipartUploadOutputTypeDef

PART_BYTES = 8 * 1024 * 1024
"""A part of an upload, and the most that is written in one request; parts double every 1,000 (10,000 are allowed)."""

_MOST_PARTS = 10_000
_MARK = "feedctl-write"
_ATTEMPTS = 5
_WAIT = 0.2


class _Condition(TypedDict, total=False):
    IfNoneMatch: str


class ObjectWriter:
    """Writes one object.

    Args:
        bucket: where to.
        key: under which key.
        path: what errors name.
        overwrite: replace an object that is there.
        token: of an upload that was started before; empty: it writes anew.
    """

    def __init__(self, bucket: Bucket, key: str, path: CanonicalPath, *, overwrite: bool, token: str = "") -> None:
        self._bucket, self._key, self._path = bucket, key, path
        mark, _, self._started = token.partition(" ")
        self._mark = mark or secrets.token_hex(16)
        self._metadata = {} if overwrite else {_MARK: self._mark}
        self._condition: _Condition = {} if overwrite else {"IfNoneMatch": "*"}

    def write(self, chunks: Iterable[bytes]) -> None:
        """Write all chunks; when they raise, nothing of them stays.

        Raises:
            AlreadyExists: an object is there and may not be replaced.
        """
        parts = in_parts(chunks, lambda number: PART_BYTES << (number // 1000))
        first = next(parts, b"")
        second = next(parts, None)
        try:
            if second is None:
                self._put(first)
            else:
                self._upload(chain((first, second), parts))
        except AlreadyExists:
            if not self._is_ours():
                raise

    def start(self) -> str:
        """Begin an upload whose parts other writers send as well; returns its token."""
        return f"{self._mark} {self._created()}"

    def put_range(self, number: int, chunks: Iterable[bytes], part_bytes: int) -> list[tuple[int, str]]:
        """Send chunks of a started upload as the parts from a number on; returns length and tag of each."""
        parts = enumerate(in_parts(chunks, lambda _: part_bytes), number)
        return [(len(part), self._part(self._started, number, part)["ETag"]) for number, part in parts]

    def complete(self, tags: Iterable[tuple[int, str]]) -> None:
        """Make the object of the parts of a started upload, which have these numbers and tags."""
        try:
            self._complete(self._started, [{"PartNumber": number, "ETag": tag} for number, tag in tags])
        except (AlreadyExists, NotFound):
            if not self._is_ours():
                raise

    def abort(self) -> None:
        """Remove the parts of a started upload; fine when there are none."""
        with suppress(NotFound):
            self._aborted(self._started)

    def _is_ours(self) -> bool:
        """Return whether a repeated request of botocore met what its first try, whose answer was lost, had written."""
        with translated(self._path):
            found = self._bucket.client.head_object(Bucket=self._bucket.name, Key=self._key)
        return found["Metadata"].get(_MARK) == self._mark

    def _put(self, content: bytes) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._put_once(content)
            except Unreachable as error:
                # Two writers at the same moment are both told to try again.
                if attempt == _ATTEMPTS or not error.detail.startswith("ConditionalRequestConflict"):
                    raise
                time.sleep(_WAIT * attempt)
            else:
                return

    def _put_once(self, content: bytes) -> None:
        with translated(self._path):
            answer = self._bucket.client.put_object(
                Bucket=self._bucket.name, Key=self._key, Body=content, Metadata=self._metadata, **self._condition
            )
        self._tag(answer)

    def _upload(self, parts: Iterator[bytes]) -> None:
        upload = self._created()
        is_complete = False
        try:
            done = [self._part(upload, number, part) for number, part in enumerate(parts, 1)]
            self._complete(upload, done)
            is_complete = True
        finally:
            if not is_complete:
                self._abort(upload)

    def _created(self) -> str:
        client, name = self._bucket.client, self._bucket.name
        with translated(self._path), understood(self._path):
            return client.create_multipart_upload(Bucket=name, Key=self._key, Metadata=self._metadata)["UploadId"]

    def _part(self, upload: str, number: int, content: bytes) -> CompletedPartTypeDef:
        with translated(self._path):
            answer = self._bucket.client.upload_part(
                Bucket=self._bucket.name, Key=self._key, UploadId=upload, PartNumber=number, Body=content
            )
        return {"PartNumber": number, "ETag": self._tag(answer)}

    def _complete(self, upload: str, parts: list[CompletedPartTypeDef]) -> None:
        uploaded: CompletedMultipartUploadTypeDef = {"Parts": parts}
        with translated(self._path):
            answer = self._bucket.client.complete_multipart_upload(
                Bucket=self._bucket.name, Key=self._key, UploadId=upload, MultipartUpload=uploaded, **self._condition
            )
        self._tag(answer)

    def _tag(self, answer: _Tagged) -> str:
        """Return the ETag of the bytes; an answer without it did not come from S3."""
        with understood(self._path):
            return answer["ETag"]

    def _abort(self, upload: str) -> None:
        """Best effort: what broke the upload is told, and a rule of the bucket can clear what even this leaves."""
        with suppress(StorageError):
            self._aborted(upload)

    def _aborted(self, upload: str) -> None:
        with translated(self._path):
            self._bucket.client.abort_multipart_upload(Bucket=self._bucket.name, Key=self._key, UploadId=upload)


def part_bytes(size: int) -> int:
    """Return the size of the parts of an object of so many bytes."""
    return PART_BYTES * max(1, -(-size // (PART_BYTES * _MOST_PARTS)))
