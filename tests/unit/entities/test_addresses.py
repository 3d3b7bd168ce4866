from __future__ import annotations

import re

import pytest

from toolkit.el import ElError
from toolkit.entities import check_ledger_url
from toolkit.entities.addresses import check_ledger, check_local_path, check_url


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///ledger.db",
        "sqlite:///.feedctl/ledger.db",
        "sqlite:////var/lib/feedctl/my ledger.db",
        "sqlite:///${env:HOME}/ledger.db",
        "postgresql://db/feedctl",
        "postgresql:///feedctl",
        "postgresql+psycopg://feedctl@db:5433/feedctl?sslmode=verify-full",
        "postgresql+psycopg://feedctl:${env:FEEDCTL_LEDGER_PASSWORD}@db/feedctl",
    ],
)
def test_a_sqlite_file_and_a_postgresql_database_are_ledgers(url: str) -> None:
    check_ledger(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", "..."),
        ("ledger.db", "..."),
        ("/var/ledger.db", "..."),
        ("${env:LEDGER}", "..."),
        ("sesame", "..."),
        ("sqlite:/ledger.db", "sqlite:..."),
        ("SQLite:///ledger.db", "SQLite://..."),
        ("sqlite+pysqlite:///ledger.db", "sqlite+pysqlite://..."),
        ("postgresql://", "postgresql://..."),
        ("postgresql://db/feedctl ", "postgresql://..."),
        ("postgres://db/feedctl", "postgres://..."),
        ("postgresql+asyncpg://me:se/same@db/feedctl", "postgresql+asyncpg://..."),
        ("host=db password=sesame", "..."),
    ],
)
def test_no_other_database_is_and_no_more_than_the_scheme_is_shown(url: str, shown: str) -> None:
    expected = (
        "sqlite:///FILE (in the config repo) or sqlite:////FILE (anywhere), or postgresql://HOST/DATABASE, "
        "also as postgresql+psycopg://"
    )
    with pytest.raises(ElError, match=re.escape(f'"{shown}": expected {expected}')):
        check_ledger_url(url)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("sqlite://", "found a ledger in memory, which forgets, expected sqlite:///FILE"),
        ("sqlite:///", "found a ledger in memory, which forgets, expected sqlite:///FILE"),
        ("sqlite:///:memory:", "found a ledger in memory, which forgets, expected sqlite:///FILE"),
        ("sqlite://ledger.db", "at character 10: found 'ledger.db', expected a third slash: sqlite:///FILE"),
        ("sqlite:///ledgers/", "found a folder, expected a file: sqlite:///FILE"),
        ("sqlite:///ledger.db?...", "at character 20: found options, expected none: sqlite:///FILE"),
    ],
)
def test_a_sqlite_ledger_is_one_file(url: str, found: str) -> None:
    with pytest.raises(ElError, match=re.escape(f'"{url}": {found}')):
        check_ledger_url(url)


@pytest.mark.parametrize(
    "password", ["sesame", "se/same", "${PASSWORD}", "${env:PASSWORD}sesame", "ses${env:PASSWORD}"]
)
def test_no_part_of_a_password_stands_in_the_repo(password: str) -> None:
    with pytest.raises(ElError, match=r"at character 14: found a password, expected a reference such as") as it:
        check_ledger(f"postgresql://feedctl:{password}@db/feedctl")
    assert password not in str(it.value)


@pytest.mark.parametrize("user", ["", "feedctl:sesame@"])
def test_no_password_stands_among_the_options(user: str) -> None:
    with pytest.raises(ElError, match="found a password, expected a reference such as") as it:
        check_ledger(f"postgresql://{user}db/feedctl?sslmode=require&password=sesame")
    assert "sesame" not in str(it.value)
    check_ledger("postgresql://db/feedctl?sslmode=require&password=${env:FEEDCTL_LEDGER_PASSWORD}")


def test_a_ledger_from_elsewhere_may_have_its_password() -> None:
    check_ledger_url("postgresql://feedctl:sesame@db/feedctl")


@pytest.mark.parametrize(
    "url", ["hdfs://nn:8020/a:b@c", "nn:8020", "jdbc:postgresql://me:${env:PASSWORD}@db/shop", "abfs://c@account"]
)
def test_an_end_point_is_a_url_or_a_host(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    "user", ["alice", "alice:sesame", "alice:ses/ame", "${env:USER}", "${env:USER}:${env:PASSWORD}"]
)
def test_the_end_point_of_a_store_has_no_user_not_even_by_reference(user: str) -> None:
    """Nothing would put the variable's value there."""
    with pytest.raises(ElError, match="found a user, a key or a password, expected the host") as it:
        check_url(f"hdfs://{user}@nn:8020")
    assert "sesame" not in str(it.value)


@pytest.mark.parametrize("path", ["audit.jsonl", "/var/log/audit.jsonl", "${env:HOME}/audit.jsonl", "logs/~audit"])
def test_a_local_path_is_absolute_or_relative(path: str) -> None:
    check_local_path(path)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", '"": expected the path of a local file, absolute or relative to the config repo'),
        (" a", '" a": expected the path of a local file'),
        ("s3://me:sesame@logs/audit", '"s3://...": found a URL, expected the path of a local file'),
        ("~/audit", "\"~/audit\": at character 1: found '~', expected ${env:HOME}"),
        ("logs/", '"logs/": found a folder, expected the path of a local file'),
    ],
)
def test_what_is_no_local_file_is_refused(path: str, found: str) -> None:
    with pytest.raises(ElError, match=re.escape(found)):
        check_local_path(path)
