"""A bucket of Google Cloud Storage through its JSON interface."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast
from urllib.parse import quote

from typing_extensions import override

from toolkit.el import CanonicalPath
from toolkit.storage.attributes import Checksum
from toolkit.storage.cloud.bucket import Bucket
from toolkit.storage.cloud.http import RESUME, Call, HttpClient
from toolkit.storage.errors import NotFound, StorageError, StorageFailure
from toolkit.storage.flat import MOST_KEYS, Page, StoredObject, byte_range
from toolkit.variables import Variables

if TYPE_CHECKING:
    from requests import Response

_GOOGLE = "https://storage.googleapis.com"
_EMULATOR = "STORAGE_EMULATOR_HOST"
"""The variable by which Google's own tools are sent to another server; it is not asked for credentials then."""
_LISTED = "name,size,updated"
_MARK = "feedctl-write"
_TAKEN = re.compile(r"bytes=0-(\d+)")
_JSON = {"Content-Type": "application/json"}
_Resource: TypeAlias = Mapping[str, str]


def emulator(environment: Variables) -> str:
    """Return the address of another server that the operator names, empty for none."""
    host = environment.get(_EMULATOR, "").rstrip("/")
    return host if not host or "://" in host else f"http://{host}"


def code_of(_: Response, text: str) -> tuple[str, str]:
    """Return Google's word for an error, and its message."""
    try:
        error = json.loads(text)["error"]
        return str(error["errors"][0]["reason"]), str(error["message"])
    except (ValueError, KeyError, IndexError, TypeError):
        return "", text


