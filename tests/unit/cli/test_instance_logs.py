"""`feedctl instance logs --time`: what the steps said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.ledger.samples import key, started
from tests.databases.ledgers import START
from tests.unit.cli.running import Feedctl
from tests.unit.management.repo import managed
from tests.unit.management.runs import requested
from toolkit.cli.instance_log_text import LogTexts
from toolkit.ledger import tables
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.identity import identity_of
from toolkit.ledger.vocabulary import LifeCycle, ProcessKind, RunStatus
from toolkit.management.questions import InstanceLogs, instance_logs
from toolkit.management.rows import View
from toolkit.programs.log_folder import begin_log
from toolkit.programs.step_log import StepRunName, step_log

pytestmark = pytest.mark.usefixtures("repo")

JOB = "clicks_hourly_job"
TIME = "2026-03-20T01:00Z"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of all logs."""
    monkeypatch.setenv("FEEDCTL_LOG_DIR", str(tmp_path / "logs"))
    return tmp_path / "logs"


def own_log(ledger: Ledger, logs: Path, step: str, text: str | None = None, process: str = JOB) -> Path:
    """Return the path of the log of a step of the first run, with its text."""
    name = StepRunName(
        ledger=identity_of(ledger), process=process, cluster="primary", instance_key=TIME, run_id=1, step=step
    )
    place = step_log(logs, name)
    if text is not None:
        begin_log(logs, place)
        place.write_text(text)
    return place


def with_steps(ledger: Ledger, logs: dict[str, Path | str | None], name: str = JOB) -> int:
    """A run that goes on, with steps that are over, and where their logs are."""
    run = started(ledger, key(TIME, entity=name, life_cycle=LifeCycle.EXECUTION))
    ledger.write(lambda tx: _insert(tx, run.run.run_id, logs, name))
    return run.run.run_id


def _insert(tx: Transaction, run_id: int, logs: dict[str, Path | str | None], name: str) -> None:
    known = {"digest": "d", "snapshot": "s", "registered_at": START, "updated_at": START}
    owner = tx.insert(tables.process, kind=ProcessKind.PROCESS, name=name, cluster="primary", is_deleted=False, **known)
    for at, (step, log) in enumerate(logs.items()):
        number = tx.insert(tables.step, process_id=owner, name=step, position=at, is_recoverable=True, is_deleted=False)
        values = {"run_id": run_id, "step_id": number, "attempt": 1, "started_at": START}
        place = None if log is None else str(log)
        tx.insert(tables.step_run, **values, status=RunStatus.SUCCEEDED, log_location=place)


def test_the_logs_of_an_instance_are_printed_step_by_step_and_drive_no_terminal(
    feedctl: Feedctl, cli_ledger: Ledger, logs: Path
) -> None:
    load = own_log(cli_ledger, logs, "load", "one\x1b]0;title\x07\r\n::error::forged")
    total = own_log(cli_ledger, logs, "sum", "three\n")
    with_steps(cli_ledger, {"load": load, "sum": total, "skip": None})

    output = feedctl("instance", "logs", JOB, "--time", TIME).out

    assert output == (
        f"== primary {TIME} attempt 1: step load, succeeded: {load}\n"
        "one\\u001b]0;title\\u0007\\r\n\\u003a:error::forged\n"
        f"== primary {TIME} attempt 1: step sum, succeeded: {total}\nthree\n"
        f"== primary {TIME} attempt 1: step skip, succeeded: no log was recorded\n"
    )


def test_one_step_is_chosen_by_its_name(feedctl: Feedctl, cli_ledger: Ledger, logs: Path) -> None:
    with_steps(cli_ledger, {"load": "s3://logs/load", "sum": own_log(cli_ledger, logs, "sum", "three\n")})

    assert feedctl("instance", "logs", JOB, "--time", TIME, "--step", "sum").out.endswith("sum.log\nthree\n")
    assert feedctl("instance", "logs", JOB, "--time", TIME, "--step", "load").out.endswith(
        "its log is s3://logs/load\n"
    )


def test_a_log_on_another_machine_is_named_with_it(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    with_steps(cli_ledger, {"load": "/no/such/load.log"})

    assert feedctl("instance", "logs", JOB, "--time", TIME).out.endswith("its log is /no/such/load.log on edge1\n")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--time", TIME, "--step", "nope"), "began the step nope"),
        (("--step", "load"), "Missing option '--time'"),
        (("--follow", "--start", TIME), "Missing option '--time'"),
        (("--time", TIME, "--start", "2026-03-20T02:00Z"), "expected no --start and --end beside it"),
        (("--time", TIME, "--output", "json"), "expected text"),
    ],
)
def test_what_does_not_fit_is_refused(
    feedctl: Feedctl, cli_ledger: Ledger, options: tuple[str, ...], problem: str
) -> None:
    with_steps(cli_ledger, {"load": None})

    ran = feedctl("instance", "logs", JOB, *options)

    assert ran.code == 2
    assert problem in ran.err


def test_a_growing_log_is_shown_as_it_grows_until_the_run_is_over(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    log = own_log(sqlite_ledger, tmp_path, "load", process="count_job")
    run_id = with_steps(sqlite_ledger, {"load": log}, "count_job")
    assert run_id == 1
    sqlite_ledger.write(lambda tx: tx.execute(tables.step_run.update().values(status=RunStatus.RUNNING)))
    output: list[str] = []
    texts = LogTexts(step=None, write=output.append, host="edge1", base=tmp_path, ledger=identity_of(sqlite_ledger))

    def look() -> InstanceLogs:
        return instance_logs(sqlite_ledger, managed("count_job"), requested(TIME), View())

    assert texts.show(look()), "it runs"
    begin_log(tmp_path, log)
    log.write_text("one\nhal")
    assert texts.show(look())
    with log.open("a") as more:
        more.write("f\nend")
    sqlite_ledger.write(lambda tx: tx.execute(tables.step_run.update().values(status=RunStatus.FAILED)))
    sqlite_ledger.write(
        lambda tx: tx.execute(
            tables.run.update().where(tables.run.c.run_id == run_id).values(status=RunStatus.FAILED, ended_at=START)
        )
    )
    assert not texts.show(look())
    assert "".join(output) == f"== primary {TIME} attempt 1: step load, running: {log}\none\nhalf\nend\n"
