"""Parts of a large file on Google Cloud Storage, which may take less than it was sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from requests import Response
from requests.auth import AuthBase

from toolkit.el import CanonicalPath
from toolkit.storage import StorageFailure
from toolkit.storage.cloud.gcs import GcsBucket, code_of
from toolkit.storage.cloud.http import Call, HttpClient
from toolkit.storage.local.file_system import no_check

_SESSION = "http://gcs.example/upload/1"


@dataclass
class Upload:
    """A store that takes so many bytes of each request at most, always in steps of two."""

    most: int
    content: bytes = b""
    ranges: list[str] = field(default_factory=list)

    def send(self, _path: CanonicalPath, call: Call, _before: Callable[[], None] | None = None) -> Response:
        answer = Response()
        answer.status_code = 200
        if call.method == "POST":
            answer.headers["Location"] = _SESSION
        elif call.method == "PUT":
            self.ranges.append(call.headers["Content-Range"])
            sent, _, total = call.headers["Content-Range"].removeprefix("bytes ").partition("/")
            assert int(sent.partition("-")[0]) == len(self.content)
            self.content += call.body[: self.most]
            if total != str(len(self.content)):
                answer.status_code = 308
                answer.headers["Range"] = f"bytes=0-{len(self.content) - 1}"
        return answer


def _bucket(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> GcsBucket:
    client = HttpClient(AuthBase(), code_of)
    monkeypatch.setattr(client, "send", upload.send)
    return GcsBucket(CanonicalPath("gs", "bucket", "/"), client, no_check, "http://gcs.example")


def test_what_the_store_did_not_take_of_a_part_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = Upload(most=4)
    _bucket(upload, monkeypatch).put("d/a", iter([b"012345", b"6789ab", b"c"]), overwrite=True)
    assert upload.content == b"0123456789abc"
    assert upload.ranges == [
        *("bytes 0-5/*", "bytes 4-5/*", "bytes 6-11/*", "bytes 10-11/*"),
        "bytes 12-12/13",
    ]


def test_a_store_that_takes_nothing_is_an_error_and_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = Upload(most=0)
    with pytest.raises(StorageFailure, match="took nothing"):
        _bucket(upload, monkeypatch).put("d/a", iter([b"012345", b"6789ab"]), overwrite=True)
    assert len(upload.ranges) == 1
