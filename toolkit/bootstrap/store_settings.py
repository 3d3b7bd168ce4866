"""Settings of clusters about a store; all clusters that name the store must agree (DESIGN section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.entities.values import property_text
from toolkit.errors import InvalidInput
from toolkit.storage.hadoop_conf import refuse_secrets, shown

if TYPE_CHECKING:
    from toolkit.entities import Cluster

_OBJECTS = {"s3": ("fs.s3a.",), "gs": ("fs.gs.",), "abfs": ("fs.azure.", "fs.abfs")}
_OF_OBJECTS = tuple(prefix for prefixes in _OBJECTS.values() for prefix in prefixes)
_HADOOP = ("dfs.", "hadoop.", "fs.")


class ConflictingHadoopConf(InvalidInput):
    """Clusters that speak for one store do not say the same about it; not to say anything counts as a value.

    Args:
        store: scheme and authority.
        key: the Hadoop setting.
        values: by the name of the cluster; None where it is not set. None of a secret is kept.
    """

    def __init__(self, *, store: str, key: str, values: Mapping[str, str | None]) -> None:
        self.store, self.key = store, key
        self.values = {name: None if value is None else shown(key, value) for name, value in values.items()}
        found = " and ".join(
            f"{cluster} does not set it" if value is None else f"{cluster} says {value}"
            for cluster, value in self.values.items()
        )
        super().__init__(
            f"hadoop_conf: {key} for {self.store}: {found}; it could be two different stores: give the clusters the "
            "same value, or run for one of them at a time with --cluster"
        )


def settings_about(scheme: str, cluster: Cluster) -> dict[str, str]:
    """The settings of a cluster that tell how a kind of store is reached, as text.

    ``fs.s3a.`` for s3, ``fs.gs.`` for gs, ``fs.azure.`` and ``fs.abfs`` for abfs; for HDFS, also over HTTP, ``dfs.``,
    ``hadoop.`` and what of ``fs.`` is not about these object stores.
    """
    prefixes, others = (_OBJECTS[scheme], ()) if scheme in _OBJECTS else (_HADOOP, _OF_OBJECTS)
    written = {key.strip(): property_text(value) for key, value in cluster.hadoop_conf.items()}
    return {key: value for key, value in written.items() if key.startswith(prefixes) and not key.startswith(others)}


def speaks_of(cluster: Cluster, scheme: str, authority: str) -> bool:
    """Return whether a cluster has settings for a store that is not one of its end points.

    Settings of object stores are about every bucket; those of HDFS are about the name services that they name.
    """
    settings = settings_about(scheme, cluster)
    return bool(settings) if scheme in _OBJECTS else any(f".{authority}." in f"{key}." for key in settings)


def agreed(scheme: str, authority: str, clusters: Sequence[Cluster]) -> dict[str, str]:
    """The settings of a store, when all clusters that speak for it have the same.

    Raises:
        ConflictingHadoopConf: they have not.
        SecretInSettings: a setting of an object store carries a secret.
    """
    if scheme in _OBJECTS:
        refuse_secrets(key for cluster in clusters for key in cluster.hadoop_conf)
    settings_of = {cluster.name: settings_about(scheme, cluster) for cluster in clusters}
    for key in sorted({key for settings in settings_of.values() for key in settings}):
        values = {name: settings.get(key) for name, settings in settings_of.items()}
        if len(set(values.values())) > 1:
            raise ConflictingHadoopConf(store=f"{scheme}://{authority}", key=key, values=values)
    return next(iter(settings_of.values()), {})
