"""The composition root: from the options of a command to loaded entities and adapters (STYLE H1)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.config_source import Snapshot, find_repo, named_repo, open_snapshot, require_age
from toolkit.entities.loader import load
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import REPO_FILE
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import (
    Chooser,
    FeedChoice,
    Neighbourhood,
    Progress,
    Resolver,
    RetentionRequest,
    RetentionResult,
    RetentionRun,
)
from toolkit.runs.lifeline import Lifeline
from toolkit.runs.nominal_time import refuse_future
from toolkit.storage import FileSystem, StorageSpec, open_file_system

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath


def open_config(config_repo: str | None, *, for_mutation: bool = False, allow_dirty: bool = False) -> Snapshot:
    """The snapshot of the config repo that a command means.

    Args:
        config_repo: a directory or an archive; None: FEEDCTL_REPO, else the nearest parent with a repo.yaml.
        for_mutation: the command is going to change something, so a dirty checkout is refused.
        allow_dirty: a dirty checkout will do all the same.

    Raises:
        InvalidInput: there is no usable config repo.
    """
    location = find_repo(Path.cwd(), os.environ) if config_repo is None else named_repo(config_repo)
    return open_snapshot(location, for_mutation=for_mutation, allow_dirty=allow_dirty)


def load_repository(config_repo: str | None, environment: str | None) -> Repository:
    """All entities of the config repo that a command means, for reading.

    Args:
        config_repo: as for `open_config`.
        environment: None: the repo's default environment.

    Raises:
        ConfigError: all problems of all files.
        InvalidInput: there is no usable config repo, or no such environment.
    """
    return load(open_config(config_repo), environment)


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionOptions:
    """What the user asked of a retention run.

    Attributes:
        choice: which feeds on which cluster.
        config_repo: as for `open_config`.
        environment: name; None: the repo's default.
        nominal_time: for which the run acts.
        dry_run: plan only, with storage opened for reading.
        approve: digest of a plan that may exceed the limits.
        allow_dirty: act on a checkout with uncommitted changes.
    """

    choice: FeedChoice
    config_repo: str | None
    environment: str | None
    nominal_time: datetime
    dry_run: bool
    approve: str | None
    allow_dirty: bool


def evict(options: RetentionOptions, clock: Clock, lifeline: Lifeline, progress: Progress) -> RetentionResult:
    """A retention run, from the options to the result.

    Args:
        options: what the user asked for.
        clock: tells the wall-clock time.
        lifeline: asked before each effect.
        progress: told how far the work is.

    Raises:
        InvalidInput: a future time, an unusable config repo, unknown names, values that do not exist yet.
    """
    refuse_future(options.nominal_time, clock.now())
    mutates = not options.dry_run
    snapshot = open_config(options.config_repo, for_mutation=mutates, allow_dirty=options.allow_dirty)
    repository = load(snapshot, options.environment)
    for value in not_implemented(repository.settings, Area.RETENTION):
        raise value.error(where=REPO_FILE)
    if mutates:
        require_age(snapshot.id, repository.settings.max_age, clock.now())
    storages = Storages(read_only=options.dry_run, before_effect=lifeline.check)
    chooser = Chooser(feeds=repository.feeds, clusters=repository.clusters, environment=repository.environment)
    resolver = Resolver(
        nominal_time=options.nominal_time,
        keep_beyond_validity=repository.settings.keep_instances_beyond_validity,
        holds=repository.holds,
        storage=storages.of,
        neighbourhood=Neighbourhood(feeds=tuple(repository.feeds.values())),
    )
    feeds = resolver.resolve(chooser.choose(options.choice), must_all_work=bool(options.choice.names))
    run = RetentionRun(storage=storages.of, lifeline=lifeline, progress=progress)
    return run.run(_retention_request(options, repository, snapshot), feeds)


@dataclass(kw_only=True)
class Storages:
    """Opens each store once.

    Attributes:
        read_only: every mutating call fails.
        before_effect: called before every single change.
    """

    read_only: bool
    before_effect: Callable[[], None]
    _open: dict[tuple[str, str], FileSystem] = field(default_factory=dict)

    def of(self, path: CanonicalPath) -> FileSystem:
        """The store that a path is on.

        Raises:
            NotImplementedYet: no adapter for it exists yet.
        """
        key = (path.scheme, path.authority)
        if key not in self._open:
            spec = StorageSpec(scheme=path.scheme, authority=path.authority)
            self._open[key] = open_file_system(spec, read_only=self.read_only, before_effect=self.before_effect)
        return self._open[key]


def _retention_request(options: RetentionOptions, repository: Repository, snapshot: Snapshot) -> RetentionRequest:
    limits = repository.settings.max_delete
    environment = repository.environment
    return RetentionRequest(
        nominal_time=options.nominal_time,
        dry_run=options.dry_run,
        approve=options.approve,
        limits=DeleteLimits(instances=limits.instances, fraction=limits.fraction),
        environment=None if environment is None else environment.name,
        snapshot=snapshot.id,
        tzdata=version("tzdata"),
    )
