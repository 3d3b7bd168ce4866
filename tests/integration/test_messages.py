"""Messages about replicated instances to a real ActiveMQ: what arrives, and what a bad broker costs: a note."""

from __future__ import annotations

import logging
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from entrypoints import retention
from tests.databases.port import reserved_port
from tests.e2e.tiny_repo import NOMINAL_TIME, make_tiny_repo, retention_arguments
from tests.integration.replications import KEYS, End, Replication, hour
from tests.testbed.activemq import ActiveMQ, Received
from tests.unit.notify.test_message import made
from toolkit.bootstrap import messages
from toolkit.cli.boundary import run_app
from toolkit.notify import stomp
from toolkit.notify.channel import MessageRefused
from toolkit.notify.stomp import Broker, StompSession

pytestmark = pytest.mark.timeout(600)  # the broker starts, beside whatever else runs

VARIABLE = "FEEDCTL_BROKER_PASSWORD"


def _copying(directory: Path, messaging: str) -> Replication:
    ends = [directory / name for name in ("from", "to")]
    for each in ends:
        each.mkdir(exist_ok=True)
    source, target = (End(uri=f"file://{each}") for each in ends)
    made = Replication(directory=directory, sources={"primary": source}, target=replace(target, messaging=messaging))
    for number in range(3):
        source.fill(hour(number))
    return made


def _of(broker: ActiveMQ, uri: str = "", user: str = "") -> str:
    return f'{{endpoint: "{uri or broker.uri}", credential: {{user: {user or broker.user}, env: {VARIABLE}}}}}'


