"""Sending metrics to real servers: a listener for StatsD, one for Graphite, an HTTP server as a push gateway."""

from __future__ import annotations

import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.metrics.servers import free_address, gateway, silent_listener, tcp_listener, udp_listener
from toolkit.metrics import definitions
from toolkit.metrics.graphite import GraphiteSink
from toolkit.metrics.push_gateway import PushGatewaySink
from toolkit.metrics.samples import Sample
from toolkit.metrics.sink import MetricsNotSent, MetricsSink
from toolkit.metrics.statsd import StatsdSink

SAMPLES = [
    Sample(definitions.UP, (), 1),
    Sample(definitions.INSTANCES_OPEN, ("clicks", "primary"), 12),
    Sample(definitions.RUNS, ("clicks", "primary", "eviction", "succeeded"), 3),
]


def test_graphite_gets_a_path_a_value_and_a_time_for_each_series() -> None:
    with tcp_listener() as server:
        GraphiteSink(address=server.address).send(SAMPLES)
        assert server.arrived.wait(60)
    lines = [line.split() for line in server.received[0].decode().splitlines()]
    assert [line[:2] for line in lines] == [
        ["feedctl_up", "1.0"],
        ["feedctl_runs_total.action.eviction.cluster.primary.entity.clicks.status.succeeded", "3.0"],
        ["feedctl_instances_open.cluster.primary.entity.clicks", "12.0"],
    ]
    assert all(abs(int(line[2]) - time.time()) < 60 for line in lines)


def test_statsd_gets_gauges_named_as_in_graphite() -> None:
    with udp_listener() as (address, server):
        StatsdSink(address=address).send(SAMPLES)
        packet = server.recv(65_536)
    assert packet.decode().splitlines() == [
        "feedctl_up:1.0|g",
        "feedctl_instances_open.cluster.primary.entity.clicks:12.0|g",
        "feedctl_runs_total.action.eviction.cluster.primary.entity.clicks.status.succeeded:3.0|g",
    ]


def test_packets_of_statsd_fit_into_one_of_the_network_and_lose_no_line() -> None:
    samples = [Sample(definitions.INSTANCES_OPEN, (f"feed_{number}", "primary"), number) for number in range(300)]
    packets: list[bytes] = []
    with udp_listener() as (address, server):
        StatsdSink(address=address).send(samples)
        while sum(packet.count(b"|g") for packet in packets) < 300:
            packets.append(server.recv(65_536))
    assert max(map(len, packets)) <= 1432
    assert len(packets) > 10


@pytest.mark.parametrize("hostile", ["a:1|c\nb:2|c", "a b\tc", "a.b", "é|@"])
def test_a_hostile_label_forges_no_line_of_statsd_or_graphite(hostile: str) -> None:
    sample = Sample(definitions.OUTBOX_WAITING, (hostile,), 5)
    with udp_listener() as (address, udp), tcp_listener() as tcp:
        StatsdSink(address=address).send([sample])
        GraphiteSink(address=tcp.address).send([sample])
        assert tcp.arrived.wait(60)
        statsd = udp.recv(65_536).decode("ascii")
    graphite = tcp.received[0].decode("ascii")
    path, _, value = statsd.partition(":")
    assert (path.count("."), value) == (2, "5.0|g")
    assert graphite.split()[:2] == [path, "5.0"]
    assert graphite.count("\n") == 1


def test_a_push_replaces_the_group_of_the_environment() -> None:
    with gateway() as server:
        PushGatewaySink(url=server.url, grouping=(("environment", "prod"),)).send(SAMPLES)
    ((method, path, body),) = server.pushes
    assert (method, path) == ("PUT", "/metrics/job/feedctl/environment/prod")
    assert {family.name for family in text_string_to_metric_families(body.decode())} == {
        "feedctl_up",
        "feedctl_runs",
        "feedctl_instances_open",
    }


def test_a_push_follows_no_redirect() -> None:
    with gateway() as other, gateway() as server:
        server.status, server.location = 302, f"{other.url}/metrics"
        with pytest.raises(MetricsNotSent, match="redirect"):
            PushGatewaySink(url=server.url).send(SAMPLES)
    assert not other.pushes


def test_a_push_uses_no_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://{free_address()}")
    with gateway() as server:
        PushGatewaySink(url=server.url).send(SAMPLES)
    assert len(server.pushes) == 1


@pytest.mark.parametrize("status", [400, 500])
def test_a_gateway_that_refuses_is_an_error_that_names_it(status: int) -> None:
    with gateway() as server:
        server.status = status
        with pytest.raises(MetricsNotSent, match=f"the push gateway at {server.url} .* {status}"):
            PushGatewaySink(url=server.url).send(SAMPLES)


@pytest.mark.parametrize(
    "sink",
    [GraphiteSink(address=free_address()), PushGatewaySink(url=f"http://{free_address()}")],
    ids=["graphite", "push gateway"],
)
def test_a_server_that_is_down_is_an_error_that_a_later_try_may_not_meet(sink: MetricsSink) -> None:
    with pytest.raises(MetricsNotSent) as caught:
        sink.send(SAMPLES)
    assert caught.value.retriable


def test_an_unknown_host_of_statsd_is_an_error() -> None:
    with pytest.raises(MetricsNotSent, match=r"StatsD at nowhere\.invalid:8125"):
        StatsdSink(address="nowhere.invalid:8125").send(SAMPLES)


def test_a_gateway_that_hangs_is_given_up() -> None:
    with silent_listener() as address:
        began = time.monotonic()
        with pytest.raises(MetricsNotSent, match="timed out"):
            PushGatewaySink(url=f"http://{address}", seconds=0.2).send(SAMPLES)
    assert time.monotonic() - began < 30
