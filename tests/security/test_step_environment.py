"""Steps and validations get a short list of the operator's variables.

Defended: the secrets of the ledger, the broker, the stores and of anybody else in the runner's environment. Against: a
workflow, a library or a validation that prints or sends its environment, and a config repo that asks for a secret of
its choice.

Not defended: what the account may do. A step that looks for it finds the operator's files, and on most systems the
memory and the environment of its runner: programs that are not trusted run under an account of their own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS, Runs
from tests.unit.programs.calls import LOCAL, a_call, a_script, never
from tests.unit.programs.test_submission import run, site, spark_call
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.ledgers import LedgerWithheld, location_for
from toolkit.entities import Credential, Engine, Workflow
from toolkit.programs.command import CommandEngine
from toolkit.programs.port import StepCall, StepEnd
from toolkit.programs.step_environment import offers, step_environment
from toolkit.quality.documents import Question
from toolkit.quality.spark_validation import SparkValidation
from toolkit.quality.validator import NoValidatorAnswer

__all__ = ["site"]  # the fixture

SECRETS = {
    "FEEDCTL_LEDGER": "postgresql://u:planted@db/x",
    "FEEDCTL_LEDGER_PASSWORD": "planted",
    "FEEDCTL_BROKER_PASSWORD": "planted",
    "FEEDCTL_CATALOG_PASSWORD": "planted",
    "FEEDCTL_KAFKA_PASSWORD": "planted",
    "FEEDCTL_SECRET_CRM": "planted",
    "PGPASSWORD": "planted",
    "AWS_ACCESS_KEY_ID": "planted",
    "AWS_SECRET_ACCESS_KEY": "planted",
    "GITHUB_TOKEN": "planted",
    "HADOOP_CREDSTORE_PASSWORD": "planted",
    "PYSPARK_GATEWAY_SECRET": "planted",
    "_SPARK_AUTH_SECRET": "planted",
    "VAULT_TOKEN": "planted",
    "PYTHON_KEYRING_PASSWORD": "planted",
    "PYTHON_API_TOKEN": "planted",
    "CONDA_TOKEN": "planted",
    "CONDA_CHANNELS": "planted",
    "XDG_SESSION_TOKEN": "planted",
    "LC_TOKEN": "planted",
    "HADOOP_SECRETS_HOME": "planted",
}
USUAL = (
    "PATH",
    "HOME",
    "LC_ALL",
    "JAVA_HOME",
    "SPARK_HOME",
    "HADOOP_CONF_DIR",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYSPARK_PYTHON",
    "CONDA_PREFIX",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "HADOOP_HDFS_HOME",
    "KRB5CCNAME",
)


def test_a_step_gets_what_programs_need_and_no_secret() -> None:
    found = step_environment({**dict.fromkeys(USUAL, "x"), **SECRETS})
    assert found == {**dict.fromkeys(USUAL, "x"), "FEEDCTL_LEDGER_WITHHELD": "1"}


@pytest.mark.parametrize(
    ("listed", "passed"),
    [
        ("AWS_*", {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}),
        ("AWS_ACCESS_KEY_ID, GITHUB_TOKEN", {"AWS_ACCESS_KEY_ID", "GITHUB_TOKEN"}),
        ("FEEDCTL_LEDGER,FEEDCTL_LEDGER_PASSWORD", {"FEEDCTL_LEDGER", "FEEDCTL_LEDGER_PASSWORD"}),
        ("FEEDCTL_*, FEEDCTL_LEDGER*", set()),
        ("", set()),
    ],
)
def test_the_operator_lists_more_and_names_what_is_for_the_ledger_or_the_broker(listed: str, passed: set[str]) -> None:
    found = step_environment({**SECRETS, "FEEDCTL_STEP_VARIABLES": listed})
    assert found.keys() - {"FEEDCTL_LEDGER_WITHHELD", "FEEDCTL_STEP_VARIABLES"} == passed
    assert ("FEEDCTL_LEDGER_WITHHELD" in found) is ("FEEDCTL_LEDGER" not in passed)


def test_a_workflow_names_only_secrets_that_the_operator_offers(tmp_path: Path) -> None:
    assert [name for name in SECRETS if offers(name, SECRETS)] == ["FEEDCTL_SECRET_CRM"]
    assert offers("PGPASSWORD", {"FEEDCTL_STEP_VARIABLES": "PGPASSWORD"})
    script = a_script(tmp_path, f"touch {tmp_path}/ran")
    workflow = Workflow(secrets={"A": Credential(env="FEEDCTL_LEDGER_PASSWORD")})
    end = CommandEngine().run(a_call(tmp_path, script, workflow=workflow, variables=SECRETS), lambda _: None, never)
    assert "FEEDCTL_LEDGER_PASSWORD, which the operator does not offer to steps: call it FEEDCTL_SECRET_" in end.message
    assert not (tmp_path / "ran").exists()


def test_the_steps_of_a_run_see_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in SECRETS.items():
        if name != "FEEDCTL_LEDGER":
            monkeypatch.setenv(name, text)
    runs = Runs(directory=tmp_path)
    runs.write(scripts={"count": f"env > {tmp_path}/env; cat /proc/$PPID/environ >> {tmp_path}/env\n" + runs.making()})
    runs.fill(KEYS[0])
    assert runs.run()[0] == 0
    seen = (tmp_path / "env").read_text()
    assert f"PATH={os.environ['PATH']}" in seen
    assert "planted" not in seen, "nor has the supervisor, which is the parent of a step"


def test_a_step_takes_no_other_ledger_than_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FEEDCTL_LEDGER", raising=False)
    monkeypatch.setenv("FEEDCTL_LEDGER_WITHHELD", "1")
    with pytest.raises(LedgerWithheld, match=r"steps do not get; let the operator list FEEDCTL_LEDGER"):
        location_for(RepoRequest(variables=os.environ))


@dataclass
class Recording:
    """An engine that only keeps what it was asked."""

    calls: list[StepCall] = field(default_factory=list)

    def run(self, call: StepCall, *_: object) -> StepEnd:
        self.calls.append(call)
        return StepEnd(exit_code=1, message="no")


def test_a_validation_gets_what_a_step_gets() -> None:
    engine = Recording()
    validation = SparkValidation(cluster=LOCAL, variables={"PATH": "/bin", **SECRETS}, engine=engine)
    with pytest.raises(NoValidatorAnswer):
        validation.ask(Question(parts=(), format="parquet", expectations=()), 60, never)
    (call,) = engine.calls
    assert "planted" not in str(call.environment)
    assert call.environment["PATH"].startswith("/bin")


FAILS = """#!/usr/bin/env python3
import json, os, pathlib, sys
pathlib.Path(sys.argv[-1]).write_text(json.dumps({"message": "statement 1: " + os.environ["PW"], "may_retry": False}))
sys.exit(1)
"""


def test_the_message_of_a_failed_statement_has_no_secret_of_the_process(site: Path) -> None:
    (site / "bin" / "spark-submit").write_text(FAILS)
    call = spark_call(site, Engine.SPARK_SQL, workflow=Workflow(secrets={"PW": Credential(env="FEEDCTL_SECRET_PW")}))
    call = replace(call, properties={"clicks": "a"}, variables={**call.variables, "FEEDCTL_SECRET_PW": "geheim\n31"})
    assert run(call).message.startswith("statement 1: ***")
    assert not any("geheim" in each.read_text() for each in call.log.parent.iterdir())