@pytest.fixture(autouse=True)
def _time_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give what is sent at the end of an action more than the two seconds that a busy machine may need."""
    monkeypatch.setattr(messages, "END_SECONDS", 60.0)
    monkeypatch.setattr(messages, "_LOOK_SECONDS", 20.0)


@pytest.fixture
def _password(activemq: ActiveMQ, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, activemq.password)


def _received(messages: list[Received]) -> dict[str, tuple[str, str]]:
    """Instance and status of each, by instance."""
    found = [each.headers for each in messages]
    return {each["nominalTime"]: (each["status"], each["feedInstancePaths"]) for each in found}


@pytest.mark.usefixtures("_password")
def test_success_and_failure_of_each_instance_arrive_with_their_keys(
    activemq: ActiveMQ, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEEDCTL_LOG", "http://logs/1?a=b: c")
    copying = replace(
        _copying(tmp_path, _of(activemq)), more="availability_flag: _SUCCESS\nproperties: {timeout: minutes(30)}"
    )
    source = copying.sources["primary"]
    source.system.delete(source.at("clicks/2026-03-01-01"), below=source.root)
    with activemq.subscriber() as subscriber:
        code, result = copying.run()
        messages = [subscriber.next() for _ in KEYS]
    assert (code, result["notes"]) == (4, [])
    place = f"file://{tmp_path}/to/clicks/2026-03-01-0"
    assert _received(messages) == {
        KEYS[0]: ("SUCCEEDED", f"{place}0"),
        KEYS[1]: ("FAILED", f"{place}1"),
        KEYS[2]: ("SUCCEEDED", f"{place}2"),
    }
    of_second = next(each for each in messages if each.headers["nominalTime"] == KEYS[1])
    run = next(each["run"] for each in result["instances"] if each["instance"] == KEYS[1])
    expected = {
        "destination": "/topic/FALCON.clicks",
        "entityName": "clicks",
        "entityType": "FEED",
        "operation": "REPLICATE",
        "cluster": "backup",
        "sourceCluster": "primary",
        "feedNames": "clicks",
        "workflowId": str(run["id"]),
        "runId": "1",
        "logFile": "http://logs/1?a=b: c",
    }
    assert {key: of_second.headers[key] for key in expected} == expected
    assert of_second.headers["workflowUser"]
    # As XML only because it is a map to the broker, as Falcon's were: a text would have stayed JSON.
    assert "<string>nominalTime</string>" in "".join(of_second.body.split())
    assert f"<string>{KEYS[1]}</string>" in of_second.body


def test_evictions_and_failed_ones_arrive_too(activemq: ActiveMQ, tmp_path: Path) -> None:
    repo = make_tiny_repo(tmp_path)
    cluster = repo.path / "clusters/local.yaml"
    cluster.write_text(cluster.read_text().replace('"}}', f'"}}, messaging: {_bare(activemq.uri)}}}'))
    base = repo.old.parents[2]
    with activemq.subscriber() as subscriber:
        assert run_app(retention.app, retention_arguments(repo, "--dry-run")) == 0
        assert run_app(retention.app, retention_arguments(repo)) == 0
        evicted = subscriber.next().headers
        shutil.rmtree(base)
        base.write_text("no directory")
        assert run_app(retention.app, retention_arguments(repo)) == 1
        failed = subscriber.next().headers
    assert not repo.old.exists()
    assert [each["status"] for each in (evicted, failed)] == ["SUCCEEDED", "FAILED"]
    expected = {
        "operation": "DELETE",
        "cluster": "local",
        "sourceCluster": "",
        "nominalTime": NOMINAL_TIME,
        "feedInstancePaths": f"file://{base}",
    }
    assert {key: evicted.get(key, "") for key in expected} == expected


def test_an_instance_that_is_waited_for_and_one_that_is_only_planned_send_nothing(
    activemq: ActiveMQ, tmp_path: Path
) -> None:
    copying = _copying(tmp_path, f'{{endpoint: "{activemq.uri}"}}')
    source = copying.sources["primary"]
    source.system.delete(source.at("clicks/2026-03-01-00/_SUCCESS"), below=source.root)
    with activemq.subscriber() as subscriber:
        copying.run("--dry-run")
        assert copying.run()[0] == 75
        found = _received([subscriber.next() for _ in range(2)])
        source.fill(hour(0))
        copying.run()
        assert list(_received([subscriber.next()])) == [KEYS[0]]
    assert sorted(found) == [KEYS[1], KEYS[2]]


@pytest.mark.usefixtures("_password")
def test_over_tls_the_certificate_of_the_broker_is_checked(
    activemq: ActiveMQ, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying = _copying(tmp_path, _of(activemq, uri=activemq.tls_uri))
    code, result = copying.run("--start", KEYS[0])
    (note,) = result["notes"]
    assert code == 0
    assert note.startswith("2 messages wait for the channel broker:backup: ")
    assert "certificate verify failed" in note
    monkeypatch.setenv("SSL_CERT_FILE", str(activemq.certificate))
    time.sleep(5)  # the channel rests after a failure
    with activemq.subscriber() as subscriber:
        assert copying.run("--start", KEYS[1])[1]["notes"] == []
        assert tuple(_received([subscriber.next() for _ in range(2)])) == tuple(KEYS[:2])


def test_a_wrong_password_is_said_once_and_never_shown(
    activemq: ActiveMQ, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, "hunter2-wrong")
    caplog.set_level(logging.DEBUG)
    code, result = _copying(tmp_path, _of(activemq)).run()
    (note,) = result["notes"]
    assert code == 0
    assert note.startswith("6 messages wait for the channel broker:backup: the broker answered ")
    assert len([each for each in caplog.messages if "event=messages_not_sent" in each]) == 1
    everything = "".join(each.read_text(errors="replace") for each in tmp_path.rglob("*") if each.is_file())
    assert "hunter2" not in f"{result}{caplog.text}{everything}"


@pytest.mark.parametrize("endpoint", ["tcp://mq:61616?daemon=true", "stomp://mq:61613"])
def test_what_cannot_be_sent_to_costs_a_note(tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    code, result = _copying(tmp_path, f'{{endpoint: "{endpoint}", credential: {{user: u, env: {VARIABLE}}}}}').run()
    (note,) = result["notes"]
    assert code == 0
    assert note.startswith("6 messages wait for the channel broker:backup: ")
    assert ("stomp://HOST:61613" in note) == endpoint.startswith("tcp:")
    assert (VARIABLE in note) == endpoint.startswith("stomp:")


def _bare(uri: str) -> str:
    return f'{{endpoint: "{uri}"}}'


def test_a_broker_that_is_down_delays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stomp, "WAIT_SECONDS", 120.0)
    with reserved_port() as port:
        copying = _copying(tmp_path, _bare(f"stomp://127.0.0.1:{port.getsockname()[1]}"))
        begun = time.monotonic()
        code, result = copying.run()
    (note,) = result["notes"]
    assert (code, time.monotonic() - begun < 60) == (0, True)
    assert "6 messages wait" in note
    assert "Connection refused" in note


@pytest.fixture
def silent() -> Iterator[str]:
    """A broker that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"stomp://127.0.0.1:{server.getsockname()[1]}"


