from __future__ import annotations

import pytest

from toolkit.errors import InvalidInput
from toolkit.storage import StorageSpec
from toolkit.storage.s3.client import S3Settings


def settings(**conf: str) -> S3Settings:
    """Return the settings of a bucket named `b`; `__` stands for a dot."""
    given = {f"fs.s3a.{name.replace('__', '.')}": value for name, value in conf.items()}
    return S3Settings.of(StorageSpec(scheme="s3", authority="b", hadoop_conf=given))


def test_without_settings_all_is_left_to_the_environment() -> None:
    assert settings() == S3Settings(bucket="b")


def test_an_endpoint_without_a_scheme_gets_one() -> None:
    assert settings(endpoint="minio:9000").endpoint == "https://minio:9000"
    assert settings(endpoint="minio:9000", connection__ssl__enabled="false").endpoint == "http://minio:9000"
    assert settings(endpoint="http://minio:9000", connection__ssl__enabled="true").endpoint == "http://minio:9000"


def test_a_setting_of_the_bucket_stands_above_the_general_one() -> None:
    found = settings(endpoint="one:1", bucket__b__endpoint="two:2", bucket__c__endpoint="three:3")
    assert found.endpoint == "https://two:2"
    assert settings(path__style__access="true", bucket__b__path__style__access="False").path_style is False


@pytest.mark.parametrize(
    ("endpoint", "region"),
    [
        ("s3.eu-west-1.amazonaws.com", "eu-west-1"),
        ("s3-eu-west-1.amazonaws.com", "eu-west-1"),
        ("https://s3.amazonaws.com", ""),
        ("minio:9000", ""),
    ],
)
def test_the_region_is_read_from_amazons_own_names(endpoint: str, region: str) -> None:
    assert settings(endpoint=endpoint).region == region
    assert settings(endpoint=endpoint, endpoint__region="us-east-2").region == "us-east-2"


def test_the_central_endpoint_is_no_endpoint() -> None:
    assert settings(endpoint="s3.amazonaws.com").endpoint == ""


@pytest.mark.parametrize(
    "name",
    [
        "access__key",
        "secret__key",
        "secret__key ",
        "session__token",
        "bucket__b__secret__key",
        "server-side-encryption__key",
    ],
)
def test_secrets_are_refused_without_being_repeated(name: str) -> None:
    with pytest.raises(InvalidInput, match="AWS_ACCESS_KEY_ID") as refused:
        settings(**{name: "hunter2"})
    assert name.strip().replace("__", ".") in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"), [("path__style__access", "yes"), ("endpoint", "ftp://x"), ("endpoint", "http://u:p@x")]
)
def test_a_value_that_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match="expected"):
        settings(**{name: value})


def test_an_address_that_cannot_be_used_is_named_without_who_asks() -> None:
    for value in ("https://AKIA:SECRET@minio:9000", "AKIA:SE/CRET@minio:9000"):
        with pytest.raises(InvalidInput, match="minio:9000") as refused:
            settings(endpoint=value)
        assert "AKIA" not in f"{refused.value}{vars(refused.value)}"


def test_a_directory_bucket_is_refused_since_it_lists_unsorted() -> None:
    with pytest.raises(InvalidInput, match="general purpose"):
        S3Settings.of(StorageSpec(scheme="s3", authority="name--use1-az4--x-s3"))
