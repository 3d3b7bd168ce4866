from __future__ import annotations

from collections.abc import Mapping

import pytest
import requests

from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.hadoop import hadoop_findings, web_addresses

_SERVICE = {
    "dfs.ha.namenodes.ns1": "nn1,nn2",
    "dfs.namenode.http-address.ns1.nn1": "one:9870",
    "dfs.namenode.http-address.ns1.nn2": "two:9870",
}


def _finding(**states: str | None) -> CheckResult:
    """Of NameNodes in these states; None: it does not answer, ``safe``: active and in safe mode."""

    def bean(url: str, name: str) -> Mapping[str, object]:
        state = states[url]
        if state is None:
            raise requests.ConnectionError
        if name == "NameNodeStatus":
            return {"State": "active" if state == "safe" else state}
        return {"Version": "3.4.2, r84e8b89", "Safemode": "Safe mode is ON" if state == "safe" else ""}

    (found,) = hadoop_findings(list(states), bean)
    return found


def test_version_and_state_of_one_name_node_are_told() -> None:
    found = _finding(nn="active")
    assert (found.status, found.found) == (CheckStatus.OK, "Hadoop 3.4.2; nn active, not in safe mode")


def test_an_active_one_with_one_on_standby_is_as_it_should_be() -> None:
    assert _finding(one="standby", two="active").status is CheckStatus.OK


@pytest.mark.parametrize(
    ("one", "two", "output"),
    [
        ("safe", "standby", "nothing can be changed"),
        ("standby", "standby", "no NameNode is active"),
        ("active", None, "not all of them are up"),
        ("standby", None, "no NameNode is active"),
    ],
)
def test_what_will_keep_work_from_being_done_is_a_warning(one: str, two: str | None, output: str) -> None:
    found = _finding(one=one, two=two)
    assert found.status is CheckStatus.WARNING
    assert output in found.todo


def test_none_that_tells_leaves_the_version_unknown() -> None:
    found = _finding(one=None, two=None)
    assert found.status is CheckStatus.SKIPPED
    assert found.found == "version unknown: one (ConnectionError), two (ConnectionError)"


@pytest.mark.parametrize(
    ("authority", "settings", "urls"),
    [
        ("ns1", _SERVICE, ["http://one:9870", "http://two:9870"]),
        ("host:8020", {}, ["http://host:9870"]),
        ("host", {}, ["http://host:9870"]),
        ("host:8020", {"dfs.namenode.http-address": "web:50070"}, ["http://web:50070"]),
    ],
)
def test_the_web_address_is_that_of_the_settings_or_hadoops_own(
    authority: str, settings: Mapping[str, str], urls: list[str]
) -> None:
    assert web_addresses(authority, settings) == urls
