"""Acting as the owner of the data: only whom the operator allows, and never silently as somebody else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.unit.retention.feeds import FeedText, cluster
from toolkit.bootstrap.owner import NotActingAsOwner, act_as_owner
from toolkit.entities import Acl, Cluster, Feed

KERBEROS = {"hadoop.security.authentication": "kerberos"}
VARIABLES = ("HADOOP_PROXY_USER", "HADOOP_USER_NAME")


def _feed(owner: str | None, name: str = "clicks") -> tuple[Feed, Cluster]:
    return replace(FeedText(name=name).feed(), acl=Acl(owner=owner)), replace(cluster(), hadoop_conf=KERBEROS)


def _simple(owner: str) -> tuple[Feed, Cluster]:
    return _feed(owner, "simple")[0], cluster()


@pytest.fixture(autouse=True)
def _without_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in VARIABLES:
        monkeypatch.setenv(each, "")


def _identity() -> Mapping[str, str]:
    return {each: os.environ[each] for each in VARIABLES if os.environ[each]}


def test_the_process_acts_as_an_owner_whom_the_operator_allows() -> None:
    assert act_as_owner([_feed("web"), _feed("web", "views")], {"FEEDCTL_PROXY_USERS": "etl, web"}) == "web"
    assert _identity() == {"HADOOP_PROXY_USER": "web"}


def test_without_kerberos_the_process_says_that_it_is_the_owner() -> None:
    allowed = {"FEEDCTL_PROXY_USERS": "web", "HADOOP_USER_NAME": "service"}
    assert act_as_owner([_simple("web")], allowed) == "web"
    assert _identity() == {"HADOOP_USER_NAME": "web"}


def test_clusters_with_and_without_kerberos_are_not_for_one_run() -> None:
    with pytest.raises(NotActingAsOwner, match="--cluster"):
        act_as_owner([_feed("web"), _simple("web")], {"FEEDCTL_PROXY_USERS": "web"})


def test_a_run_without_feeds_acts_as_before() -> None:
    assert act_as_owner([], {}) == ""
    assert _identity() == {}


@pytest.mark.parametrize("allowed", ["", "etl", "we", "web2", "*", "WEB", ","])
def test_an_owner_whom_the_operator_does_not_name_is_refused(allowed: str) -> None:
    with pytest.raises(NotActingAsOwner, match="the operator does not allow that"):
        act_as_owner([_feed("web")], {"FEEDCTL_PROXY_USERS": allowed})
    assert _identity() == {}


@pytest.mark.parametrize("owner", [None, ""])
def test_a_feed_without_an_owner_is_refused(owner: str | None) -> None:
    with pytest.raises(NotActingAsOwner, match=r"feed views has no acl\.owner"):
        act_as_owner([_feed("web"), _feed(owner, "views")], {"FEEDCTL_PROXY_USERS": "web,"})


def test_a_process_acts_as_one_user() -> None:
    with pytest.raises(NotActingAsOwner, match="the owners etl, web"):
        act_as_owner([_feed("web"), _feed("etl", "views")], {"FEEDCTL_PROXY_USERS": "web,etl"})


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"HADOOP_PROXY_USER": "etl"}, "HADOOP_PROXY_USER is etl"),
        ({"HADOOP_PROXY_USER": "etl", "HADOOP_USER_NAME": "web"}, "HADOOP_PROXY_USER is etl"),
        ({"HADOOP_TOKEN_FILE_LOCATION": "/tmp/token"}, "a delegation token acts as the user that it was made for"),
    ],
)
def test_another_identity_is_refused(variables: dict[str, str], why: str) -> None:
    with pytest.raises(NotActingAsOwner, match=why):
        act_as_owner([_feed("web")], {"FEEDCTL_PROXY_USERS": "web", **variables})
    assert _identity() == {}


@pytest.mark.parametrize(("jvm", "why"), [("service", "acts as service"), ("", "acts as a user that it does not tell")])
def test_a_jvm_that_acts_as_somebody_else_is_refused(jvm: str, why: str) -> None:
    variables = {"FEEDCTL_PROXY_USERS": "web", "PYSPARK_GATEWAY_PORT": "40001"}
    with pytest.raises(NotActingAsOwner, match=why):
        act_as_owner([_feed("web")], variables, lambda: jvm)
    assert _identity() == {}


def test_a_jvm_that_acts_as_the_owner_by_proxy_user_is_followed() -> None:
    variables = {"FEEDCTL_PROXY_USERS": "web", "PYSPARK_GATEWAY_PORT": "40001"}
    assert act_as_owner([_feed("web")], variables, lambda: "web") == "web"
    assert _identity() == {"HADOOP_PROXY_USER": "web"}


def test_a_proxy_user_of_spark_submit_whom_the_operator_does_not_name_is_refused() -> None:
    with pytest.raises(NotActingAsOwner, match="the operator does not allow that"):
        act_as_owner([_feed("web")], {"PYSPARK_GATEWAY_PORT": "40001"}, lambda: "web")
    assert _identity() == {}


def test_what_spark_submit_started_as_the_owner_goes_on_as_the_owner() -> None:
    variables = {"HADOOP_PROXY_USER": "web", "PYSPARK_GATEWAY_PORT": "40001"}
    assert act_as_owner([_feed("web")], variables, lambda: "web") == "web"


@pytest.mark.parametrize("chosen", [_feed("web"), _simple("web")], ids=["kerberos", "simple"])
def test_a_jvm_that_proxy_user_made_somebody_else_is_refused_whatever_the_variable_says(
    chosen: tuple[Feed, Cluster],
) -> None:
    """`--proxy-user` wins over the variables in the JVM, which drops the partitions, and not in Python."""
    variable = "HADOOP_PROXY_USER" if chosen[1].hadoop_conf else "HADOOP_USER_NAME"
    with pytest.raises(NotActingAsOwner, match="acts as etl"):
        act_as_owner([chosen], {variable: "web", "PYSPARK_GATEWAY_PORT": "40001"}, lambda: "etl")


def test_without_kerberos_a_proxy_user_that_only_some_libraries_know_is_refused() -> None:
    with pytest.raises(NotActingAsOwner, match="HADOOP_PROXY_USER is web"):
        act_as_owner([_simple("web")], {"FEEDCTL_PROXY_USERS": "web", "HADOOP_PROXY_USER": "web"})
