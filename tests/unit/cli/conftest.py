"""A config repo from the template, and the command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.proof.changes import only_actions_change_data
from tests.unit.cli.running import Feedctl
from toolkit.config_source.creation import create_repo
from toolkit.ledger.database import Ledger

TEMPLATE = Path(__file__).parents[3] / "config_repo_template"


@pytest.fixture(autouse=True)
def _only_actions_change_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail each test of a command that changes data outside a batch or a recovery of an action."""
    with only_actions_change_data(monkeypatch):
        yield


@pytest.fixture
def feedctl(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Feedctl:
    monkeypatch.setattr("sys.argv", ["feedctl"])
    return Feedctl(capsys)


@pytest.fixture(scope="session")
def template_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A config repo from the template; no test changes it."""
    repo = tmp_path_factory.mktemp("template") / "repo"
    create_repo(TEMPLATE, repo, repo.with_name("data"))
    return repo


@pytest.fixture
def repo(template_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The template's config repo as the one that commands find."""
    monkeypatch.setenv("FEEDCTL_REPO", str(template_repo))
    return template_repo


@pytest.fixture
def own_repo(tmp_path: Path) -> Path:
    """A config repo from the template that the test may change."""
    repo = tmp_path / "own"
    create_repo(TEMPLATE, repo, tmp_path / "data")
    return repo


@pytest.fixture
def cli_ledger(sqlite_ledger: Ledger, sqlite_ledger_url: sa.URL, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """An empty ledger of the test's own, open, as the one that commands find."""
    monkeypatch.setenv("FEEDCTL_LEDGER", f"sqlite:///{sqlite_ledger_url.database}")
    return sqlite_ledger
