from __future__ import annotations

import pytest

from toolkit.ledger.registry.registration import Site, config_group


@pytest.mark.parametrize(
    ("key", "group"),
    [("spark.executor.memory", "spark"), ("threshold", "default"), ("spark", "default"), (".hidden", ""), ("a.", "a")],
)
def test_the_config_group_is_the_key_up_to_its_first_dot(key: str, group: str) -> None:
    assert config_group(key) == group


def test_sites_are_sorted_by_name_and_read_as_words() -> None:
    sites = [Site(name="b", cluster="primary"), Site(name="a", cluster="primary"), Site(name="a", cluster="backup")]
    assert [str(each) for each in sorted(sites)] == ["a on backup", "a on primary", "b on primary"]
