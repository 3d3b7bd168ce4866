from __future__ import annotations

from pathlib import Path

from tests.unit.storage.token_files import PROTOBUF
from toolkit.doctor.acting import acting, acting_findings
from toolkit.doctor.findings import CheckStatus, ok
from toolkit.doctor.kerberos import Ticket
from toolkit.runs.recorder import current_user

_KERBEROS = {"hadoop.security.authentication": "kerberos"}


def _no_ticket() -> Ticket:
    return Ticket()


def _ticket() -> Ticket:
    return Ticket(principal="etl/edge@EXAMPLE.COM", is_valid=True)


def test_without_kerberos_the_name_that_is_told_acts() -> None:
    named = acting("hdfs", {}, {"HADOOP_USER_NAME": "eve"}, _ticket)
    process = acting("webhdfs", {}, {}, _ticket)
    assert (named.actor.name, process.actor.name) == ("eve", current_user())
    assert "believes it" in named.how


def test_with_kerberos_the_tickets_principal_acts_whatever_name_is_told() -> None:
    found = acting("hdfs", _KERBEROS, {"HADOOP_USER_NAME": "eve"}, _ticket)
    assert (found.actor.name, found.how) == ("etl", "the Kerberos ticket of etl/edge@EXAMPLE.COM")


def test_a_delegation_token_stands_above_the_ticket(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(PROTOBUF)
    found = acting("hdfs", _KERBEROS, {"HADOOP_TOKEN_FILE_LOCATION": str(file)}, _ticket)
    assert (found.actor.name, found.how) == ("alice", "a delegation token of alice")


def test_neither_ticket_nor_token_is_a_failure() -> None:
    (found,) = acting_findings("hdfs", lambda: acting("hdfs", _KERBEROS, {}, _no_ticket))
    assert found.status is CheckStatus.FAILED
    assert "kinit" in found.todo


def test_one_may_act_for_another() -> None:
    found = acting("hdfs", {}, {"HADOOP_USER_NAME": "eve", "HADOOP_PROXY_USER": "bob"}, _ticket)
    assert (found.actor.name, found.how) == ("bob", "eve acts for it (HADOOP_PROXY_USER)")


def test_the_user_of_the_process_acts_on_its_own_files() -> None:
    (found,) = acting_findings("file", lambda: acting("file", {}, {"HADOOP_USER_NAME": "eve"}, _ticket))
    assert found.found == f"{current_user()}: the user of this process"


def test_on_s3_amazon_is_asked_and_on_other_object_stores_nobody() -> None:
    who = lambda: acting("s3", {}, {}, _ticket)  # noqa: E731 - never called
    assert list(acting_findings("s3", who, lambda: iter([ok("access key AKIA...")]))) == [ok("access key AKIA...")]
    (found,) = acting_findings("gs", who)
    assert found.status is CheckStatus.SKIPPED
