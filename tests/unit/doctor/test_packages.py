from __future__ import annotations

from toolkit import __version__
from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.machine import PACKAGES, compared_versions, installed_version, package_findings


def _found(**versions: str) -> dict[str, CheckResult]:
    installed = {name.replace("_", "-"): text for name, text in versions.items()}
    return {each.what: each for each in package_findings(installed.get)}


def test_an_installed_package_is_told_with_its_version() -> None:
    assert _found(botocore="1.2.3")["botocore"].found == "1.2.3"


def test_a_package_of_an_extra_that_is_missing_names_the_extra_and_is_no_fault() -> None:
    found = _found()
    assert (found["pyspark"].status, found["pyspark"].todo) == (
        CheckStatus.SKIPPED,
        "for Spark install feedctl[spark]",
    )
    assert found["google-auth"].todo == "for Google Cloud Storage install feedctl[gcs]"


def test_a_package_that_must_be_there_and_is_not_is_a_failure() -> None:
    assert _found()["hdfs-native"].status is CheckStatus.FAILED


def test_every_package_has_one_finding() -> None:
    assert list(_found()) == [package.name for package in PACKAGES]


def test_the_real_versions_are_those_of_the_distributions() -> None:
    assert installed_version("feedctl") == __version__
    assert installed_version("no-such-package-anywhere") is None
    assert installed_version("hdfs-native") is not None


def test_what_is_compared_with_executors_names_what_is_missing() -> None:
    found = compared_versions({"tzdata": "1"}.get)
    assert found["tzdata"] == "1"
    assert found["botocore"] == "missing"
    assert "Python" in found