class GcsBucket(Bucket):
    """Requests to a bucket.

    Args:
        root: see `Bucket`.
        client: see `Bucket`.
        before_effect: see `Bucket`.
        base: address of the server; empty: Google's.
    """

    is_sorted = True
    service = "Google Cloud Storage"

    def __init__(
        self, root: CanonicalPath, client: HttpClient, before_effect: Callable[[], None], base: str = ""
    ) -> None:
        super().__init__(root, client, before_effect)
        self._base = base or _GOOGLE
        self._bucket = f"{self._base}/storage/v1/b/{quote(root.authority, safe='')}"
        self._uploads = f"{self._base}/upload/storage/v1/b/{quote(root.authority, safe='')}/o"

    @override
    def pages(self, prefix: str, *, start: str = "", delimiter: str = "", most: int = MOST_KEYS) -> Iterator[Page]:
        params = {"prefix": prefix, "startOffset": start, "delimiter": delimiter, "maxResults": str(most)}
        params = {name: value for name, value in params.items() if value}
        params["fields"] = f"items({_LISTED}),prefixes,nextPageToken"
        while True:
            answer = self._client.send(self.place(prefix), Call(method="GET", url=f"{self._bucket}/o", params=params))
            with self._understood(prefix):
                found = answer.json()
                page = Page(
                    objects=[_stored(each) for each in found.get("items", ())],
                    prefixes=list(found.get("prefixes", ())),
                    token=found.get("nextPageToken", ""),
                )
            yield page
            if not page.token:
                return
            params["pageToken"] = page.token

    @override
    def keys(self, prefix: str) -> Iterator[tuple[str, bool]]:
        """List all keys that begin so; an object is never a directory."""
        return ((each.key, False) for page in self.pages(prefix) for each in page.objects)

    @override
    def head(self, key: str) -> StoredObject | None:
        with suppress(NotFound), self._understood(key):
            return _stored(self._about(key, _LISTED))
        return None

    @override
    def checksum(self, key: str) -> Checksum | None:
        """Return the MD5, or the CRC32C of an object that was composed."""
        found = self._about(key, "md5Hash,crc32c")
        for name, algorithm in (("md5Hash", "MD5"), ("crc32c", "CRC32C")):
            if name in found:
                return Checksum(algorithm, base64.b64decode(found[name]))
        return None

    @override
    def opened(self, key: str, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        # An object that is kept packed comes as it is kept: Google unpacks it for who does not take gzip.
        part = byte_range(offset, length)
        headers = {"Accept-Encoding": "gzip"} | ({"Range": part} if part else {})
        call = Call(method="GET", url=self._url(key), params={"alt": "media"}, headers=headers)
        return self._client.open(self.place(key), call)

    @override
    def _mark_of(self, key: str) -> str | None:
        found = cast("Mapping[str, Mapping[str, str]]", self._about(key, "metadata"))
        return found.get("metadata", {}).get(_MARK)

    @override
    def _put_small(self, key: str, content: bytes, mark: str, *, overwrite: bool) -> None:
        boundary = secrets.token_hex(16)
        head = f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{_metadata(key, mark)}\r\n"
        head += f"--{boundary}\r\nContent-Type: application/octet-stream\r\n\r\n"
        call = Call(
            method="POST",
            url=self._uploads,
            params={"uploadType": "multipart", "name": key, **_condition(overwrite=overwrite)},
            headers={"Content-Type": f"multipart/related; boundary={boundary}"},
            body=head.encode() + content + f"\r\n--{boundary}--\r\n".encode(),
        )
        self._change(key, call)

    @override
    def _put_large(self, key: str, parts: Iterator[bytes], mark: str, *, overwrite: bool) -> None:
        """Begin a resumable upload; parts are multiples of 256 KiB."""
        begin = Call(
            method="POST",
            url=self._uploads,
            params={"uploadType": "resumable", "name": key, **_condition(overwrite=overwrite)},
            headers=_JSON,
            body=_metadata(key, mark).encode(),
        )
        session = self._change(key, begin).headers.get("Location", "")
        if not session.startswith(f"{self._base}/"):
            detail = "the answer is not that of the store: it has no upload of its own"
            raise StorageFailure(path=self.place(key), detail=detail)
        is_complete = False
        try:
            self._put_parts(key, session, parts)
            is_complete = True
        finally:
            if not is_complete:
                with suppress(StorageError):
                    self._client.send(self.place(key), Call(method="DELETE", url=session))

    def _put_parts(self, key: str, session: str, parts: Iterator[bytes]) -> None:
        offset, part = 0, next(parts, None)
        while part is not None:
            following = next(parts, None)
            end = offset + len(part)
            total = str(end) if following is None else "*"
            taken = self._put_range(key, session, offset, part, total)
            while taken < end:  # the store may take only the begin of a part
                taken = self._put_range(key, session, taken, part[taken - offset :], total)
            offset, part = end, following

    def _put_range(self, key: str, session: str, offset: int, content: bytes, total: str) -> int:
        """Send a range, and return how many bytes of the whole file the store has now."""
        end = offset + len(content)
        headers = {"Content-Range": f"bytes {offset}-{end - 1}/{total}"}
        call = Call(method="PUT", url=session, headers=headers, body=content)
        answer = self._change(key, call)
        if answer.status_code != RESUME:
            if total == str(end):
                return end
        elif found := _TAKEN.fullmatch(answer.headers.get("Range", "")):
            taken = int(found[1]) + 1
            if offset < taken <= end:
                return taken
        raise StorageFailure(
            path=self.place(key), detail="the store took nothing of a part of the file; write it again"
        )

    def _about(self, key: str, fields: str) -> _Resource:
        answer = self._client.send(self.place(key), Call(method="GET", url=self._url(key), params={"fields": fields}))
        with self._understood(key):
            return cast("_Resource", answer.json())

    @override
    def _url(self, key: str) -> str:
        return f"{self._bucket}/o/{quote(key, safe='')}"


def _condition(*, overwrite: bool) -> dict[str, str]:
    return {} if overwrite else {"ifGenerationMatch": "0"}


def _metadata(key: str, mark: str) -> str:
    return json.dumps({"name": key, "metadata": {_MARK: mark}})


def _stored(found: _Resource) -> StoredObject:
    return StoredObject(found["name"], int(found["size"]), datetime.fromisoformat(found["updated"]))
