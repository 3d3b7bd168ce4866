"""`feedctl doctor`, wired: which checks there are, from the options and the config repo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.doctor_cluster import ClusterChecks
from toolkit.bootstrap.doctor_config import ConfigFound, audit_file_findings, config_found
from toolkit.bootstrap.ledgers import NoLedgerNamed, location_for
from toolkit.doctor.access import obstacle_to_sqlite
from toolkit.doctor.datasources import datasource_findings
from toolkit.doctor.executors import ExecutorTask, executor_findings
from toolkit.doctor.findings import CHECK_SECONDS, Check, Checked, CheckResult, run_checks, warning
from toolkit.doctor.hadoop import conf_dir_findings
from toolkit.doctor.kerberos import klist, ticket_findings
from toolkit.doctor.machine import (
    java_findings,
    java_settings,
    kerberos_library,
    package_findings,
    python_findings,
    temporary_space,
)
from toolkit.doctor.records import ledger_findings
from toolkit.doctor.tokens import token_findings
from toolkit.entities import UnknownName
from toolkit.entities.errors import NotInEnvironment
from toolkit.jdbc.opening import open_database
from toolkit.ledger.opening import examine
from toolkit.storage.hadoop_conf import CONF_VARIABLE
from toolkit.storage.hdfs.tokens import TOKEN_VARIABLE
from toolkit.transfer.executors import executors, must_have_context

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import Cluster
    from toolkit.entities.repository import Repository

_DRIVER, _TOKENS, _EXECUTORS = "driver", "tokens", "executors"
_DATABASE_SECONDS = 60.0
"""A JVM starts first, and its driver waits longer for a server than other checks do."""
_SPARK_SECONDS = 240.0
"""A context may have to wait for room on the cluster, and `NoExecutors` ends that after two minutes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DoctorOptions:
    """Options of `feedctl doctor`.

    Attributes:
        cluster: only this one; None: all that the environment allows.
        datasource: only this one, and no cluster.
        repo: the config repo, and the variables of the environment.
        spark: look at Spark's executors too.
        seconds: so long one check may take.
    """

    cluster: str | None = None
    datasource: str | None = None
    repo: RepoRequest
    spark: bool = False
    seconds: float = CHECK_SECONDS


def diagnose(options: DoctorOptions, now: datetime) -> tuple[Checked, ...]:
    """Look at everything; a config repo that cannot be used is a finding as well.

    Args:
        options: what is asked for.
        now: what the life of tokens is compared with.

    Raises:
        UnknownName: no such cluster, datasource or environment.
        NotInEnvironment: the environment may not act on the cluster.
    """
    config, variables = config_found(options.repo, now), options.repo.variables
    if options.datasource is not None:
        found = Check(about="config", name="repo", look=lambda: config.findings, seconds=options.seconds)
        return run_checks([found, *_datasource(options.datasource, config, variables)])
    groups = _groups(options, config, variables)
    checks = [
        *_driver(options, variables, [endpoint for group in groups for endpoint in group.undescribed()]),
        *_identity(options, now, variables, is_kerberos=any(group.is_kerberos for group in groups)),
        Check(about="config", name="repo", look=lambda: config.findings, seconds=options.seconds),
        *_recording(options, config),
        *(check for group in groups for check in group.checks()),
        *_executors(options, groups, variables),
    ]
    return run_checks(checks)


def _driver(options: DoctorOptions, variables: Mapping[str, str], undescribed: Sequence[str]) -> Iterator[Check]:
    looks: dict[str, Callable[[], Iterable[CheckResult]]] = {
        "version": python_findings,
        "java": lambda: java_findings(variables, partial(java_settings, variables)),
        "package": package_findings,
        "libgssapi": kerberos_library,
        "temporary": temporary_space,
        CONF_VARIABLE: lambda: conf_dir_findings(variables, undescribed),
    }
    for name, look in looks.items():
        yield Check(about=_DRIVER, name=name, look=look, seconds=max(options.seconds, CHECK_SECONDS))


