"""A container of Azure Blob Storage; what Hadoop calls ``abfs`` and ``wasb``."""

from __future__ import annotations

import base64
import copy
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, unquote

from defusedxml import ElementTree as ET  # noqa: N817 - as the standard library's is called
from defusedxml.common import DefusedXmlException
from typing_extensions import override

from toolkit.el import CanonicalPath
from toolkit.storage.attributes import Checksum
from toolkit.storage.cloud.bucket import Bucket
from toolkit.storage.cloud.http import Call, HttpClient
from toolkit.storage.errors import AlreadyExists, BadName, NotFound, StorageFailure
from toolkit.storage.flat import MOST_KEYS, Page, StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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
    """Requests to a container; may be used by several threads at once.

    A directory's marker, a blob with the directory's name and the metadata of one, is no object here: `pages` leaves
    it out, `head` gives it the key of a marker, and `keys` has it.

    Args:
        root: the path of the container.
        url: of the container.
        client: sends the requests.
        before_effect: called before each attempt of a request that changes something.
    """

    is_sorted = False

    def __init__(self, root: CanonicalPath, url: str, client: HttpClient, before_effect: Callable[[], None]) -> None:
        self.root, self._url, self._client, self._before_effect = root, url, client, before_effect

    @override
    def bound(self, before_effect: Callable[[], None]) -> AzureContainer:
        bound = copy.copy(self)
        bound._before_effect = before_effect  # noqa: SLF001 - its own class
        return bound

    @override
    def close(self) -> None:
        self._client.close()

    @override
    def pages(self, prefix: str, *, start: str = "", delimiter: str = "", most: int = MOST_KEYS) -> Iterator[Page]:
        """List from the first name on, since Azure cannot begin at another."""
        # Markers are left out, so that a page of one could be empty, and the next too.
        for root in self._listed(prefix, delimiter, max(most, _FEWEST)):
            with _understood(self._place(prefix)):
                blobs = [_blob(each) for each in root.iterfind("Blobs/Blob")]
                prefixes = [_name(each) for each in root.iterfind("Blobs/BlobPrefix")]
            yield Page([each.stored for each in blobs if not each.is_folder], prefixes, root.findtext("NextMarker", ""))

    @override
    def keys(self, prefix: str) -> Iterator[tuple[str, bool]]:
        for root in self._listed(prefix, "", MOST_KEYS):
            with _understood(self._place(prefix)):
                blobs = [_blob(each) for each in root.iterfind("Blobs/Blob")]
            yield from ((each.stored.key, each.is_folder) for each in blobs)

    def _listed(self, prefix: str, delimiter: str, most: int) -> Iterator[Element]:
        place = self._place(prefix)
        asked = {"restype": "container", "comp": "list", "include": "metadata", "maxresults": str(most)}
        asked |= {name: value for name, value in (("prefix", prefix), ("delimiter", delimiter)) if value}
        marker = ""
        while True:
            answer = self._client.send(
                place, Call(method="GET", url=self._url, params=asked | ({"marker": marker} if marker else {}))
            )
            with _understood(place):
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
        with _understood(self._place(key)):
            name = f"{key}/" if headers.get(f"x-ms-meta-{_FOLDER}", "").lower() == "true" else key
            return StoredObject(name, int(headers["Content-Length"]), _moment(headers["Last-Modified"]))

    @override
    def checksum(self, key: str) -> Checksum | None:
        """Return the MD5 of a blob that came in one request; ETags say nothing of the bytes."""
        headers = self._about(key)
        if headers.get(f"x-ms-meta-{_FOLDER}", "").lower() == "true":
            raise NotFound(path=self._place(key))
        found = headers.get("Content-MD5", "")
        return Checksum("MD5", base64.b64decode(found)) if found else None

    @override
    def opened(self, key: str, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        end = "" if length is None else str(offset + length - 1)
        headers = {"x-ms-range": f"bytes={offset}-{end}"} if offset or end else {}
        return self._client.open(self._place(key), Call(method="GET", url=self._blob(key), headers=headers))

    @override
    def remove(self, key: str) -> None:
        """Remove a blob; one with snapshots is refused, since they would go with it."""
        self._client.send(self._place(key), Call(method="DELETE", url=self._blob(key)), self._before_effect)

    @override
    def put(self, key: str, parts: Iterator[bytes], *, overwrite: bool) -> None:
        """Upload in one request when it is small, else in blocks."""
        mark = secrets.token_hex(16)
        headers = {f"x-ms-meta-{_MARK}": mark} | ({} if overwrite else {"If-None-Match": "*"})
        try:
            first, second = next(parts, b""), next(parts, None)
            if second is None:
                self._put(key, {}, headers | {"x-ms-blob-type": "BlockBlob"}, first)
            else:
                self._put_blocks(key, chain((first, second), parts), mark, headers)
        except AlreadyExists:
            # The answer to the first attempt may have been lost.
            with suppress(NotFound):
                if self._about(key).get(f"x-ms-meta-{_MARK}") == mark:
                    return
            raise

    def _put_blocks(self, key: str, parts: Iterable[bytes], mark: str, headers: Mapping[str, str]) -> None:
        """Blocks that are never put together are nowhere to be seen, and Azure clears them after a week."""
        names = []
        for number, part in enumerate(parts):
            names.append(base64.b64encode(f"{mark}-{number:08}".encode()).decode())
            self._put(key, {"comp": "block", "blockid": names[-1]}, {}, part)
        blocks = "".join(f"<Latest>{name}</Latest>" for name in names)
        document = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{blocks}</BlockList>'
        self._put(key, {"comp": "blocklist"}, headers, document.encode())

    def _put(self, key: str, params: Mapping[str, str], headers: Mapping[str, str], body: bytes) -> None:
        call = Call(method="PUT", url=self._blob(key), params=params, headers=headers, body=body)
        self._client.send(self._place(key), call, self._before_effect)

    def _about(self, key: str) -> Mapping[str, str]:
        return self._client.send(self._place(key), Call(method="HEAD", url=self._blob(key))).headers

    def _blob(self, key: str) -> str:
        if "\\" in key or any(name.endswith(".") for name in key.split("/")):
            detail = (
                "Azure takes a backslash for a slash and leaves out dots at the end of a name: it is another blob's"
            )
            raise BadName(path=self._place(key), detail=detail)
        return f"{self._url}/{quote(key, safe='')}"

    def _place(self, key: str) -> CanonicalPath:
        return CanonicalPath(self.root.scheme, self.root.authority, f"/{key.rstrip('/')}")


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


@contextmanager
def _understood(path: CanonicalPath) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, SyntaxError, DefusedXmlException) as error:
        raise StorageFailure(path=path, detail=f"the answer is not that of Azure: {error}") from error
