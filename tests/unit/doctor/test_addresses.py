from __future__ import annotations

import pytest

from tests.unit.doctor.servers import listening, unused_port
from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.services import addresses_of, tcp_findings


@pytest.mark.parametrize(
    ("endpoint", "addresses"),
    [
        ("host:8032", ["host:8032"]),
        ("thrift://a.example.com:9083,thrift://b.example.com:9084", ["a.example.com:9083", "b.example.com:9084"]),
        ("thrift://a:9083, b:9083", ["a:9083", "b:9083"]),
        ("tcp://mq:61616?daemon=true", ["mq:61616"]),
        ("failover:(tcp://a:61616,ssl://b:61617)?randomize=false", ["a:61616", "b:61617"]),
        ("http://oozie:11000/oozie", ["oozie:11000"]),
        ("spark://one:7077,two:7077", ["one:7077", "two:7077"]),
        ("tcp://user@mq:61616", ["mq:61616"]),
        ("tcp://[::1]:61616", ["::1:61616"]),
        ("localhost", []),
        ("yarn-cluster", []),
    ],
)
def test_all_hosts_with_ports_of_an_end_point_are_found(endpoint: str, addresses: list[str]) -> None:
    assert [str(each) for each in addresses_of(endpoint)] == addresses


def test_one_of_two_that_listens_is_a_warning_and_none_a_failure() -> None:
    with listening() as port:
        dead = unused_port()
        (both,) = tcp_findings(f"127.0.0.1:{port}")
        (one,) = tcp_findings(f"thrift://127.0.0.1:{port},thrift://127.0.0.1:{dead}")
        (none,) = tcp_findings(f"127.0.0.1:{dead}")
    assert [each.status for each in (both, one, none)] == [CheckStatus.OK, CheckStatus.WARNING, CheckStatus.FAILED]
    assert none.found == f"127.0.0.1:{dead}: Connection refused"


def test_an_end_point_without_a_port_cannot_be_looked_at() -> None:
    (found,) = tcp_findings("broker")
    assert (found.status, found.todo) == (CheckStatus.WARNING, "write it as host:port, or as a URL with a port")
