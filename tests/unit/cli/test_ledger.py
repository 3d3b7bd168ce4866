"""`feedctl ledger upgrade` and `status`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from toolkit.ledger.location import located
from toolkit.ledger.opening import connected
from toolkit.ledger.schema_version import HEAD
from toolkit.ledger.upgrading import upgrade


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ledger that commands find; there is nothing yet."""
    named = f"sqlite:///{tmp_path}/state/ledger.db"
    monkeypatch.setenv("FEEDCTL_LEDGER", named)
    return named


def make(url: str, revision: str) -> None:
    """A ledger of a revision."""
    location = located(url, named_by="test", root=None, variables={})
    assert location.file is not None
    location.file.parent.mkdir(exist_ok=True)
    ledger = connected(location, read_only=False)
    upgrade(ledger, to=revision)
    ledger.close()


def test_upgrade_makes_a_ledger_and_says_from_where_to_where(feedctl: Feedctl, url: str) -> None:
    assert feedctl("ledger", "upgrade").out == f"the ledger {url} went from no tables to revision {HEAD}\n"
    again = feedctl("ledger", "upgrade")
    assert (again.code, again.out) == (0, f"the ledger {url} has revision {HEAD} already; nothing was changed\n")


def test_upgrade_brings_an_older_ledger_up_to_date(feedctl: Feedctl, url: str) -> None:
    make(url, "0001")
    assert feedctl("ledger", "status").code == 1
    document = feedctl("ledger", "upgrade", "--output", "json").document
    assert document == {"schema_version": 1, "place": url, "from": "0001", "to": HEAD, "changed": True}
    assert feedctl("ledger", "status").code == 0


def test_status_of_a_ledger_that_is_not_there_yet_is_fine(feedctl: Feedctl, url: str, tmp_path: Path) -> None:
    ran = feedctl("ledger", "status", "--output", "json")
    assert ran.code == 0
    assert (ran.document["place"], ran.document["state"], ran.document["revision"]) == (url, "absent", None)
    assert list(tmp_path.iterdir()) == []


def test_status_counts_rows_and_names_revisions(feedctl: Feedctl, url: str) -> None:
    make(url, HEAD)
    document = feedctl("ledger", "status", "--output", "json").document
    assert (document["state"], document["revision"], document["head"]) == ("ready", HEAD, HEAD)
    assert (document["reachable"], document["rows"]["batch"], document["oldest_open_run"]) == (True, 1, None)
    printed = feedctl("ledger", "status")
    assert ["place", url] in printed.rows
    assert ["batch", "1"] in printed.rows


def test_status_says_what_to_do_with_an_older_ledger(feedctl: Feedctl, url: str) -> None:
    make(url, "0001")
    assert "must be upgraded: run `feedctl ledger upgrade`" in feedctl("ledger", "status").out


def test_a_server_that_is_down_fails_without_saying_the_password(
    feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEEDCTL_LEDGER", "postgresql://feedctl:sesame@127.0.0.1:1/ledger")
    status = feedctl("ledger", "status", "--output", "json")
    assert (status.code, status.document["reachable"], status.document["state"]) == (1, False, "unreachable")
    assert status.document["place"] == "postgresql://feedctl@127.0.0.1:1/ledger"
    upgraded = feedctl("ledger", "upgrade")
    assert upgraded.code == 1
    assert "try again when it is back" in upgraded.err
    assert "sesame" not in status.out + status.err + upgraded.out + upgraded.err


def test_a_place_that_is_no_ledger_is_refused(feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDCTL_LEDGER", "mysql://db/ledger")
    ran = feedctl("ledger", "upgrade")
    assert (ran.code, ran.out) == (2, "")
    assert "expected sqlite:///FILE" in ran.err
