"""A user, a key or a password in the address of a store: refused, and never repeated."""

from __future__ import annotations

import pytest

from toolkit.el import CanonicalPath, Credentials, ElError, PathTemplate, without_credentials

_REFUSED = [
    (f"{scheme}://{secret}@{host}", f"{scheme}://{'*' * len(secret)}@{host}")
    for scheme, secret, host in (
        ("hdfs", "alice:sesame", "nn:8020"),
        ("hdfs", "alice", "nn"),
        ("hdfs", "alice:ses/ame", "nn"),
        ("HDFS", "alice:1x", "nn"),
        ("webhdfs", "alice:p@ss", "nn:9870"),
        ("s3a", "AKIA:sesame", "bucket"),
        ("s3n", "AKIA:se/sa+me/", "bucket"),
        ("s3", "AKIA:12/34", "bucket"),
        ("s3", "AKIA", "bucket"),
        ("gs", "key:sesame", "bucket"),
        ("abfs", "container:sesame", "account.dfs.core.windows.net"),
        ("file", "alice:sesame", "localhost"),
    )
]


@pytest.mark.parametrize(("address", "shown"), _REFUSED)
def test_an_address_with_credentials_is_refused_and_not_repeated(address: str, shown: str) -> None:
    for error in (_parsed(f"{address}/data"), _parsed("/data", address), _parsed("/data", f"{address}/root")):
        assert str(error).startswith(f'"{shown}')
        assert "sesame" not in repr(vars(error))
    with pytest.raises(Credentials) as raised:
        PathTemplate(f"{address}/data/${{YEAR}}")
    assert str(raised.value).startswith(f'"{shown}/data/${{YEAR}}": at character')


def _parsed(text: str, default_fs: str | None = None) -> Credentials:
    with pytest.raises(Credentials) as raised:
        CanonicalPath.parse(text, default_fs)
    return raised.value


@pytest.mark.parametrize(
    "address",
    [
        "hdfs://nn:8020/user@example.com/a:b@c",
        "hdfs://nn/a:b@c",
        "hdfs://[::1]:8020/a@b",
        "s3://bucket/a:b@c",
        "abfs://container@account.dfs.core.windows.net/a:b@c",
        "file:///a:b@c",
        "/a:b@c",
    ],
)
def test_signs_that_mean_nothing_in_names_stay(address: str) -> None:
    CanonicalPath.parse(address, "hdfs://nn")
    assert without_credentials(address) == address


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        " {}",
        "{}\n",
        "not a path but {} in it",
        '  data: "{}/${{YEAR}}", meta: "/x@y"',
    ],
)
def test_no_error_of_a_text_shows_the_credentials_in_it(text: str) -> None:
    for address, shown in _REFUSED:
        given = text.format(address)
        error = ElError(text=given, position=given.index(address), found=address, expected="something else")
        assert f"found '{shown}'" in str(error)
        assert error.text == text.format(shown)
        assert len(error.text) == len(given)


def test_the_password_of_a_database_is_not_shown_either_but_a_reference_is() -> None:
    assert without_credentials("jdbc:postgresql://reader:sesame@db/a") == "jdbc:postgresql://*************@db/a"
    assert without_credentials("postgresql://reader:${env:PW}@db/a") == "postgresql://reader:${env:PW}@db/a"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://db/x?password=sesame&sslmode=require", "postgresql://db/x?password=******&sslmode=require"),
        ('"postgresql://db/x?sslpassword=sesame",', '"postgresql://db/x?sslpassword=******",'),
        ("abfss://c@account/p?sig=sesame", "abfss://c@account/p?sig=******"),
        ("postgresql://db/x?password=${env:PW}", "postgresql://db/x?password=${env:PW}"),
        ("/data/key=1/token=2", "/data/key=1/token=2"),
    ],
)
def test_a_secret_among_the_options_is_not_shown(text: str, shown: str) -> None:
    assert without_credentials(text) == shown
