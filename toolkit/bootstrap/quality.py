"""Wiring of the validator of a run; the process and the pages are loaded when something is validated."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.ledgers import quality_folder
from toolkit.clock import SystemClock
from toolkit.entities.suite_code import allows_suite_sql
from toolkit.ledger.validation_figures import figures_of
from toolkit.pages.validation_page import TREND, write_page
from toolkit.quality.validator import Author, SuiteValidator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from toolkit.config_source import Snapshot
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster
    from toolkit.entities.quality import Quality
    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.validations import NewValidationResult, StoredFinding
    from toolkit.programs.shared_sql import SharedSqlEngine
    from toolkit.quality.validator import Validate
    from toolkit.storage import FileSystem
    from toolkit.variables import Variables


def suite_validator(
    snapshot: Snapshot,
    repository: Repository,
    ledger: Ledger | None,
    stores: Callable[[CanonicalPath], FileSystem],
    author: Author,
    variables: Variables,
    hosts: SharedSqlEngine | None = None,
) -> SuiteValidator:
    """Return the validator of a run.

    Args:
        snapshot: of the config repo.
        repository: its entities.
        ledger: None: the user chose to do without.
        stores: for listing.
        author: the run that wrote the data.
        variables: of the process.
        hosts: have the applications of steps of SQL, which may validate what they made; None: no step runs.
    """
    return SuiteValidator(
        stores=stores,
        suites=repository.suites,
        ledger=ledger,
        processes=partial(_process, variables, author.entity, hosts),
        write_page=partial(_page, quality_folder(snapshot, repository.settings, variables), ledger),
        author=author,
        allows_sql=allows_suite_sql(variables),
    )


def _process(variables: Variables, entity: str, hosts: SharedSqlEngine | None, cluster: Cluster) -> Validate:
    from toolkit.quality.spark_validation import SparkValidation  # noqa: PLC0415 - most runs validate nothing

    alone = SparkValidation(cluster=cluster, variables=variables)
    if hosts is None:
        return alone.ask
    from toolkit.programs.hosted import HostedEngine  # noqa: PLC0415 - as above

    hosted = HostedEngine(
        shared=hosts, process=entity, cluster=cluster.name, own=alone.engine, module="toolkit.quality.spark_job"
    )
    return replace(alone, shared=hosted).ask


def _page(
    folder: Path,
    ledger: Ledger | None,
    result: NewValidationResult,
    quality: Quality,
    findings: Sequence[StoredFinding],
) -> str:
    of_feed = (result.feed, result.cluster, TREND - 1)
    before = () if ledger is None else ledger.read(lambda tx: figures_of(tx, *of_feed))
    now, sample = SystemClock().now(), quality.sample
    return write_page(folder, result, findings, at=now, sample=sample, before=before).absolute().as_uri()
