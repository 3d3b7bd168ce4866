from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import ProfileNotFound

from toolkit.doctor.aws_caller import AwsCaller, aws_caller, aws_findings, masked
from toolkit.doctor.findings import CheckStatus

_KEY, _SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"


@pytest.fixture
def without_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    return monkeypatch


def test_a_key_of_the_environment_is_told_in_part_and_its_secret_not_at_all(
    without_aws: pytest.MonkeyPatch,
) -> None:
    without_aws.setenv("AWS_ACCESS_KEY_ID", _KEY)
    without_aws.setenv("AWS_SECRET_ACCESS_KEY", _SECRET)
    (found,) = aws_findings()
    assert found.found == "access key AKIA...MPLE, from the environment (AWS_ACCESS_KEY_ID)"


def test_a_key_of_a_profile_says_so(without_aws: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text(f"[team]\naws_access_key_id={_KEY}\naws_secret_access_key={_SECRET}\n")
    without_aws.setenv("AWS_PROFILE", "team")
    (found,) = aws_findings()
    assert found.found == "access key AKIA...MPLE, from the shared credentials file"


def test_no_credentials_are_a_failure(without_aws: pytest.MonkeyPatch) -> None:
    del without_aws
    assert aws_caller() is None
    (found,) = aws_findings()
    assert found.status is CheckStatus.FAILED


def test_a_profile_that_does_not_exist_is_a_failure_that_names_it(without_aws: pytest.MonkeyPatch) -> None:
    without_aws.setenv("AWS_PROFILE", "nobody")
    (found,) = aws_findings()
    assert found.status is CheckStatus.FAILED
    assert "nobody" in found.found


def test_what_botocore_calls_an_unusable_setting_is_a_finding() -> None:
    def calls() -> AwsCaller | None:
        raise ProfileNotFound(profile="x")

    (found,) = aws_findings(calls)
    assert found.status is CheckStatus.FAILED


@pytest.mark.parametrize(("key", "shown"), [("", "..."), ("short", "..."), (_KEY, "AKIA...MPLE")])
def test_a_short_key_is_not_shown_at_all(key: str, shown: str) -> None:
    assert masked(key) == shown
