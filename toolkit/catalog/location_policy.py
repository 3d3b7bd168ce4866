"""Policy that decides which texts of a metastore, or of an export, feedctl uses as paths on a cluster (ADR 0052).

The owners of tables write these texts: a location, the address of a schema, the query of a view. Without a rule they
choose which files the account of a run reads, copies and deletes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.catalog.errors import ForeignLocation
from toolkit.el import ElError

if TYPE_CHECKING:
    from toolkit.catalog.model import Partition, StorageDescriptor, Table
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster

_HDFS = frozenset({"hdfs", "webhdfs", "swebhdfs"})
_PATH_KEY = re.compile(r"(?:.*[._-])?(?:url|uri|paths?|location|file)", re.IGNORECASE | re.DOTALL)
"""Parameters that readers take for an address, as ``avro.schema.url``."""
_SPARK_PATH = "path"
"""A parameter of the serde that Spark keeps a table's directory in; a copy gets another one."""
_ADDRESS = re.compile(r"(?!https?:)[A-Za-z][A-Za-z0-9+.-]*:/", re.IGNORECASE)
_STORES = "file|hdfs|webhdfs|swebhdfs|viewfs|ofs|s3|s3a|s3n|gs|abfss?|wasbs?"
_IN_QUERY = re.compile(
    rf"`(?P<name>[A-Za-z][A-Za-z0-9+.-]*:/[^`]*)`|(?<![\w+.-])(?P<text>(?:{_STORES}):/[^\s'\"`)]*)", re.IGNORECASE
)
"""Addresses in the query of a view: a name in backquotes, as in ``parquet.`file:/x```, or a text of a known store."""
_MOST_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class LocationPolicy:
    """Locations of a metastore's tables that may be used on one cluster; data elsewhere is never touched.

    Attributes:
        cluster: whose metastore it is.
    """

    cluster: Cluster

    def place(self, text: str) -> CanonicalPath:
        """Return the place of a text for comparing; whether it may be used says `why_not_stored`.

        Raises:
            ElError: it is no path.
        """
        return self.cluster.place(text)

    def place_for_reading(self, text: str) -> CanonicalPath:
        """Return the same by the ``readonly`` end point of the cluster, see `Cluster.place_for_reading`.

        Raises:
            ElError: it is no path.
        """
        return self.cluster.place_for_reading(text)

    @cached_property
    def _roots(self) -> tuple[CanonicalPath, ...]:
        return self.cluster.table_roots

    @cached_property
    def _allowed(self) -> tuple[CanonicalPath, ...]:
        return tuple(dict.fromkeys((*self.cluster.file_systems, *self._roots)))

    def why_not_stored(self, text: str) -> str:
        """Return why a text is no path on a file system of the cluster; empty if it is one."""
        try:
            return self._why_not_allowed(self.cluster.place(text))
        except ElError as error:
            return str(error)

    def _why_not_allowed(self, place: CanonicalPath) -> str:
        if any(_is_in(place, each) for each in self._allowed):
            return ""
        named = ", ".join(map(str, self._allowed))
        return (
            f"{_shown(place)} is not on a file system of the cluster {self.cluster.name} ({named}); correct it, or "
            f"name a directory around it in `locations.tables` of the cluster{_local_hint(place, self.cluster)}"
        )

    def why_not_used(self, location: str, own: CanonicalPath | None) -> str:
        """Return why data of a partition is not touched; empty if it is used.

        Args:
            location: of the partition; an empty one is never used.
            own: the directory of its table; None: it has none.
        """
        try:
            place = self.cluster.place(location)
        except ElError as error:
            return str(error)
        if why := self._why_not_allowed(place):
            return why
        if any(_is_in(place, each) for each in (*([] if own is None else [own]), *self._roots)):
            return ""
        return (
            f"{_shown(place)} is outside of the table's directory {own}; move the data there, or name a directory "
            f"around it in `locations.tables` of the cluster {self.cluster.name}"
        )

    def why_not_registered(self, partition: Partition, own: CanonicalPath) -> str:
        """Return why a partition of a table is not registered as a file describes it; empty if it may be.

        Args:
            partition: by a manifest in quarantine.
            own: the directory of its table.
        """
        return self.why_not_used(partition.claimed_location, own) or self.why_not_copyable(partition.storage)

    def require_location(self, about: object, text: str) -> None:
        """Refuse a location that is on no file system of the cluster; an empty one is left to who needs it.

        Raises:
            ForeignLocation: with what to do.
        """
        if text and (why := self.why_not_stored(text)):
            raise ForeignLocation(about=str(about), detail=why)

    def require_copyable(self, table: Table) -> None:
        """Refuse a table with an address in its parameters, or in its query, that is on no file system of the cluster.

        Its location is not looked at: a copy gets another one.

        Raises:
            ForeignLocation: with what to do.
        """
        queries = (table.view_original, table.view_expanded)
        found = (*_in_parameters(table.parameters), *(each for query in queries for each in _in_query(query or "")))
        why = self._why_foreign(found) or self.why_not_copyable(table.storage)
        if why:
            raise ForeignLocation(about=str(table.name), detail=why)

    def why_not_copyable(self, storage: StorageDescriptor) -> str:
        """Return which address among the parameters of a storage descriptor is on no file system of the cluster."""
        of_serde = {key: each for key, each in storage.serde.parameters.items() if key.lower() != _SPARK_PATH}
        return self._why_foreign((*_in_parameters(storage.parameters), *_in_parameters(of_serde)))

    def _why_foreign(self, found: tuple[tuple[str, str], ...]) -> str:
        reports = ((what, self.why_not_stored(text)) for what, text in found)
        return next((f"{what}: {why}" for what, why in reports if why), "")


def _in_parameters(parameters: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in parameters.items():
        if _PATH_KEY.fullmatch(key) and _ADDRESS.match(value.strip()):
            yield f"the parameter {key}", value.strip()


def _in_query(query: str) -> Iterator[tuple[str, str]]:
    return (("its query", found["name"] or found["text"]) for found in _IN_QUERY.finditer(query))


def _is_in(place: CanonicalPath, directory: CanonicalPath) -> bool:
    """Return whether a place is a directory or below it, where HDFS and WebHDFS of one host are one store."""
    if {place.scheme, directory.scheme} <= _HDFS and place.scheme != directory.scheme:
        place = replace(place, scheme=directory.scheme, authority=_host(place))
        directory = replace(directory, authority=_host(directory))
    return place == directory or place.is_within(directory)


def _host(place: CanonicalPath) -> str:
    return place.authority.rpartition(":")[0] or place.authority


def _shown(place: CanonicalPath) -> str:
    text = str(place)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _local_hint(place: CanonicalPath, cluster: Cluster) -> str:
    if place.is_local and not cluster.place("/").is_local:
        return " (local files are used only where the cluster's own file system is local)"
    return ""
