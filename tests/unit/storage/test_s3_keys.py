from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import CanonicalPath
from toolkit.storage import BadName, StorageFailure
from toolkit.storage.flat import key_of, prefix_of
from toolkit.storage.s3.bucket import fits_xml, just_before, spans_of

ROOT = CanonicalPath("s3", "bucket", "/")


def test_a_path_is_the_key_without_the_first_slash() -> None:
    assert (key_of(ROOT.child("a").child("b"), ROOT), key_of(ROOT, ROOT)) == ("a/b", "")
    assert (prefix_of("a/b"), prefix_of("")) == ("a/b/", "")


@pytest.mark.parametrize("path", [CanonicalPath("s3", "other", "/a"), CanonicalPath("gs", "bucket", "/a")])
def test_a_path_of_another_store_has_no_key_here(path: CanonicalPath) -> None:
    with pytest.raises(StorageFailure, match="s3://bucket"):
        key_of(path, ROOT)


def test_a_key_has_at_most_1024_bytes() -> None:
    assert key_of(ROOT.child("é" * 512), ROOT) == "é" * 512
    with pytest.raises(BadName, match="1025 bytes"):
        key_of(ROOT.child("é" * 512 + "n"), ROOT)


def test_a_name_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(BadName):
        key_of(ROOT.child("\udcff"), ROOT)


@given(st.text(alphabet="ab/0.-\0", max_size=3))
def test_the_spans_of_a_path_have_its_keys_and_no_others(ending: str) -> None:
    key = f"a/b{ending}"
    object_itself, below = spans_of("a/b", ROOT)
    assert (object_itself.first <= key < object_itself.end) is (ending == "")
    assert (below.first <= key < below.end) is ending.startswith("/")


@given(st.text(min_size=1, max_size=4))
def test_what_is_just_before_a_key_sorts_before_it_and_can_be_sent(key: str) -> None:
    before = just_before(key)
    assert before < key
    assert before.encode() < key.encode()
    assert fits_xml(before)


@pytest.mark.parametrize("key", ["a\ue000", "\ue000"])
def test_no_half_character_is_sent(key: str) -> None:
    assert just_before(key) == key[:-1] + "\ud7ff\U0010ffff"


def test_little_lies_between_a_key_and_what_is_just_before_it() -> None:
    assert just_before("d/2026-03-01") == "d/2026-03-00\U0010ffff"


def test_control_characters_and_line_ends_do_not_fit_into_xml() -> None:
    assert all(fits_xml(key) for key in ("a b", "ä", "<&>", "\U0001f98a", "\u2028"))
    assert not any(fits_xml(f"a{key}") for key in "\0\t\n\r\x1b\x7f\x85\uffff")
