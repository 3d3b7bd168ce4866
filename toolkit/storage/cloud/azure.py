"""A container of Azure Blob Storage; what Hadoop calls ``abfs`` and ``wasb``."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, unquote

from defusedxml import ElementTree as ET  # noqa: N817 - as the standard library's is called
from typing_extensions import override

from toolkit.el import CanonicalPath
from toolkit.storage.attributes import Checksum
from toolkit.storage.cloud.bucket import Bucket
from toolkit.storage.cloud.http import Call, HttpClient
from toolkit.storage.errors import BadName, NotFound
from toolkit.storage.flat import MOST_KEYS, Page, StoredObject, byte_range

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element

    from requests import Response

_FOLDER = "hdi_isfolder"
"""Metadata of a marker: Hadoop's connectors write an empty blob that has the directory's own name."""
_MARK = "feedctl_write"
_FEWEST = 16
_MESSAGE = re.compile(r"<Message>(.*?)</Message>", re.DOTALL)


class _Blob(NamedTuple):
    stored: StoredObject
    is_folder: bool


def code_of(response: Response, text: str) -> tuple[str, str]:
    """Return Azure's word for an error, and its message."""
    message = _MESSAGE.search(text)
    return response.headers.get("x-ms-error-code", ""), message[1] if message else ""


class AzureContainer(Bucket):
    """Requests to a container.

    A directory's marker, a blob with the directory's name and the metadata of one, is no object here: `pages` leaves
    it out, `head` gives it the key of a marker, and `keys` has it.

    Args:
        root: see `Bucket`.
        client: see `Bucket`.
        before_effect: see `Bucket`.
        url: of the container.
    """

    is_sorted = False
    service = "Azure"

    def __init__(self, root: CanonicalPath, client: HttpClient, before_effect: Callable[[], None], url: str) -> None:
        super().__init__(root, client, before_effect)
        self._container = url

    @override
    def pages(self, prefix: str, *, start: str = "", delimiter: str = "", most: int = MOST_KEYS) -> Iterator[Page]:
        """List from the first name on, since Azure cannot begin at another."""
        # Markers are left out, so that a page of one could be empty, and the next too.
        for root in self._listed(prefix, delimiter, max(most, _FEWEST)):
            with self._understood(prefix):
                blobs = [_blob(each) for each in root.iterfind("Blobs/Blob")]
                prefixes = [_name(each) for each in root.iterfind("Blobs/BlobPrefix")]
            yield Page([each.stored for each in blobs if not each.is_folder], prefixes, root.findtext("NextMarker", ""))

    @override
    def keys(self, prefix: str) -> Iterator[tuple[str, bool]]:
        for root in self._listed(prefix, "", MOST_KEYS):
            with self._understood(prefix):
                blobs = [_blob(each) for each in root.iterfind("Blobs/Blob")]
            yield from ((each.stored.key, each.is_folder) for each in blobs)

    def _listed(self, prefix: str, delimiter: str, most: int) -> Iterator[Element]:
        query = {"restype": "container", "comp": "list", "include": "metadata", "maxresults": str(most)}
        query |= {name: value for name, value in (("prefix", prefix), ("delimiter", delimiter)) if value}
        marker = ""
        while True:
            params = query | ({"marker": marker} if marker else {})
            answer = self._client.send(self.place(prefix), Call(method="GET", url=self._container, params=params))
            with self._understood(prefix):
                root = ET.fromstring(answer.content)
                if root.find("Blobs") is None:
                    raise ValueError(root.tag)
            yield root
            marker = root.findtext("NextMarker", "")
            if not marker:
                return

    @override
    def head(self, key: str) -> StoredObject | None:
        try:
            headers = self._about(key)
        except NotFound:
            return None
        with self._understood(key):
            name = f"{key}/" if headers.get(f"x-ms-meta-{_FOLDER}", "").lower() == "true" else key
            return StoredObject(name, int(headers["Content-Length"]), _moment(headers["Last-Modified"]))

    @override
    def checksum(self, key: str) -> Checksum | None:
        """Return the MD5 of a blob that came in one request; ETags say nothing of the bytes."""
        headers = self._about(key)
        if headers.get(f"x-ms-meta-{_FOLDER}", "").lower() == "true":
            raise NotFound(path=self.place(key))
        found = headers.get("Content-MD5", "")
        return Checksum("MD5", base64.b64decode(found)) if found else None

    @override
    def opened(self, key: str, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        part = byte_range(offset, length)
        headers = {"x-ms-range": part} if part else {}
        return self._client.open(self.place(key), Call(method="GET", url=self._url(key), headers=headers))

    @override
    def remove(self, key: str) -> None:
        """Remove a blob; one with snapshots is refused, since they would go with it."""
        super().remove(key)

    @override
    def _mark_of(self, key: str) -> str | None:
        return self._about(key).get(f"x-ms-meta-{_MARK}")

    @override
    def _put_small(self, key: str, content: bytes, mark: str, *, overwrite: bool) -> None:
        self._put(key, {}, _headers(mark, overwrite=overwrite) | {"x-ms-blob-type": "BlockBlob"}, content)

    @override
    def _put_large(self, key: str, parts: Iterator[bytes], mark: str, *, overwrite: bool) -> None:
        """Upload blocks; those that are never put together are not visible, and Azure clears them after a week."""
        names = []
        for number, part in enumerate(parts):
            names.append(base64.b64encode(f"{mark}-{number:08}".encode()).decode())
            self._put(key, {"comp": "block", "blockid": names[-1]}, {}, part)
        blocks = "".join(f"<Latest>{name}</Latest>" for name in names)
        document = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{blocks}</BlockList>'
        self._put(key, {"comp": "blocklist"}, _headers(mark, overwrite=overwrite), document.encode())

    def _put(self, key: str, params: Mapping[str, str], headers: Mapping[str, str], body: bytes) -> None:
        self._change(key, Call(method="PUT", url=self._url(key), params=params, headers=headers, body=body))

    def _about(self, key: str) -> Mapping[str, str]:
        return self._client.send(self.place(key), Call(method="HEAD", url=self._url(key))).headers

    @override
    def _url(self, key: str) -> str:
        if "\\" in key or any(name.endswith(".") for name in key.split("/")):
            detail = (
                "Azure takes a backslash for a slash and leaves out dots at the end of a name: it is another blob's"
            )
            raise BadName(path=self.place(key), detail=detail)
        return f"{self._container}/{quote(key, safe='')}"


def _headers(mark: str, *, overwrite: bool) -> dict[str, str]:
    return {f"x-ms-meta-{_MARK}": mark} | ({} if overwrite else {"If-None-Match": "*"})


def _name(element: Element) -> str:
    name = element.find("Name")
    if name is None:
        detail = "a blob without a name"
        raise ValueError(detail)
    return unquote(name.text or "") if name.get("Encoded") == "true" else name.text or ""


def _blob(element: Element) -> _Blob:
    size, modified = element.findtext("Properties/Content-Length"), element.findtext("Properties/Last-Modified")
    is_folder = element.findtext(f"Metadata/{_FOLDER}", "").lower() == "true"
    is_folder = is_folder or element.findtext("Properties/ResourceType", "") == "directory"
    return _Blob(StoredObject(_name(element), int(size or ""), _moment(modified or "")), is_folder)


def _moment(text: str) -> datetime:
    return parsedate_to_datetime(text)
