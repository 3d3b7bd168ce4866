"""Names of partitions against those that Hive's own code writes and reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import share_of
from toolkit.catalog.adapters.connections import java
from toolkit.catalog.partition_name import escape, unescape

_TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("%=/:{}[]'\"\\#*?^\x7f\n 0Af+-")))


@pytest.fixture(scope="module")
def of_hive(java_home: object) -> Callable[[str, str], str]:
    """Calls a function of Hive's."""
    del java_home
    file_utils = java().jvm.org.apache.hadoop.hive.common.FileUtils
    return lambda function, text: str(getattr(file_utils, function)(text))


def test_every_character_is_escaped_as_hive_does(of_hive: Callable[[str, str], str]) -> None:
    every = "".join(map(chr, [*range(1, 0xD800), *range(0xE000, 0x10000)]))
    assert of_hive("escapePathName", every) == escape(every)
    assert of_hive("unescapePathName", escape(every)) == every


@settings(max_examples=share_of(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_TEXT)
def test_texts_are_escaped_as_hive_does_and_hive_reads_them_back(of_hive: Callable[[str, str], str], text: str) -> None:
    assert of_hive("escapePathName", text) == escape(text)
    assert of_hive("unescapePathName", escape(text)) == unescape(escape(text))
