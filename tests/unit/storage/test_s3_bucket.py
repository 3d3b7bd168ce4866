"""Tests of what is made of answers that S3 does not give, but that come from something in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, cast

import pytest

from tests.integration.http_answers import Answer, WebServer, serving
from toolkit.el import CanonicalPath
from toolkit.storage import Checksum, FileSystem, StorageError, StorageFailure, StorageSpec
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3 import file_system
from toolkit.storage.s3.bucket import Bucket
from toolkit.storage.s3.errors import UNANSWERED

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

AT = CanonicalPath("s3", "b", "/d/x")
LISTED = {"Key": "d/x", "Size": 1, "LastModified": datetime(2026, 1, 1, tzinfo=UTC)}


@dataclass
class FakeClient:
    """Botocore's client with answers that are there already; the last one is given again and again."""

    answers: list[dict[str, object]]
    calls: list[list[str]] = field(default_factory=list)
    quiet: bool | None = None

    def list_objects_v2(self, **_: object) -> dict[str, object]:
        return self._next()

    def head_object(self, **_: object) -> dict[str, object]:
        return self._next()

    def get_object(self, **_: object) -> dict[str, object]:
        return self._next()

    def delete_object(self, **_: object) -> dict[str, object]:
        return self._next()

    def delete_objects(self, *, Bucket: str, Delete: dict[str, object]) -> dict[str, object]:  # noqa: N803 - botocore's
        assert Bucket == "b"
        self.quiet = bool(Delete.get("Quiet"))
        self.calls.append([each["Key"] for each in cast("Sequence[dict[str, str]]", Delete["Objects"])])
        return self._next()

    def _next(self) -> dict[str, object]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def bucket(*answers: dict[str, object]) -> tuple[Bucket, FakeClient]:
    fake = FakeClient(list(answers))
    return Bucket("b", lambda: cast("S3Client", fake)), fake


def gone(*keys: str) -> dict[str, object]:
    return {"Deleted": [{"Key": key} for key in keys]}


@pytest.mark.parametrize(
    "answer",
    [
        {"Contents": [LISTED], "IsTruncated": True},
        {"Contents": [LISTED], "IsTruncated": True, "NextMarker": "d/x"},
        {"IsTruncated": True, "NextContinuationToken": "more"},
    ],
)
def test_a_part_of_a_listing_is_never_taken_for_all_of_it(answer: dict[str, object]) -> None:
    with pytest.raises(StorageFailure, match="there are more keys"):
        bucket(answer)[0].page("d/")


@pytest.mark.parametrize("answer", [{}, {"Contents": [LISTED]}, {"Contents": [{"Key": "d/x"}], "IsTruncated": False}])
def test_a_listing_without_what_s3_says_is_a_failure(answer: dict[str, object]) -> None:
    with pytest.raises(StorageFailure, match="not that of S3: it has no "):
        bucket(answer)[0].page("d/")


def test_an_object_without_its_time_is_a_failure() -> None:
    with pytest.raises(StorageFailure, match="it has no LastModified"):
        bucket({"ContentLength": 0})[0].head("d/x")


def test_a_key_is_gone_only_when_the_answer_names_it() -> None:
    calls, client = bucket(gone("a"))
    assert calls.remove(["a", "b"]) == {"b": UNANSWERED}
    assert client.calls == [["a", "b"]]  # it may have gone, and be new by now
    assert not client.quiet
    assert isinstance(UNANSWERED.about(AT, "b"), StorageFailure)


def test_what_the_store_refused_stays_refused_while_others_are_asked_for_again() -> None:
    denied: dict[str, object] = {
        "Errors": [{"Key": "a", "Code": "AccessDenied"}, {"Key": "b", "Code": "SlowDown"}],
    }
    calls, client = bucket(denied, gone("b"))
    assert {key: problem.code for key, problem in calls.remove(["a", "b"]).items()} == {"a": "AccessDenied"}
    assert client.calls == [["a", "b"], ["b"]]


def test_a_key_that_goes_alone_needs_the_answer_of_s3_too() -> None:
    def answer(status: int) -> dict[str, object]:
        return {"ResponseMetadata": {"HTTPStatusCode": status}}

    assert bucket(answer(204))[0].remove(["a\x01"]) == {}
    assert bucket(answer(200))[0].remove(["a\x01"]) == {"a\x01": UNANSWERED}


PAGES = {
    "empty": b"",
    "sign in": b"<html><body>Sign in</body></html>",
    "an odd time": b"<R><IsTruncated>false</IsTruncated><Contents><Key>d/x</Key><Size>1</Size>"
    b"<LastModified>soon</LastModified></Contents></R>",
}


@pytest.fixture(params=PAGES)
def proxy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """A server that says 200 to everything."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    with serving(lambda _: Answer(body=PAGES[request.param])) as web:
        yield web


def opened(web: WebServer) -> FileSystem:
    conf = {"fs.s3a.endpoint": f"http://{web.authority}", "fs.s3a.path.style.access": "true"}
    return file_system.opened(StorageSpec(scheme="s3", authority="b", hadoop_conf=conf), no_check)


def test_a_proxy_that_answers_for_the_store_never_means_success(proxy: WebServer) -> None:
    system = opened(proxy)
    for call in (
        lambda: list(system.list(AT.parent)),
        lambda: system.status(AT),
        lambda: system.content_summary(AT),
        lambda: system.delete(AT, below=AT.parent),
        lambda: system.remove_if_empty(AT, below=AT.parent),
        lambda: system.write(AT, [b"1"]),
    ):
        with pytest.raises(StorageFailure):
            call()
    (answer,) = system.delete_all([AT], below=AT.parent)
    assert isinstance(answer.error, StorageError)


@pytest.mark.parametrize("reported", [{}, {"ContentRange": "bytes 0-9/10"}])
def test_a_store_that_gives_other_bytes_than_the_range_is_not_believed(reported: dict[str, object]) -> None:
    """It ignores what it does not know, and all of the object would be taken for its end."""
    body = BytesIO(b"0123456789")
    found, _ = bucket({"Body": body, **reported})
    with pytest.raises(StorageFailure, match="ranges"):
        found.opened("d/x", offset=5)
    assert body.closed


def test_an_object_about_which_nothing_is_said_has_no_checksum() -> None:
    found, _ = bucket({"ContentLength": 1})
    assert found.checksum("d/x") is None


def test_a_checksum_of_a_whole_object_that_came_in_parts_is_believed_when_the_store_says_so() -> None:
    found, _ = bucket({"ETag": '"a-2"', "ChecksumCRC64NVME": "AAAAAAAAAAE=", "ChecksumType": "FULL_OBJECT"})
    assert found.checksum("d/x") == Checksum("CRC64NVME", bytes(7) + b"\x01")
