"""Movement of a body on its way out."""

from __future__ import annotations

import io

from toolkit.storage.streams import Outgoing


def test_a_body_moves_when_a_block_went_out_since_the_last_look() -> None:
    body = Outgoing(io.BytesIO(b"123"))
    assert not body.goes_on()
    assert body.read(1) == b"1"
    assert not body.goes_on()  # the first block is asked for, and perhaps never taken
    assert body.read(1) == b"2"
    assert body.goes_on()
    assert not body.goes_on()
    assert (body.read(1), body.read(1)) == (b"3", b"")
    assert body.goes_on()
    assert not body.goes_on()
