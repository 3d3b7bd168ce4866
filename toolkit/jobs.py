"""Jobs for workflows written in Python: the ledger's calls after BDRE, from one import (DESIGN section 6).

from toolkit.jobs import JobRef, open_jobs

with open_jobs() as jobs:
    jobs.init_job(JobRef(process="report_job", cluster="primary", instance_key="2026-03-20T03:00Z"))
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from toolkit.bootstrap.config import RepoRequest, load_repository
from toolkit.bootstrap.ledgers import open_ledger_at, open_ledger_for
from toolkit.ledger.batches.rows import FeedInstance, NewFile
from toolkit.ledger.jobs.rows import HaltedJob, JobRef, StartedJob, StepRun
from toolkit.ledger.registry.registration import Site
from toolkit.runs.job_calls import JobIo, RunMetadata
from toolkit.runs.recorder import origin_here
from toolkit.variables import process_variables

__all__ = [
    "FeedInstance",
    "HaltedJob",
    "JobIo",
    "JobRef",
    "NewFile",
    "RunMetadata",
    "Site",
    "StartedJob",
    "StepRun",
    "job_io",
    "open_jobs",
]


@contextmanager
def open_jobs(
    ledger: str | None = None, *, config_repo: str | None = None, environment: str | None = None
) -> Iterator[RunMetadata]:
    """The calls, on a ledger that is closed afterwards; a job that was begun goes on in the ledger until it is ended.

    Args:
        ledger: its URL, in which `${env:NAME}` stands for the password; None: FEEDCTL_LEDGER, or that of the config
            repo, as for every command.
        config_repo: a directory or archive; None: FEEDCTL_REPO, else the nearest parent with a repo.yaml.
        environment: of the config repo; None: its default one.

    Raises:
        InvalidInput: no ledger is named, this feedctl must not use it, or there is no usable config repo.
        LedgerUnavailable: the database cannot be used now.
    """
    repo = RepoRequest(config_repo=config_repo, environment=environment, variables=process_variables())
    if ledger is None:
        opened = open_ledger_for(repo, read_only=False)
    else:
        opened = open_ledger_at(ledger, named_by="open_jobs", variables=repo.variables)
    try:
        yield RunMetadata(ledger=opened, origin=origin_here(repo.variables))
    finally:
        opened.close()


def job_io(
    process: str, cluster: str, instance_key: str, *, config_repo: str | None = None, environment: str | None = None
) -> JobIo:
    """Return the inputs and outputs of a process instance, as the config repo says.

    Raises:
        InvalidInput: no usable config repo, or the process has no such instance there.
    """
    repo = RepoRequest(config_repo=config_repo, environment=environment, variables=process_variables())
    return JobIo.of(load_repository(repo), process, cluster, instance_key)