def _identity(
    options: DoctorOptions, now: datetime, variables: Mapping[str, str], *, is_kerberos: bool
) -> Iterator[Check]:
    needs_ticket = is_kerberos and not variables.get(TOKEN_VARIABLE)
    looks = {
        "delegation": lambda: token_findings(variables, now),
        "kerberos": lambda: ticket_findings(partial(klist, variables), is_needed=needs_ticket),
    }
    for name, look in looks.items():
        yield Check(about=_TOKENS, name=name, look=look, seconds=options.seconds)


def _datasource(name: str, config: ConfigFound, variables: Mapping[str, str]) -> Iterator[Check]:
    known = {} if config.repository is None else config.repository.datasources
    if config.repository is not None and name not in known:
        raise UnknownName(what="datasource", name=name, known=known)
    for each in (known[name],) if name in known else ():
        ends = {"readonly": each.interfaces.readonly, "write": each.interfaces.write}
        for end in (end for end, given in ends.items() if given is not None):
            opening = partial(open_database, each, variables, writes=end == "write")
            look = partial(datasource_findings, opening)
            yield Check(about=f"datasource {name}", name=end, look=look, seconds=_DATABASE_SECONDS)


def _groups(options: DoctorOptions, config: ConfigFound, variables: Mapping[str, str]) -> list[ClusterChecks]:
    repository = config.repository
    if repository is None:
        return []
    chosen = _chosen(options, repository)
    return [ClusterChecks.of(cluster, repository, options.seconds, variables) for cluster in chosen]


def _chosen(options: DoctorOptions, repository: Repository) -> list[Cluster]:
    environment, name = repository.environment, options.cluster
    allowed = [each for key, each in sorted(repository.clusters.items()) if not environment or environment.allows(key)]
    if name is None:
        return allowed
    if name not in repository.clusters:
        raise UnknownName(what="cluster", name=name, known=repository.clusters)
    if environment is not None and not environment.allows(name):
        raise NotInEnvironment(
            what=f"cluster {name}", environment=environment.name, clusters=[each.name for each in allowed]
        )
    return [each for each in allowed if each.name == name]


def _recording(options: DoctorOptions, config: ConfigFound) -> Iterator[Check]:
    """Yield the checks of the ledger and the audit file, without which no action begins."""
    yield Check(about="ledger", name="ledger", look=lambda: _ledger(options), seconds=options.seconds)
    snapshot = config.snapshot
    if snapshot is not None:
        look = partial(audit_file_findings, snapshot, options.repo)
        yield Check(about="ledger", name="audit", look=look, seconds=options.seconds)


def _ledger(options: DoctorOptions) -> Iterator[CheckResult]:
    try:
        location = location_for(options.repo)
    except NoLedgerNamed:
        todo = "name one in repo.yaml or in FEEDCTL_LEDGER, or give --no-ledger to act without"
        yield warning("no ledger is named", todo=todo)
        return
    file = location.file
    variables = options.repo.variables
    yield from ledger_findings(
        lambda: examine(location, variables), lambda: "" if file is None else obstacle_to_sqlite(file)
    )


def _executors(
    options: DoctorOptions, groups: Sequence[ClusterChecks], variables: Mapping[str, str]
) -> Iterator[Check]:
    if options.spark or must_have_context(variables):
        places = tuple(place for group in groups for place in group.places())
        task = ExecutorTask(places=places, seconds=options.seconds)
        look = partial(_on_executors, task, variables)
        yield Check(about=_EXECUTORS, name="executor", look=look, seconds=_SPARK_SECONDS)


def _on_executors(task: ExecutorTask, variables: Mapping[str, str]) -> Iterator[CheckResult]:
    with executors(variables) as machines:
        yield from executor_findings(machines.open, task)
