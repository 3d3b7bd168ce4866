"""Identity with which this process acts on a store, and its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from toolkit.doctor.access import Actor, local_actor
from toolkit.doctor.findings import CheckResult, failed, ok, skipped
from toolkit.doctor.kerberos import Klist
from toolkit.doctor.tokens import token_life
from toolkit.errors import InvalidInput
from toolkit.runs.recorder import current_user
from toolkit.storage.hadoop_conf import asks_for_kerberos
from toolkit.storage.hdfs.tokens import tokens_here

_HADOOP = frozenset({"hdfs", "webhdfs", "swebhdfs"})
_HDFS_TOKENS = frozenset({"HDFS_DELEGATION_TOKEN", "WEBHDFS delegation", "SWEBHDFS delegation"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Acting:
    """User of a store, and how the store knows the name.

    Attributes:
        actor: who acts; an empty name: the store accepts none.
        how: where that comes from, in words.
    """

    actor: Actor
    how: str


def acting(scheme: str, settings: Mapping[str, str], variables: Mapping[str, str], klist: Klist) -> Acting:
    """Return the user that acts on a store.

    Args:
        scheme: of the store.
        settings: Hadoop's, of the store.
        variables: of the environment.
        klist: asks for the Kerberos ticket, when the settings want one.
    """
    if scheme == "file":
        return Acting(actor=local_actor(), how="the user of this process")
    if scheme not in _HADOOP:
        return Acting(actor=Actor(name="this caller"), how="the store's own credentials")
    known = _kerberos(variables, klist) if asks_for_kerberos(settings) else _configured(variables)
    proxy = variables.get("HADOOP_PROXY_USER", "")
    return (
        Acting(actor=Actor(name=proxy), how=f"{known.actor.name} acts for it (HADOOP_PROXY_USER)") if proxy else known
    )


def aws_findings() -> Iterator[CheckResult]:
    """Yield the findings about the AWS caller; botocore is large, so it is imported here and only when needed."""
    found: Iterator[CheckResult] = import_module("toolkit.doctor.aws_caller").aws_findings()
    return found


def acting_findings(
    scheme: str, who: Callable[[], Acting], aws: Callable[[], Iterator[CheckResult]] = aws_findings
) -> Iterator[CheckResult]:
    """The acting identity as a finding; no secret is part of it."""
    if scheme == "s3":
        yield from aws()
        return
    if scheme not in {"file", *_HADOOP}:
        yield skipped(f"how {scheme}:// finds its credentials is not looked into")
        return
    found = who()
    if found.actor.name:
        yield ok(f"{found.actor.name}: {found.how}")
    else:
        yield failed(found.how, todo="run kinit, or give a delegation token by HADOOP_TOKEN_FILE_LOCATION")


def _configured(variables: Mapping[str, str]) -> Acting:
    named = variables.get("HADOOP_USER_NAME", "")
    how = "HADOOP_USER_NAME" if named else "the user of this process"
    return Acting(actor=Actor(name=named or current_user()), how=f"{how}; the cluster believes it (no Kerberos)")


def _kerberos(variables: Mapping[str, str], klist: Klist) -> Acting:
    owner = _token_owner(variables)
    if owner:
        return Acting(actor=Actor(name=_short(owner)), how=f"a delegation token of {owner}")
    ticket = klist()
    if ticket is None or not ticket.principal:
        return Acting(actor=Actor(name=""), how="the cluster asks for Kerberos; there is neither a ticket nor a token")
    return Acting(actor=Actor(name=_short(ticket.principal)), how=f"the Kerberos ticket of {ticket.principal}")


def _token_owner(variables: Mapping[str, str]) -> str:
    try:
        tokens = tokens_here(variables)
    except InvalidInput:  # a finding of its own says so
        return ""
    lives = (token_life(token.identifier) for token in tokens if token.kind in _HDFS_TOKENS)
    return next((life.owner for life in lives if life is not None), "")


def _short(principal: str) -> str:
    """The part before host and realm, as Hadoop's default rules have it."""
    return principal.partition("@")[0].partition("/")[0]
