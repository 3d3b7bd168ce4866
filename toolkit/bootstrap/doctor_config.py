"""Check of the config repo by `feedctl doctor`: whether an action would take it as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.bootstrap.config import RepoRequest, load_settings_of, open_config
from toolkit.bootstrap.ledgers import audit_place
from toolkit.config_source import Snapshot, require_age
from toolkit.config_source.errors import DirtyCheckout, StaleSnapshot
from toolkit.doctor.findings import CheckResult, failed, ok, skipped, warning
from toolkit.doctor.records import audit_findings
from toolkit.entities import UnknownName
from toolkit.entities.loader import load_all
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.entities.problems import ConfigError
from toolkit.entities.source_files import REPO_FILE
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities.repository import Repository


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigFound:
    """A config repo that was looked at.

    Attributes:
        findings: what is to be said of it.
        snapshot: None: there is none that can be used.
        repository: None: the same.
    """

    findings: tuple[CheckResult, ...]
    snapshot: Snapshot | None = None
    repository: Repository | None = None


def config_found(repo: RepoRequest, now: datetime) -> ConfigFound:
    """Look at the config repo as an action that changes something would.

    Args:
        repo: the config repo.
        now: what its age is measured by.

    Raises:
        UnknownName: no such environment.
    """
    try:
        snapshot, dirty = _opened(repo)
        repository, problems = load_all(snapshot, repo.environment)
    except UnknownName:
        raise
    except InvalidInput as error:
        found, _, todo = str(error).partition("; ")
        kind = warning if repo.config_repo is None else failed
        return ConfigFound(findings=(kind(found, todo=todo or "name one with --config-repo"),))
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        about = failed(f"{snapshot.id}: {count}", todo="see feedctl lint")
    else:
        named = repository.environment
        about = ok(f"{snapshot.id}, {'no environment' if named is None else f'environment {named.name}'}")
    findings = (about, *_dirty(dirty), *_too_old(snapshot, repository, now), *_settings(repository))
    return ConfigFound(findings=findings, snapshot=snapshot, repository=repository)


def audit_file_findings(snapshot: Snapshot, repo: RepoRequest) -> Iterator[CheckResult]:
    """Check that the audit file that an action would open can be written.

    Raises:
        InvalidInput: its place cannot be told.
    """
    try:
        settings = load_settings_of(snapshot, repo)
    except ConfigError:
        yield skipped("the settings of the config repo have problems", todo="see feedctl lint")
        return
    yield from audit_findings(audit_place(snapshot, settings, repo.variables))


def _opened(repo: RepoRequest) -> tuple[Snapshot, DirtyCheckout | None]:
    try:
        return open_config(repo, for_mutation=True), None
    except DirtyCheckout as error:
        return open_config(repo), error


def _dirty(error: DirtyCheckout | None) -> Iterator[CheckResult]:
    """An action refuses it unless it is told otherwise."""
    if error is not None:
        found, _, todo = str(error).partition("; ")
        yield warning(found, todo=todo, what="checkout")


def _too_old(snapshot: Snapshot, repository: Repository, now: datetime) -> Iterator[CheckResult]:
    try:
        require_age(snapshot.id, repository.settings.max_age, now)
    except StaleSnapshot as error:
        found, _, todo = str(error).partition("; ")
        yield failed(found, todo=todo, what="age")


def _settings(repository: Repository) -> Iterator[CheckResult]:
    """Values for which every retention is refused."""
    for value in not_implemented(repository.settings, Area.RETENTION):
        found, _, todo = str(value.error(where=REPO_FILE)).partition("; ")
        yield failed(found, todo=todo, what=REPO_FILE)
