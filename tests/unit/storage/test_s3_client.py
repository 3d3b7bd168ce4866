"""How requests are sent: when they are signed, and how long they may take."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from tests.integration.http_answers import Answer, serving
from toolkit.storage import Unreachable
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3.bucket import Bucket
from toolkit.storage.s3.client import ClientMaker, S3Settings

_BUSY = b"<Error><Code>SlowDown</Code></Error>"
_GONE = b"<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>"


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")


def maker(authority: str, before_effect: Callable[[], None] = no_check, *, seconds: float = 10) -> ClientMaker:
    settings = S3Settings(bucket="b", endpoint=f"http://{authority}", path_style=True)
    return ClientMaker(settings, before_effect, seconds=seconds)


class _Wire:
    """Takes requests before they leave, and notes when each was signed and when its check had let it go."""

    def __init__(self) -> None:
        self.let_go: list[datetime] = []
        self.signed: list[datetime] = []

    def rest(self) -> None:
        """As a suspended run does; signatures know whole seconds."""
        time.sleep(1.1)
        self.let_go.append(datetime.now(UTC))

    def sent(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        stamp = request.headers["X-Amz-Date"]
        text = stamp.decode() if isinstance(stamp, bytes) else str(stamp)
        self.signed.append(datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC))
        is_last = len(self.signed) == 2
        return _Known(request.url, 200 if is_last else 503, _GONE if is_last else _BUSY)


class _Known(AWSResponse):
    """An answer whose body is there already."""

    def __init__(self, url: str, status: int, content: bytes) -> None:
        super().__init__(url, status, HTTPHeaders(), raw=None)
        self._content = content


def test_each_attempt_is_signed_after_the_run_has_rested() -> None:
    """S3 refuses a signature that is a quarter of an hour old, and the pause of a run may last longer."""
    wire = _Wire()
    client = maker("127.0.0.1:1", wire.rest)()
    client.meta.events.register("before-send.s3.DeleteObjects", cast("Callable[..., None]", wire.sent))
    assert Bucket("b", lambda: client).remove(["a"]) == {}
    assert len(wire.let_go) == len(wire.signed) == 2
    for let_go, signed in zip(wire.let_go, wire.signed, strict=True):
        assert signed + timedelta(seconds=1) > let_go


def test_an_answer_that_never_ends_is_given_up_as_a_whole() -> None:
    with serving(lambda _: Answer(body=b" " * 10_000, drip=0.05)) as web:
        bucket, begun = Bucket("b", maker(web.authority, seconds=0.2)), time.monotonic()
        with pytest.raises(Unreachable):
            bucket.page("d/")
        assert time.monotonic() - begun < 30
        assert len(web.seen) == 4


def test_what_rests_before_a_request_does_not_count_as_its_time() -> None:
    with serving(lambda _: Answer(body=_GONE)) as web:
        bucket = Bucket("b", maker(web.authority, lambda: time.sleep(1.5), seconds=1))
        assert bucket.remove(["a"]) == {}
        assert len(web.seen) == 1


@pytest.mark.parametrize("let_through", [0, 1])
def test_a_removal_that_is_called_off_between_its_attempts_was_sent(let_through: int) -> None:
    class CalledOff(Exception):  # noqa: N818 - named for what happened
        pass

    checks = itertools.count()

    def check() -> None:
        if next(checks) == let_through:
            raise CalledOff

    wire = _Wire()
    client = maker("127.0.0.1:1", check)()
    client.meta.events.register("before-send.s3.DeleteObjects", cast("Callable[..., None]", wire.sent))
    with pytest.raises(CalledOff):
        Bucket("b", lambda: client).remove(["a"])
    assert len(wire.signed) == let_through
