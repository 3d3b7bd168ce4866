"""Tests of what commands print for programs has no key that its JSON Schema does not name.

Every other test that runs a command checks that nothing is missing or of another type (`running.Feedctl`).
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.contract.ledger.samples import key, started
from tests.contract.ledger.test_delivery import put
from tests.databases.ledgers import START
from tests.described import faults, printed_faults
from tests.unit.cli.running import Feedctl
from tests.unit.cli.test_run import CRM, FILE, HOURLY, NOON
from tests.unit.management.runs import execution
from toolkit.actions.verification import VerifyStatus
from toolkit.ledger import alerts
from toolkit.ledger.alert_rows import AlertChanges, AlertKey, NewAlert
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, LifeCycle
from toolkit.linter.findings import Severity
from toolkit.rendering.document_schemas import DocumentName, document_schema
from toolkit.replication.targets import CopyReason
from toolkit.result import Outcome, Status

JSON = ("--output", "json")
JOB = "clicks_hourly_job"
RANGE = ("--start", "2026-03-20T01:00Z", "--end", "2026-03-20T03:00Z")
ENQUEUE = ("--source", "clicks", "--cluster", "primary", "--path", "/data/x", *FILE, "--output", f"clicks={NOON}")
COMMANDS = [
    ("lint", "--format", "json"),
    ("status", "--time", "2026-03-20T01:00Z", *JSON),
    ("instance", "list", "clicks", *RANGE, *JSON),
    ("instance", "list", "clicks", "--planned", *RANGE, *JSON),
    *(("instance", what, JOB, *RANGE, *JSON) for what in ("status", "summary", "logs", "rerun", "kill")),
    ("instance", "dependencies", JOB, *RANGE[:2], *JSON),
    ("instance", "params", JOB, "--time", RANGE[1], *JSON),
    ("instance", "triage", "clicks_hourly", "--time", "2026-03-20T00:00Z", *JSON),
    ("outbox", "list", "--all", *JSON),
    ("outbox", "show", "1", *JSON),
    ("outbox", "drop", "1", *JSON),
    ("outbox", "retry", "1", *JSON),
    ("alert", "list", *JSON),
    ("alert", "show", "1", *JSON),
    ("alert", "ack", "1", "--reason", "on it", *JSON),
    ("alert", "silence", "--match", "kind=sla", "--until", "hours(1)", "--reason", "planned", *JSON),
    ("alert", "silences", *JSON),
    ("alert", "unsilence", "1", *JSON),
    ("event", "emit", "s3://bucket/orders", "--id", "load-17", "--extra", '{"rows": 17}', *JSON),
    ("event", "retract", "s3://bucket/orders", *JSON),
    ("event", "list", *JSON),
    ("dataset", "list", *JSON),
    ("dataset", "show", "clicks", *JSON),
    ("dataset", "graph", "--format", "json"),
    ("run", "enqueue", *ENQUEUE),
    ("run", "init-job", *HOURLY),
    ("run", "init-step", *HOURLY, "--step", "main"),
    ("run", "get-files", "--min-batch", "1", "--max-batch", "1"),
    ("run", "log", "write", "counted", "--category", "import", *HOURLY),
    ("run", "log", "read", *HOURLY),
    ("run", "halt-step", *HOURLY, "--step", "main"),
    ("run", "halt-job", *HOURLY),
    ("run", "get-properties", *HOURLY),
    ("run", "term-job", *CRM),
]


@pytest.mark.usefixtures("repo")
def test_every_key_that_a_command_prints_is_described(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    execution(cli_ledger, "2026-03-20T01:00Z", name=JOB)
    started(cli_ledger, key("2026-03-20T02:00Z", entity=JOB, life_cycle=LifeCycle.EXECUTION))
    assert feedctl("ledger", "sync").code == 0
    late = AlertKey(kind=AlertKind.SLA, entity="clicks", cluster="primary", instance_key=RANGE[1])
    alert = NewAlert(key=late, level=AlertLevel.LOW, opened_at=START, message="late", facts={"tag": "x"})
    cli_ledger.write(lambda tx: alerts.record(tx, AlertChanges(opened=(alert,)), START))
    put(cli_ledger, 1)
    for arguments in COMMANDS:
        printed = feedctl(*arguments).out
        assert printed.startswith("{"), arguments
        assert printed_faults(arguments, printed, strict=True) == []


def test_a_document_that_is_not_as_described_is_found_out() -> None:
    """The checks above and in `Feedctl` can fail."""
    document = {"schema_version": 1, "job": {"run_id": "7", "surprise": 1}}
    arguments, printed = ("run", "term-job"), json.dumps(document, indent=2)
    assert any("'7' is not of type 'integer'" in each for each in printed_faults(arguments, printed))
    assert any("'process' is a required property" in each for each in printed_faults(arguments, printed))
    assert any("'surprise' was unexpected" in each for each in printed_faults(arguments, printed, strict=True))
    assert faults({}, DocumentName.AUDIT, "item") != []


@pytest.mark.parametrize("name", list(DocumentName))
def test_a_schema_is_printed_and_is_one(feedctl: Feedctl, name: DocumentName) -> None:
    printed = feedctl("schema", name).document
    assert printed == document_schema(name)
    assert "$shared" not in json.dumps(printed), "a printed schema stands for itself"
    jsonschema.Draft202012Validator.check_schema(printed)


def test_a_document_has_no_merged_form(feedctl: Feedctl) -> None:
    ran = feedctl("schema", "status", "--merged")
    assert ran.code == 2
    assert "--merged: found 'status', expected a file: one of cluster, " in ran.err


def test_the_words_of_a_schema_are_those_of_the_code() -> None:
    result = document_schema(DocumentName.RETENTION)["$defs"]
    assert result["result"]["properties"]["status"]["enum"] == list(Status)
    assert result["item"]["properties"]["outcome"]["enum"] == list(Outcome)
    assert set(result["feed"]["properties"]["counts"]["properties"]) == set(Outcome)
    copied = document_schema(DocumentName.REPLICATION)["$defs"]
    assert copied["result"]["properties"]["status"]["enum"] == list(Status)
    assert set(copied["item"]["properties"]["reasons"]["properties"]) == set(CopyReason)
    verified = document_schema(DocumentName.VERIFY)["$defs"]["instance"]["properties"]
    assert verified["differences"]["items"]["properties"]["verdict"]["enum"] == list(VerifyStatus)
    assert verified["counts"]["required"] == list(VerifyStatus)
    finding = document_schema(DocumentName.LINT)["$defs"]["finding"]["properties"]
    assert set(finding["severity"]["enum"]) == set(Severity)


def test_schemas_are_the_files_of_their_names() -> None:
    folder = Path(__file__).parents[3] / "toolkit" / "rendering" / "schemas"
    assert {file.stem for file in folder.iterdir()} == {*DocumentName, "shared"}
