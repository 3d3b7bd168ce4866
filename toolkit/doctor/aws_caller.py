"""AWS caller that botocore finds, and its source; the secret is neither read nor shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import botocore.exceptions
import botocore.session

from toolkit.doctor.findings import CheckResult, failed, ok

_SHOWN = 4
_SOURCES = {
    "env": "the environment (AWS_ACCESS_KEY_ID)",
    "shared-credentials-file": "the shared credentials file",
    "config-file": "the AWS configuration file",
    "iam-role": "the role of this machine",
    "container-role": "the role of this container",
    "assume-role": "an assumed role",
    "assume-role-with-web-identity": "a web identity",
    "sso": "single sign-on",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class AwsCaller:
    """An access key id and where it came from, in botocore's words."""

    access_key: str
    method: str


def aws_caller() -> AwsCaller | None:
    """The caller that botocore finds as the S3 adapter does; None: none.

    Raises:
        botocore.exceptions.BotoCoreError: a profile that does not exist, an unusable file.
    """
    found = botocore.session.get_session().get_credentials()
    return None if found is None else AwsCaller(access_key=found.access_key, method=found.method)


def aws_findings(identity: Callable[[], AwsCaller | None] = aws_caller) -> Iterator[CheckResult]:
    """The caller, its key id shortened."""
    todo = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role"
    try:
        caller = identity()
    except botocore.exceptions.BotoCoreError as error:
        yield failed(str(error), todo=todo)
        return
    if caller is None:
        yield failed("no AWS credentials were found", todo=todo)
    else:
        yield ok(f"access key {masked(caller.access_key)}, from {_SOURCES.get(caller.method, caller.method)}")


def masked(key: str) -> str:
    """A key id of which only so much is shown that two can be told apart."""
    if len(key) < 3 * _SHOWN:
        return "..."
    return f"{key[:_SHOWN]}...{key[-_SHOWN:]}"
