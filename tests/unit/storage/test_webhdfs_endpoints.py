from __future__ import annotations

import pytest

from toolkit.storage.webhdfs.endpoints import UnknownNameNodes, name_node_urls

_SERVICE = {
    "dfs.ha.namenodes.ns1": "nn1, nn2",
    "dfs.namenode.http-address.ns1.nn1": "one:9870",
    "dfs.namenode.http-address.ns1.nn2": "two",
    "dfs.namenode.https-address.ns1.nn1": "one:9871",
}


@pytest.mark.parametrize(
    ("scheme", "authority", "url"),
    [
        ("webhdfs", "host:1234", "http://host:1234"),
        ("webhdfs", "host", "http://host:9870"),
        ("swebhdfs", "host", "https://host:9871"),
        ("swebhdfs", "host:443", "https://host:443"),
        ("webhdfs", "[::1]", "http://[::1]:9870"),
        ("webhdfs", "[::1]:50070", "http://[::1]:50070"),
    ],
)
def test_a_host_is_asked_at_its_port_or_at_that_of_hadoop(scheme: str, authority: str, url: str) -> None:
    assert name_node_urls(scheme, authority, _SERVICE) == [url]


def test_a_name_service_is_all_of_its_name_nodes() -> None:
    assert name_node_urls("webhdfs", "ns1", _SERVICE) == ["http://one:9870", "http://two:9870"]


def test_a_name_node_without_an_address_is_named() -> None:
    with pytest.raises(UnknownNameNodes, match=r"dfs\.namenode\.https-address\.ns1\.nn2"):
        name_node_urls("swebhdfs", "ns1", _SERVICE)
