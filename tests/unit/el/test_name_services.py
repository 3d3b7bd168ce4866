"""A name service and its NameNodes are one store; what the settings don't say is never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import CanonicalPath, name_service_aliases

HA = {
    "dfs.nameservices": "ns1, NS2",
    "dfs.ha.namenodes.ns1": "nn1,nn2",
    "dfs.namenode.rpc-address.ns1.nn1": "NN1host:8020",
    "dfs.namenode.rpc-address.ns1.nn2": "nn2host:9000",
    "dfs.namenode.rpc-address.NS2": "single:8020",
}
ALIASES = name_service_aliases(HA)

host = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
names = st.lists(st.from_regex(r"[a-z0-9_-]{1,6}", fullmatch=True), max_size=4)


def _parsed(text: str, default_fs: str = "hdfs://ns1") -> CanonicalPath:
    return CanonicalPath.parse(text, default_fs, ALIASES)


def test_the_addresses_of_a_service_are_its_aliases() -> None:
    assert ALIASES == {"nn1host": "ns1", "nn2host:9000": "ns1", "single": "ns2"}


@pytest.mark.parametrize(
    "text",
    ["/a", "/a/", "hdfs:/a", "hdfs://ns1/a", "hdfs://nn1host:8020/a", "hdfs://NN1HOST//a/.", "hdfs://nn2host:9000/a"],
)
@pytest.mark.parametrize("default_fs", ["hdfs://ns1", "hdfs://nn1host:8020", "hdfs://nn2host:9000/", "hdfs://NS1/"])
def test_all_spellings_of_a_place_on_a_cluster_are_one(text: str, default_fs: str) -> None:
    assert str(_parsed(text, default_fs)) == "hdfs://ns1/a"


@pytest.mark.parametrize(
    "text",
    ["webhdfs://nn1host:8020/a", "hdfs://nn1host:9000/a", "hdfs://nn2host/a", "viewfs://nn1host/a", "s3a://nn1host/a"],
)
def test_another_port_or_scheme_is_another_store(text: str) -> None:
    assert _parsed(text).authority not in {"ns1", "ns2"}


def test_an_address_that_two_services_claim_belongs_to_neither() -> None:
    conf = {
        "dfs.nameservices": "a,b",
        "dfs.namenode.rpc-address.a": "nn:8020",
        "dfs.namenode.rpc-address.b": "nn:8020",
    }
    assert name_service_aliases(conf) == {}


@pytest.mark.parametrize("conf", [{}, {"dfs.nameservices": "ns1"}, {"dfs.namenode.rpc-address.ns1": "nn:8020"}])
def test_settings_that_describe_no_service_give_no_aliases(conf: dict[str, str]) -> None:
    assert name_service_aliases(conf) == {}


@given(service=host, nodes=st.lists(host, min_size=1, max_size=3, unique=True), port=st.integers(1, 65535), at=names)
def test_every_node_of_a_service_leads_to_the_same_place(
    service: str, nodes: list[str], port: int, at: list[str]
) -> None:
    conf: dict[str, str | float | bool] = {
        "dfs.nameservices": service,
        f"dfs.ha.namenodes.{service}": ",".join(nodes),
        **{f"dfs.namenode.rpc-address.{service}.{node}": f"{node}:{port}" for node in nodes},
    }
    aliases, path = name_service_aliases(conf), "/" + "/".join(at)
    expected = CanonicalPath.parse(f"hdfs://{service}{path}")
    for node in nodes:
        written = f"hdfs://{node}:{port}"
        assert CanonicalPath.parse(written + path, None, aliases) == expected
        assert CanonicalPath.parse(path, written, aliases) == expected
        assert CanonicalPath.parse(f"hdfs:{path}", written, aliases) == expected
        # What was parsed once stays what it is.
        assert CanonicalPath.parse(str(expected), written, aliases) == expected


@given(authority=host, port=st.integers(1, 65535), at=names)
def test_without_aliases_nothing_changes(authority: str, port: int, at: list[str]) -> None:
    text = f"hdfs://{authority}:{port}/{'/'.join(at)}"
    assert CanonicalPath.parse(text, None, {"elsewhere:1": "ns1"}) == CanonicalPath.parse(text)
