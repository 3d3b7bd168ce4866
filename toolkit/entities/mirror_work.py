"""Settings of workflows of the engine `mirror`, by type (Falcon feature list, Extensions)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from toolkit.el import Frequency
from toolkit.entities.vocabulary import GoneAtSource, OnMissingSnapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class CopySettings:
    """Settings of every type of mirrors.

    Attributes:
        max_maps: so many tasks copy at once.
        map_bandwidth: MB a second of one task.
        tde_encryption_enabled: bytes are copied as they are between encryption zones.
    """

    source_cluster: str
    target_cluster: str
    max_maps: int | None = None
    map_bandwidth: int | None = None
    tde_encryption_enabled: bool = False

    def clusters(self) -> tuple[str, str]:
        """Return the cluster of the source, and that of the target."""
        return self.source_cluster, self.target_cluster


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeMirror(CopySettings):
    """A tree without dates (`type: hdfs`).

    Attributes:
        preserve: attributes that the target gets too.
    """

    DIRECTORIES: ClassVar[tuple[str, str]] = ("source_dir", "target_dir")

    source_dir: str
    target_dir: str
    overwrite: bool = False
    ignore_errors: bool = False
    skip_checksum: bool = False
    on_source_delete: GoneAtSource = GoneAtSource.KEEP
    preserve: tuple[str, ...] = ()

    def directories(self) -> tuple[str, str]:
        """Return the directory at the source, and that at the target."""
        return self.source_dir, self.target_dir


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotRetention:
    """Snapshots that stay: the younger than `limit`, and the newest `number`."""

    limit: Frequency
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotMirror(CopySettings):
    """A directory with snapshots (`type: hdfs_snapshot`).

    Attributes:
        preserve: attributes that the target gets too.
    """

    DIRECTORIES: ClassVar[tuple[str, str]] = ("source_snapshot_dir", "target_snapshot_dir")

    source_snapshot_dir: str
    target_snapshot_dir: str
    source_snapshot_retention: SnapshotRetention
    target_snapshot_retention: SnapshotRetention
    preserve: tuple[str, ...] = ("permission", "user", "group")
    on_missing: OnMissingSnapshot = OnMissingSnapshot.REFUSE

    def directories(self) -> tuple[str, str]:
        """Return the directory at the source, and that at the target."""
        return self.source_snapshot_dir, self.target_snapshot_dir


@dataclass(frozen=True, kw_only=True, slots=True)
class HiveMirror(CopySettings):
    """Databases of a metastore (`type: hive`); empty `source_tables`: all tables.

    Attributes:
        max_events: so many notification events are read in a run; None: all tables are compared.
        replication_max_maps: so many tables at once.
    """

    source_databases: tuple[str, ...]
    source_tables: tuple[str, ...] = ()
    source_staging_path: str | None = None
    target_staging_path: str | None = None
    max_events: int | None = None
    replication_max_maps: int | None = None
    on_source_delete: GoneAtSource = GoneAtSource.KEEP


CopyWork = TreeMirror | SnapshotMirror | HiveMirror
"""Settings of one type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MirrorSettings:
    """Settings of a workflow; exactly one is given, by the name of its type."""

    hdfs: TreeMirror | None = None
    hdfs_snapshot: SnapshotMirror | None = None
    hive: HiveMirror | None = None

    def given(self) -> Mapping[str, CopyWork]:
        """Return what is given, by type."""
        found: dict[str, CopyWork | None] = {
            "hdfs": self.hdfs,
            "hdfs_snapshot": self.hdfs_snapshot,
            "hive": self.hive,
        }
        return {name: each for name, each in found.items() if each is not None}
