"""The one import of a workflow in Python."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolkit.errors import InvalidInput
from toolkit.jobs import JobRef, Site, job_io, open_jobs
from toolkit.ledger.registry.registration import ProcessEntry, Registration, StepEntry
from toolkit.ledger.registry.sync import sync
from toolkit.ledger.vocabulary import ProcessKind, RunStatus

JOB = JobRef(process="report_job", cluster="primary", instance_key="2026-03-20T03:00Z")
REPORT = ProcessEntry(
    site=Site(name="report_job", cluster="primary"),
    kind=ProcessKind.PROCESS,
    digest="sha256:c0ffee",
    steps=(
        StepEntry(name="sum", position=0, engine=None, path=None, is_recoverable=True, feeds=frozenset(), upstreams={}),
    ),
    properties={},
)


def _work(url: str | None) -> None:
    with open_jobs(url) as jobs:
        jobs.ledger.write(lambda tx: sync(tx, Registration(snapshot="c1", processes=(REPORT,), servers=()), "ada"))
        started = jobs.init_job(JOB)
        assert started.run.pid == os.getpid()
        for step in started.steps_to_run:
            jobs.init_step(JOB, step)
            jobs.halt_step(JOB, step)
        assert jobs.halt_job(JOB).run.status is RunStatus.SUCCEEDED


def test_a_workflow_names_its_ledger_by_url_and_another_one_sees_what_it_did(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    _work(url)
    with open_jobs(url) as jobs:
        assert jobs.newest_job(JOB).status is RunStatus.SUCCEEDED


def test_a_ledger_that_the_environment_names_needs_no_config_repo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEEDCTL_LEDGER", f"sqlite:///{tmp_path}/ledger.db")
    _work(None)


def test_a_url_that_is_no_ledgers_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="open_jobs"), open_jobs("mysql://db/feedctl"):
        pass


def test_what_an_instance_reads_and_makes_comes_from_the_config_repo() -> None:
    io = job_io("clicks_by_country_job", "primary", "2026-03-20T03:00Z", config_repo="config_repo_template")
    assert [(each.feed, each.instance_key) for each in io.outputs()] == [("clicks_by_country", "2026-03-18T23:00Z")]


def test_a_workflow_cannot_announce_what_is_judged() -> None:
    io = job_io("clicks_hourly_job", "primary", "2026-03-20T03:00Z", config_repo="config_repo_template")
    with pytest.raises(InvalidInput, match="the output counts of clicks_hourly_job is validated"):
        io.outputs()
