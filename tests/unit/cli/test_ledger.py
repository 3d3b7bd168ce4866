"""`feedctl ledger upgrade`, `status` and `prune`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, changed, key
from tests.databases.ledgers import START
from tests.unit.cli.running import Feedctl
from toolkit.ledger.database import Ledger
from toolkit.ledger.location import located
from toolkit.ledger.opening import connected
from toolkit.ledger.schema_version import HEAD, version_table
from toolkit.ledger.tables import run
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import RunStatus


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ledger that commands find; there is nothing yet."""
    named = f"sqlite:///{tmp_path}/state/ledger.db"
    monkeypatch.setenv("FEEDCTL_LEDGER", named)
    return named


def make(url: str, revision: str = HEAD) -> None:
    """A ledger that says that it has a revision."""
    location = located(url, named_by="test", root=None, variables={})
    assert location.file is not None
    location.file.parent.mkdir(exist_ok=True)
    ledger = connected(location, read_only=False)
    upgrade(ledger)
    ledger.write(lambda tx: tx.execute(sa.update(version_table).values(version_num=revision)).close())
    ledger.close()


def test_upgrade_makes_a_ledger_and_says_from_where_to_where(feedctl: Feedctl, url: str) -> None:
    assert feedctl("ledger", "upgrade").out == f"the ledger {url} went from no tables to revision {HEAD}\n"
    again = feedctl("ledger", "upgrade")
    assert (again.code, again.out) == (0, f"the ledger {url} has revision {HEAD} already; nothing was changed\n")


def test_a_ledger_of_before_the_first_release_is_refused_with_what_to_do(feedctl: Feedctl, url: str) -> None:
    make(url, "0003")
    ran = feedctl("ledger", "upgrade")
    assert (ran.code, ran.out) == (2, "")
    assert "has revision 0003, of a feedctl before its first release" in ran.err
    assert "begin a new ledger" in ran.err
    status = feedctl("ledger", "status")
    assert status.code == 1
    assert "made by a feedctl from before the first release" in status.out


def test_upgrade_says_as_json_what_it_did(feedctl: Feedctl, url: str) -> None:
    Path(url.removeprefix("sqlite:///")).parent.mkdir()
    document = feedctl("ledger", "upgrade", "--output", "json").document
    assert document == {"schema_version": 1, "place": url, "from": None, "to": HEAD, "changed": True}


def test_status_of_a_ledger_that_is_not_there_yet_is_fine(feedctl: Feedctl, url: str, tmp_path: Path) -> None:
    ran = feedctl("ledger", "status", "--output", "json")
    assert ran.code == 0
    assert (ran.document["place"], ran.document["state"], ran.document["revision"]) == (url, "absent", None)
    assert list(tmp_path.iterdir()) == []


def test_status_counts_rows_and_names_revisions(feedctl: Feedctl, url: str) -> None:
    make(url)
    document = feedctl("ledger", "status", "--output", "json").document
    assert (document["state"], document["revision"], document["head"]) == ("ready", HEAD, HEAD)
    assert (document["reachable"], document["rows"]["batch"], document["oldest_open_run"]) == (True, 1, None)
    printed = feedctl("ledger", "status")
    assert ["place", url] in printed.rows
    assert ["batch", "1"] in printed.rows


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


@pytest.mark.usefixtures("repo")
def test_prune_says_what_it_removes(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    old, last = (begun(cli_ledger, key(f"2026-03-0{day}T00:00Z")) for day in (1, 2))
    for each in (old, last):
        changed(cli_ledger, each, RunStatus.SUCCEEDED)
    then = {"ended_at": START - timedelta(days=900)}
    cli_ledger.write(lambda tx: tx.execute(sa.update(run).values(**then)).close())
    planned = feedctl("ledger", "prune", "--older-than", "days(90)", "--dry-run")
    assert (planned.code, planned.out) == (0, "1 runs and 0 rows of theirs would be removed\n")
    found = feedctl("ledger", "prune", "--older-than", "days(90)", "--output", "json").document
    assert found.items() >= {"dry_run": False, "runs": 1, "rows": 0, "kept": 0}.items()
    assert feedctl("ledger", "prune", "--older-than", "days(90)").out == "0 runs and 0 rows of theirs removed\n"
    refused = feedctl("ledger", "prune", "--older-than", "nonsense")
    assert (refused.code, refused.out) == (2, "")
