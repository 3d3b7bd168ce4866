"""A ledger's URL is read as DESIGN section 6 has it, and never said with its password."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.entities.env_references import MissingVariable
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.location import LedgerLocation, located

ROOT = Path("/repos/web")


def location(text: str, root: Path | None = ROOT, **variables: str) -> LedgerLocation:
    return located(text, named_by="repo.yaml", root=root, variables=variables)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("sqlite:///ledger.db", "/repos/web/ledger.db"),
        ("sqlite:///.feedctl/ledger.db", "/repos/web/.feedctl/ledger.db"),
        ("sqlite:///../state/ledger.db", "/repos/state/ledger.db"),
        ("sqlite:////var/lib/feedctl/ledger.db", "/var/lib/feedctl/ledger.db"),
        ("sqlite:////var/lib/a b%20c.db", "/var/lib/a b%20c.db"),
        ("sqlite:///${env:XDG_STATE_HOME}/ledger.db", "/state/ledger.db"),
    ],
)
def test_a_sqlite_file_is_relative_to_the_config_repo(text: str, file: str) -> None:
    found = location(text, XDG_STATE_HOME="/state")
    assert (found.file, found.place, found.url.database) == (Path(file), f"sqlite:///{file}", file)


def test_a_relative_config_repo_is_meant_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert location("sqlite:///ledger.db", Path("repo")).file == tmp_path / "repo" / "ledger.db"


def test_a_file_relative_to_an_archive_is_refused() -> None:
    with pytest.raises(UnusableLedger, match=r"sqlite:///ledger.db is relative to .* an archive; .* sqlite:////"):
        location("sqlite:///ledger.db", None)
    assert location("sqlite:////data/ledger.db", None).file == Path("/data/ledger.db")


@pytest.mark.parametrize("driver", ["postgresql", "postgresql+psycopg"])
def test_a_place_on_postgresql_is_said_without_password_and_options(driver: str) -> None:
    found = location(f"{driver}://feedctl:sesame@db:5433/ledger?sslmode=require&password=open")
    assert found.file is None
    assert found.place == "postgresql://feedctl@db:5433/ledger"
    assert found.url.password == "sesame"
    assert found.url.query["sslmode"] == "require"
    assert "sesame" not in repr(found)


def test_a_password_from_the_environment_may_have_any_character() -> None:
    found = location("postgresql://feedctl:${env:SECRET}@db/ledger", SECRET="p@ss/w%rd:")  # noqa: S106 - of no one
    assert found.url.password == "p@ss/w%rd:"
    assert found.place == "postgresql://feedctl@db/ledger"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(MissingVariable, match="SECRET"):
        location("postgresql://feedctl:${env:SECRET}@db/ledger")


@pytest.mark.parametrize(
    "text", ["mysql://feedctl:sesame@db/ledger", "sqlite://", "sqlite:///", "postgresql://", "ledger.db"]
)
def test_what_is_no_ledger_is_refused_with_what_would_be_one(text: str) -> None:
    with pytest.raises(UnusableLedger, match=r"of repo.yaml cannot be used.*expected .*sqlite:///FILE") as refused:
        location(text)
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize("text", ["postgresql://feedctl:sesame@db:port/ledger", "postgresql://u:sesame@[::1/ledger"])
def test_a_broken_url_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(UnusableLedger, match="no URL of PostgreSQL") as refused:
        location(text)
    assert "sesame" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("password", ["p@sesame", "p@sesame/x", "p@sesame?x", "p@sesame=x"])
def test_a_password_with_an_at_sign_is_refused_since_its_end_would_be_said_as_the_host(password: str) -> None:
    with pytest.raises(UnusableLedger, match="not written as %40") as refused:
        location(f"postgresql://feedctl:{password}@db/ledger")
    assert "sesame" not in str(refused.value)


def test_an_at_sign_among_the_options_is_no_password() -> None:
    found = location("postgresql://feedctl@db/ledger?application_name=etl@edge1")
    assert found.place == "postgresql://feedctl@db/ledger"
