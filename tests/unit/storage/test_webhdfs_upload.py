"""Handing the bytes of a file from the thread of their source to the one that sends them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from toolkit.storage.calls import NoAnswer
from toolkit.storage.webhdfs.answers import Upload


def test_all_bytes_arrive_in_small_pieces_from_the_callers_own_thread() -> None:
    threads: set[int] = set()

    def chunks() -> Iterator[bytes]:
        for chunk in (b"a" * 100_000, b"", b"b"):
            threads.add(threading.get_ident())
            yield chunk

    upload = Upload(5)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(lambda: list(upload))
        upload.send(chunks())
        pieces = sent.result(60)
    assert b"".join(pieces) == b"a" * 100_000 + b"b"
    assert max(len(piece) for piece in pieces) <= 64 * 1024
    assert threads == {threading.get_ident()}


def test_a_piece_that_is_not_taken_in_time_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="not taken within"):
        Upload(0.05).send([b"first", b"second"])


def test_the_rest_is_left_out_when_the_request_has_ended() -> None:
    upload, chunks = Upload(5), iter([b"first", b"second", b"third"])
    upload.end()
    upload.send(chunks)
    assert list(chunks) == [b"second", b"third"]


def test_the_body_ends_where_the_source_fails() -> None:
    def chunks() -> Iterator[bytes]:
        yield b"first"
        raise LookupError

    upload = Upload(5)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(lambda: list(upload))
        with pytest.raises(LookupError):
            upload.send(chunks())
        assert sent.result(60) == [b"first"]
