"""Mirrors of a run, wired by type; and the WebHDFS of a cluster, which has the calls for snapshots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.hive import catalog_of
from toolkit.bootstrap.storages import stores_of
from toolkit.entities.errors import NotInEnvironment
from toolkit.errors import InvalidInput
from toolkit.hive.mirror_events import CURSOR, EventCursor
from toolkit.hive.mirror_recovery import EarlierRuns
from toolkit.ledger.runs.counters import newest
from toolkit.ledger.runs.queries import Subject, over, unsuccessful
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.dataset_aliases import mirrored_datasets
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.process_runner.hive_mirrors import HiveMirrors
from toolkit.process_runner.mirror_holds import MirrorHolds
from toolkit.process_runner.mirrors import Mirrors
from toolkit.process_runner.snapshot_mirrors import SnapshotMirrors
from toolkit.process_runner.tree_mirrors import TreeMirrors
from toolkit.storage.hadoop_conf import hadoop_settings

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.bootstrap.action_context import ActionContext
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster
    from toolkit.ledger.database import Ledger
    from toolkit.storage import StorageSpec
    from toolkit.storage.snapshots import SnapshotStore
    from toolkit.variables import Variables

_RUNS = 5
"""So many runs of a mirror are looked at for what they left."""
_WEB = ("webhdfs", "swebhdfs")


class NoSnapshots(InvalidInput):
    """A directory of a store that has no snapshots."""

    def __init__(self, *, path: CanonicalPath) -> None:
        super().__init__(f"{path} is not on HDFS, and no other store has snapshots of directories")


def mirrors_of(context: ActionContext, now: Callable[[], datetime], approve: str | None = None) -> Mirrors:
    """Return the actions of mirrors; the clusters at both ends have to be of its environment.

    Args:
        context: of the run.
        now: the wall-clock time, UTC.
        approve: digest of a removal that may exceed the limits.
    """
    repository, limits = context.repository, context.repository.settings.max_delete

    def cluster(name: str) -> Cluster:
        environment = repository.environment
        if environment is not None and not environment.allows(name):
            allowed = environment.clusters
            raise NotInEnvironment(what=f"cluster {name}", environment=environment.name, clusters=allowed)
        return repository.cluster(name)

    def snapshots(of: Cluster, root: CanonicalPath, hook: Callable[[], None] | None) -> SnapshotStore:
        from toolkit.storage.webhdfs.snapshots import open_snapshots  # noqa: PLC0415 - its client is large

        spec = web_spec(root, of, context.choice.spec_of(root), context.variables)
        return open_snapshots(spec, read_only=hook is None, before_effect=hook or context.process.check)

    is_dry_run = context.options.dry_run
    max_delete = DeleteLimits(instances=limits.instances, fraction=limits.fraction, bytes=limits.bytes)
    by_snapshots = SnapshotMirrors(
        cluster=cluster, snapshots=snapshots, limits=max_delete, now=now, approve=approve, is_dry_run=is_dry_run
    )
    trees = TreeMirrors(cluster=cluster, limits=max_delete, approve=approve, is_dry_run=is_dry_run)
    by_tables = HiveMirrors(
        cluster=cluster,
        catalog=catalog_of,
        earlier=partial(_earlier_runs, context.use.ledger),
        limits=max_delete,
        approve=approve,
        is_dry_run=is_dry_run,
    )
    holds = MirrorHolds(
        repository=repository,
        place=lambda name, directory: cluster(name).place(directory),
        holds=lambda: (*repository.holds, *context.holds.as_entities),
    )
    return Mirrors(
        held=holds.problem,
        actions={"hdfs": trees, "hdfs_snapshot": by_snapshots, "hive": by_tables},
        datasets=lambda process: tuple(mirrored_datasets(process, repository.clusters)),
    )


def _earlier_runs(ledger: Ledger | None, mirror: str, cluster: str) -> EarlierRuns:
    """Return what the ledger keeps of a mirror; a dry run before the first run has no ledger."""
    if ledger is None:
        return EarlierRuns()
    subject = Subject(entity=mirror, life_cycle=LifeCycle.EXECUTION, cluster=cluster)
    counted = ledger.read(lambda tx: newest(tx, subject, CURSOR))
    dead = ledger.read(lambda tx: unsuccessful(tx, subject, _RUNS))
    return EarlierRuns(
        cursor=EventCursor.of(counted), dead=dead, over=lambda ids: ledger.read(lambda tx: over(tx, subject, ids))
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
