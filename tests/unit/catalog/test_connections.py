"""Calls to a metastore that are not sent any more when their caller has gone on."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from toolkit.catalog.adapters import connections as module
from toolkit.catalog.adapters.connections import Connections
from toolkit.catalog.adapters.gateway import Java, JavaObject
from toolkit.catalog.errors import MetastoreUnreachable
from toolkit.catalog.port import CatalogSpec

_SECONDS = 1.0


class _Client:
    def close(self) -> None:
        """End the connection."""

    def getName(self) -> str:  # noqa: N802 - the metastore's
        """Return the name of the metastore."""
        return "fake"


class _Java:
    """Connects after `connects` has returned."""

    def __init__(self, connects: Callable[[], None]) -> None:
        self._connects = connects

    def client(self, settings: dict[str, str]) -> _Client:
        """Return a connected client."""
        del settings
        self._connects()
        return _Client()

    def stub(self, client: _Client) -> _Client:
        """Return the calls below a client."""
        return client


@pytest.fixture
def uri() -> Iterator[str]:
    """Return the URI of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"thrift://127.0.0.1:{server.getsockname()[1]}"


def _opened(
    monkeypatch: pytest.MonkeyPatch, uri: str, connects: Callable[[], None] = lambda: None
) -> tuple[Connections, list[str], Callable[[Java, JavaObject], None]]:
    """Connections of one thread, the names of the calls that were sent, and a call."""
    sent: list[str] = []
    monkeypatch.setattr(module, "MOST_CALLS", 1)
    monkeypatch.setattr(module, "java", lambda: cast("Java", _Java(connects)))
    return Connections(CatalogSpec(uris=uri), _SECONDS), sent, lambda _java, _stub: sent.append("late")


def test_a_call_that_waited_for_a_thread_until_its_time_was_over_is_never_sent(
    monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    connections, sent, late = _opened(monkeypatch, uri)
    may_end, has_begun = threading.Event(), threading.Event()

    def slow(_java: Java, _stub: JavaObject) -> None:
        has_begun.set()
        may_end.wait(30)

    def first() -> None:
        with pytest.raises(MetastoreUnreachable):
            connections.run("first", slow)

    thread = threading.Thread(target=first)
    thread.start()
    assert has_begun.wait(30)
    with pytest.raises(MetastoreUnreachable, match=r"late: .*no answer within 1 s"):
        connections.run("late", late)
    thread.join()
    may_end.set()
    connections.run("next", lambda _java, _stub: sent.append("next"))
    assert sent == ["next"]


def test_a_call_whose_connection_took_all_of_its_time_is_never_sent(monkeypatch: pytest.MonkeyPatch, uri: str) -> None:
    connections, sent, late = _opened(monkeypatch, uri, lambda: time.sleep(1.5 * _SECONDS))
    with pytest.raises(MetastoreUnreachable, match=r"no answer within 1 s"):
        connections.run("late", late)
    time.sleep(_SECONDS)
    connections.run("next", lambda _java, _stub: sent.append("next"))
    assert sent == ["next"]
