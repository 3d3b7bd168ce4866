"""Mirrors of a run, wired by type; and the WebHDFS of a cluster, which has the calls for snapshots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.storages import stores_of
from toolkit.entities.errors import NotInEnvironment
from toolkit.errors import InvalidInput
from toolkit.planning.dataset_aliases import mirrored_datasets
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.process_runner.mirror_holds import MirrorHolds
from toolkit.process_runner.mirrors import MirrorAction, Mirrors
from toolkit.process_runner.snapshot_mirrors import SnapshotMirrors
from toolkit.process_runner.tree_mirrors import TreeMirrors
from toolkit.storage.hadoop_conf import hadoop_settings

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.bootstrap.action_context import ActionContext
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Repository
    from toolkit.storage import StorageSpec
    from toolkit.storage.snapshots import SnapshotStore
    from toolkit.variables import Variables

_WEB = ("webhdfs", "swebhdfs")


class NoSnapshots(InvalidInput):
    """A directory of a store that has no snapshots."""

    def __init__(self, *, path: CanonicalPath) -> None:
        super().__init__(f"{path} is not on HDFS, and no other store has snapshots of directories")


class RepoWithoutName(InvalidInput):
    """A mirror by snapshots in a config repo that has no name."""

    def __init__(self) -> None:
        super().__init__(
            "a mirror by snapshots needs a `name` in repo.yaml: it tells its snapshots from those that mirrors "
            "of other config repos make of the same directory"
        )


def owner_of(repo: str | None, environment: str) -> str:
    """Return the owner of mirrors, in names of what they keep in directories; names have no dot."""
    return ".".join(filter(None, (repo or ("-" if environment else ""), environment)))


def _cluster(repository: Repository, name: str) -> Cluster:
    """Return the cluster of a name; raises InvalidInput for one that is not there, or not of the environment."""
    environment = repository.environment
    if environment is not None and not environment.allows(name):
        raise NotInEnvironment(what=f"cluster {name}", environment=environment.name, clusters=environment.clusters)
    return repository.cluster(name)


def _holds(context: ActionContext) -> MirrorHolds:
    repository = context.repository
    return MirrorHolds(
        repository=repository,
        place=lambda name, directory: _cluster(repository, name).place(directory),
        holds=lambda: (*repository.holds, *context.holds.current),
        new_holds=context.holds,
    )


def mirrors_of(context: ActionContext, now: Callable[[], datetime], approve: str | None = None) -> Mirrors:
    """Return the actions of mirrors; the clusters at both ends have to be of its environment.

    Args:
        context: of the run.
        now: the wall-clock time, UTC.
        approve: digest of a removal that may exceed the limits.
    """
    repository, limits = context.repository, context.repository.settings.max_delete
    cluster = partial(_cluster, repository)

    def snapshots(of: Cluster, root: CanonicalPath, hook: Callable[[], None] | None) -> SnapshotStore:
        from toolkit.storage.webhdfs.snapshots import open_snapshots  # noqa: PLC0415 - its client is large

        spec = web_spec(root, of, context.choice.spec_of(root), context.variables)
        return open_snapshots(spec, read_only=hook is None, before_effect=hook or context.process.check)

    is_dry_run = context.options.dry_run
    max_delete = DeleteLimits(instances=limits.instances, fraction=limits.fraction, bytes=limits.bytes)
    environment = "" if repository.environment is None else repository.environment.name
    owner = owner_of(repository.settings.name, environment)
    trees = TreeMirrors(cluster=cluster, limits=max_delete, approve=approve, is_dry_run=is_dry_run, owner=owner)

    def by_snapshots() -> MirrorAction:
        if repository.settings.name is None:
            raise RepoWithoutName
        return SnapshotMirrors(
            cluster=cluster,
            snapshots=snapshots,
            limits=max_delete,
            now=now,
            approve=approve,
            is_dry_run=is_dry_run,
            owner=owner,
        )

    def by_tables() -> MirrorAction:
        from toolkit.bootstrap.hive_mirrors import hive_mirrors  # noqa: PLC0415 - most runs need nothing of tables

        return hive_mirrors(context.use.ledger, cluster, max_delete, approve=approve, is_dry_run=is_dry_run)

    holds = _holds(context)
    return Mirrors(
        held=holds.problem,
        conditions=holds.watch,
        actions={"hdfs": lambda: trees, "hdfs_snapshot": by_snapshots, "hive": by_tables},
        datasets=lambda process: tuple(mirrored_datasets(process, repository.clusters)),
    )


def web_spec(path: CanonicalPath, cluster: Cluster, spec: StorageSpec, variables: Variables) -> StorageSpec:
    """Return how the WebHDFS of a cluster's HDFS is reached.

    Args:
        path: on the HDFS.
        cluster: its `readonly` end point, or its `hadoop_conf`, says where WebHDFS is; else it has its usual port.
        spec: of the store that the path is on.
        variables: of the environment.

    Raises:
        NoSnapshots: the path is on no HDFS.
    """
    if path.scheme in _WEB:
        return spec
    if path.scheme != "hdfs":
        raise NoSnapshots(path=path)
    web = next(((scheme, name) for scheme, name in stores_of(cluster) if scheme in _WEB), None)
    if web is not None:
        return replace(spec, scheme=web[0], authority=web[1])
    if f"dfs.ha.namenodes.{path.authority}" in hadoop_settings(spec, variables):
        return replace(spec, scheme="webhdfs")
    address = spec.hadoop_conf.get("dfs.namenode.http-address", "")  # that of HADOOP_CONF_DIR may be another cluster's
    return replace(spec, scheme="webhdfs", authority=address or path.authority.rpartition(":")[0] or path.authority)
