"""Paths are bytes; a database takes Unicode."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.runs.recorder import message_text, path_of, path_text


@pytest.mark.parametrize("path", ["file:///data/2026-03-01", "file:///data/größe %41", "hdfs://ns1/a b"])
def test_a_path_that_is_unicode_is_kept_as_it_is(path: str) -> None:
    assert path_text(path) == path
    assert path_of(path) == path


def test_a_path_that_is_not_is_written_byte_by_byte() -> None:
    assert path_text(os.fsdecode(b"file:///data/a%b/\xff")) == "bytes:file:///data/a%25b/%FF"


@given(st.binary(max_size=40).filter(lambda data: b"\0" not in data))
def test_every_path_comes_back(data: bytes) -> None:
    path = "file:///" + data.decode("utf-8", "surrogateescape")
    text = path_text(path)
    text.encode()
    assert path_of(text) == path


def test_a_message_keeps_its_words() -> None:
    assert message_text(os.fsdecode(b"cannot remove /data/\xff")) == "cannot remove /data/\\udcff"
    assert message_text("cannot remove /data/größe") == "cannot remove /data/größe"
    assert message_text("held: c\0a\0") == "held: c\\x00a\\x00"