def test_a_broker_that_is_silent_is_waited_for_two_seconds_at_the_end(
    tmp_path: Path, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(stomp, "WAIT_SECONDS", 120.0)
    begun = time.monotonic()
    code, result = _copying(tmp_path, _bare(silent)).run()
    took = time.monotonic() - begun
    (note,) = result["notes"]
    assert code == 0
    assert note.startswith("6 messages wait for the channel broker:backup: no answer in time")
    assert took < 60  # 120 if the broker were waited for


def test_without_a_ledger_messages_are_sent_all_the_same(
    activemq: ActiveMQ, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = make_tiny_repo(tmp_path)
    cluster = repo.path / "clusters/local.yaml"
    cluster.write_text(cluster.read_text().replace('"}}', f'"}}, messaging: {_bare(activemq.uri)}}}'))
    with activemq.subscriber() as subscriber:
        assert run_app(retention.app, retention_arguments(repo, "--no-ledger")) == 0
        headers = subscriber.next().headers
    assert (headers["status"], headers["operation"], headers["workflowId"]) == ("SUCCEEDED", "DELETE", "")
    assert "messages wait" not in capsys.readouterr().out


@pytest.mark.extended
def test_messages_of_a_broker_that_was_down_come_with_the_next_run(activemq: ActiveMQ, tmp_path: Path) -> None:
    copying = _copying(tmp_path, _bare(activemq.uri))
    activemq.stop()
    code, result = copying.run("--start", KEYS[0])
    assert (code, len(result["notes"])) == (0, 1)
    activemq.start()
    time.sleep(5)  # the channel rests after a failure
    with activemq.subscriber() as subscriber:
        assert copying.run("--start", KEYS[1])[1]["notes"] == []
        assert [subscriber.next().headers["nominalTime"] for _ in range(2)] == [KEYS[0], KEYS[1]]


def test_hostile_text_arrives_as_it_is_and_forges_no_header(activemq: ActiveMQ) -> None:
    hostile = "file:///a:b\nstatus:FORGED\r\n\\c <x> ä"
    with activemq.subscriber() as subscriber, closing(_session(activemq)) as session:
        session.send(made(facts={"feedInstancePaths": hostile}), "FALCON.clicks")
        headers = subscriber.next().headers
    assert (headers["feedInstancePaths"], headers["status"]) == (hostile, "FAILED")


def test_a_message_that_the_broker_finds_too_long_stops_no_other(activemq: ActiveMQ) -> None:
    long: dict[str, object] = {"key": ":" * 8_000}  # an escape each
    with activemq.subscriber() as subscriber:
        with closing(_session(activemq)) as session, pytest.raises(MessageRefused):
            session.send(made(facts=long), "FALCON.clicks")
        with closing(_session(activemq)) as session:
            session.send(made(facts={"workflowId": "2"}), "FALCON.clicks")
        assert subscriber.next().headers["workflowId"] == "2"


def _session(activemq: ActiveMQ) -> StompSession:
    return Broker(host="127.0.0.1", port=activemq.port).open()
