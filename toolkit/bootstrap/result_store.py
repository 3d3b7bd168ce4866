"""The store that a result file is on, opened with what the config repo knows about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.bootstrap.config import RepoRequest, load_repository
from toolkit.bootstrap.storages import storage_spec, stores_of
from toolkit.el import CanonicalPath, ElError
from toolkit.errors import FeedctlError
from toolkit.storage import FileSystem, StorageSpec, open_file_system

if TYPE_CHECKING:
    from toolkit.entities import Cluster


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultPlace:
    """Destination of a result.

    Attributes:
        path: under the name by which the store is known to its cluster.
        spec: the store.
    """

    path: CanonicalPath
    spec: StorageSpec

    def opened(self) -> FileSystem:
        """The store; writes ask for no permission to begin: the result of a stopped run is wanted too.

        Raises:
            NotImplementedYet: no adapter for it exists yet.
            InvalidInput: the settings cannot be used.
        """
        return open_file_system(self.spec)


def result_place(path: CanonicalPath, repo: RepoRequest) -> ResultPlace:
    """The place of a result file, on any store that there is an adapter for.

    A store that is an end point of a cluster of the config repo has that cluster's `hadoop_conf`; any other one is
    known from the environment (HADOOP_CONF_DIR, AWS_ENDPOINT_URL ...) alone. What is wrong with the config repo does
    not matter here: the run itself tells it, and into this file. Only clusters that describe this store differently are
    refused: it could be two stores.

    Args:
        path: as the user named it.
        repo: the config repo.

    Raises:
        InvalidInput: clusters that have this end point do not say the same about it, or a setting carries a secret.
    """
    clusters = () if path.scheme == "file" else _clusters(repo)
    for cluster in clusters:
        named = _named_by(cluster, path)
        owners = [each for each in clusters if (named.scheme, named.authority) in set(stores_of(each))]
        if owners:
            return ResultPlace(path=named, spec=storage_spec(named, owners))
    return ResultPlace(path=path, spec=StorageSpec(scheme=path.scheme, authority=path.authority))


def _clusters(repo: RepoRequest) -> tuple[Cluster, ...]:
    try:
        return tuple(load_repository(repo).clusters.values())
    except FeedctlError:
        return ()


def _named_by(cluster: Cluster, path: CanonicalPath) -> CanonicalPath:
    try:
        return cluster.place(str(path))
    except ElError:
        return path
