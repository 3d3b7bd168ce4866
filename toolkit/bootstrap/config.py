"""From the options of a command to a snapshot of the config repo and its entities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolkit.config_source import Snapshot, find_repo, named_repo, open_snapshot
from toolkit.config_source.entity_cache import cache_of
from toolkit.entities.loader import load
from toolkit.entities.parsing import parse_files
from toolkit.entities.problems import ConfigError
from toolkit.entities.repo import RepoSettings
from toolkit.entities.repository import Repository
from toolkit.entities.settings_loading import load_settings
from toolkit.entities.source_files import settings_files
from toolkit.variables import Variables


@dataclass(frozen=True, kw_only=True, slots=True)
class RepoRequest:
    """The config repo that a command means.

    Attributes:
        config_repo: a directory or an archive; None: FEEDCTL_REPO, else the nearest parent with a repo.yaml.
        environment: name; None: the repo's default environment.
        variables: of the process; everything that a command reads of them comes from here.
    """

    config_repo: str | None = None
    environment: str | None = None
    variables: Variables

    @property
    def location(self) -> Path:
        """Path or URL of the config repo.

        Raises:
            InvalidInput: it is not there.
        """
        named = self.config_repo
        return find_repo(Path.cwd(), self.variables) if named is None else named_repo(named)


def open_config(repo: RepoRequest, *, for_mutation: bool = False, allow_dirty: bool = False) -> Snapshot:
    """The snapshot of the config repo that a command means.

    Args:
        repo: which config repo.
        for_mutation: the command is going to change something, so a dirty checkout is refused.
        allow_dirty: a dirty checkout will do all the same.

    Raises:
        InvalidInput: there is no usable config repo.
    """
    return open_snapshot(repo.location, for_mutation=for_mutation, allow_dirty=allow_dirty)


def load_repository(repo: RepoRequest) -> Repository:
    """Return all entities of the config repo that a command means, for reading.

    Raises:
        ConfigError: all problems of all files.
        InvalidInput: there is no usable config repo, or no such environment.
    """
    return load_entities(open_config(repo), repo)


def load_entities(snapshot: Snapshot, repo: RepoRequest) -> Repository:
    """Return all entities of a config repo, from the user's cache if it was loaded right before.

    Raises:
        ConfigError: all problems of all files.
        UnknownName: no such environment.
    """
    cache = cache_of(repo.variables)
    return (load if cache is None else cache.load)(snapshot, repo.environment)


def load_settings_of(snapshot: Snapshot, repo: RepoRequest) -> RepoSettings:
    """The settings of a config repo with the environment's overlay; entities are not read, so they may be broken.

    Raises:
        ConfigError: all problems of repo.yaml and of the environments.
        UnknownName: no such environment.
    """
    files = settings_files(snapshot.files)
    parsed = parse_files(files)
    loaded = load_settings(parsed, files, repo.environment)
    problems = (*parsed.problems, *loaded.problems)
    if problems:
        raise ConfigError(problems=problems)
    return loaded.settings
