"""Google Cloud Storage and Azure as tests see them: buckets that are filled and looked at without feedctl."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from typing import NamedTuple, Protocol, Self, TypeAlias
from urllib.parse import quote, urlencode
from xml.etree import ElementTree as ET

from typing_extensions import override

from tests.testbed.azure_server import ACCOUNT
from tests.testbed.client import Testbed, TestbedFailed
from toolkit.storage import StorageSpec

_SECONDS = 30
_CONNECTIONS = 8
_Connection: TypeAlias = HTTPConnection | None
_FOREVER = "2099-01-01T00:00:00Z"


class Cloud(Protocol):
    """A store of buckets."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that lead the adapter there."""
        ...

    def make_bucket(self, name: str) -> StorageSpec:
        """Make an empty bucket."""
        ...

    def put(self, bucket: str, key: str, content: bytes = b"", metadata: Mapping[str, str] | None = None) -> None:
        """Put an object."""
        ...

    def fill(self, bucket: str, keys: Iterable[str]) -> None:
        """Put many empty objects."""
        ...

    def keys(self, bucket: str) -> list[str]:
        """Return all keys of a bucket, sorted."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Gcs(Cloud):
    """A Google Cloud Storage on this machine that believes everybody.

    Args:
        port: of its server, or of a proxy before it.
    """

    port: int

    @classmethod
    def of(cls, testbed: Testbed) -> Self:
        """Return the test bed's.

        Raises:
            TestbedFailed: it did not start.
        """
        return cls(port=int(testbed.facts("gcs")["port"]))

    @property
    @override
    def environment(self) -> Mapping[str, str]:
        return {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.port}"}

    @override
    def make_bucket(self, name: str) -> StorageSpec:
        self._ask("POST", "/storage/v1/b?project=testbed", json.dumps({"name": name}).encode())
        return StorageSpec(scheme="gs", authority=name)

    def put(self, bucket: str, key: str, content: bytes = b"", metadata: Mapping[str, str] | None = None) -> None:
        """Put an object; metadata are further parameters of the upload."""
        self._put(bucket, key, content, metadata)

    def _put(
        self,
        bucket: str,
        key: str,
        content: bytes = b"",
        more: Mapping[str, str] | None = None,
        *,
        connection: _Connection = None,
    ) -> None:
        query = urlencode({"uploadType": "media", "name": key, **(more or {})})
        self._ask("POST", f"/upload/storage/v1/b/{bucket}/o?{query}", content, connection=connection)

    def fill(self, bucket: str, keys: Iterable[str]) -> None:
        _fill(self.port, keys, lambda key, connection: self._put(bucket, key, connection=connection))

    @override
    def keys(self, bucket: str) -> list[str]:
        found: list[str] = []
        token = ""
        while True:
            page = json.loads(self._ask("GET", f"/storage/v1/b/{bucket}/o?{urlencode({'pageToken': token})}"))
            found += [each["name"] for each in page.get("items", ())]
            if not (token := page.get("nextPageToken", "")):
                return sorted(found)

    def _ask(self, method: str, path: str, body: bytes = b"", *, connection: _Connection = None) -> bytes:
        call = _Call("gcs", method, path, body, {"Content-Type": "application/json"})
        return _answered(self.port, call, connection)


@dataclass(frozen=True, kw_only=True, slots=True)
class Azure(Cloud):
    """An account of Azure Blob Storage on this machine.

    Args:
        port: of its server, or of a proxy before it.
        key: of the account.
    """

    port: int
    key: str

    @classmethod
    def of(cls, testbed: Testbed) -> Self:
        """Return the test bed's.

        Raises:
            TestbedFailed: it did not start.
        """
        facts = testbed.facts("azure")
        return cls(port=int(facts["port"]), key=str(facts["key"]))

    @property
    @override
    def environment(self) -> Mapping[str, str]:
        url = f"http://127.0.0.1:{self.port}/{ACCOUNT}"
        return {
            "AZURE_STORAGE_CONNECTION_STRING": f"AccountName={ACCOUNT};AccountKey={self.key};BlobEndpoint={url};",
        }

    @override
    def make_bucket(self, name: str) -> StorageSpec:
        self._ask("PUT", name, {"restype": "container"})
        return StorageSpec(scheme="abfs", authority=f"{name}@{ACCOUNT}.dfs.core.windows.net")

    @override
    def put(self, bucket: str, key: str, content: bytes = b"", metadata: Mapping[str, str] | None = None) -> None:
        own = {f"x-ms-meta-{name}": value for name, value in (metadata or {}).items()}
        self._put(bucket, key, content, own)

    def _put(
        self,
        bucket: str,
        key: str,
        content: bytes = b"",
        own: Mapping[str, str] | None = None,
        *,
        connection: _Connection = None,
    ) -> None:
        headers = {"x-ms-blob-type": "BlockBlob", **(own or {})}
        self._ask("PUT", f"{bucket}/{quote(key)}", {}, content, headers, connection=connection)

    @override
    def fill(self, bucket: str, keys: Iterable[str]) -> None:
        _fill(self.port, keys, lambda key, connection: self._put(bucket, key, connection=connection))

    @override
    def keys(self, bucket: str) -> list[str]:
        found: list[str] = []
        marker = ""
        while True:
            answer = self._ask("GET", bucket, {"restype": "container", "comp": "list", "marker": marker})
            root = ET.fromstring(answer)  # noqa: S314 - of a server that we started
            found += [each.text or "" for each in root.iterfind("Blobs/Blob/Name")]
            if not (marker := root.findtext("NextMarker", "")):
                return sorted(found)

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        connection: _Connection = None,
    ) -> bytes:
        requested = urlencode({name: value for name, value in query.items() if value})
        url = f"/{ACCOUNT}/{path}?{requested}&{self._signature()}"
        return _answered(self.port, _Call("azure", method, url, body, headers or {}), connection)

    def _signature(self) -> str:
        """A signature that permits everything, which is far simpler than one for each request."""
        version = "2020-10-02"
        text = f"{ACCOUNT}\nrwdlac\nb\nsco\n\n{_FOREVER}\n\nhttp\n{version}\n"
        digest = hmac.new(base64.b64decode(self.key), text.encode(), hashlib.sha256).digest()
        fields = {"sv": version, "ss": "b", "srt": "sco", "sp": "rwdlac", "se": _FOREVER, "spr": "http"}
        return urlencode({**fields, "sig": base64.b64encode(digest).decode()})


class _Call(NamedTuple):
    server: str
    method: str
    url: str
    body: bytes
    headers: Mapping[str, str]


def _answered(port: int, call: _Call, connection: _Connection) -> bytes:
    """Send a request, over a connection of its own when none is given."""
    if connection is None:
        with closing(HTTPConnection("127.0.0.1", port, timeout=_SECONDS)) as own:
            return _answered(port, call, own)
    connection.request(call.method, call.url, call.body, dict(call.headers))
    answer = connection.getresponse()
    content = answer.read()
    if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
        why = f"it answered {answer.status} to {call.method} {call.url}: {content!r}"
        raise TestbedFailed(server=call.server, why=why)
    return content


def _fill(port: int, keys: Iterable[str], put: Callable[[str, HTTPConnection], None]) -> None:
    """Put many objects, over few connections."""
    wanted = list(keys)

    def put_all(part: Sequence[str]) -> None:
        with closing(HTTPConnection("127.0.0.1", port, timeout=_SECONDS)) as connection:
            for key in part:
                put(key, connection)

    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        list(pool.map(put_all, [wanted[number::_CONNECTIONS] for number in range(_CONNECTIONS)]))
