"""Schedule of the config repo and environment that a command means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.bootstrap.config import RepoRequest, load_repository
from toolkit.process_runner.selection import unsupported
from toolkit.schedules.errors import NoSchedules
from toolkit.schedules.scheduler import Scheduler

if TYPE_CHECKING:
    from toolkit.entities.vocabulary import DeployMode
    from toolkit.schedules.actions import Schedule

_NEEDED = ("entrypoints", "config_repo")


def schedule_of(
    repo: RepoRequest,
    clusters: Sequence[str],
    *,
    master: str | None = None,
    deploy_mode: DeployMode | None = None,
) -> Schedule:
    """Return all scheduled actions.

    Args:
        repo: the config repo.
        clusters: only these; none: all of the environment.
        master: in the place of that in the environment's `schedules`.
        deploy_mode: likewise.

    Raises:
        ConfigError: all problems of all files.
        InvalidInput: no usable config repo, environment or cluster, or the environment does not say what is needed.
    """
    repository = load_repository(repo)
    chosen = repository.environment
    if chosen is None:
        raise NoSchedules(environment="", missing=_NEEDED)
    own = chosen.schedules
    missing = [key for key in _NEEDED if getattr(own, key) is None]
    if missing:
        raise NoSchedules(environment=chosen.name, missing=missing)
    settings = replace(own, master=master or own.master, deploy_mode=deploy_mode or own.deploy_mode)
    scheduler = Scheduler(repository=repository, settings=settings, environment=chosen.name, unsupported=unsupported)
    return scheduler.schedule(clusters)
