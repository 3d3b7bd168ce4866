"""Manifests: the files of what was published last at a target, so that one can tell later what they were (ADR 0034)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeAlias

import sqlalchemy as sa

from toolkit.el import at_microseconds, microseconds_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.route_keys import CopyRoute
from toolkit.ledger.statements import InsertOr, given
from toolkit.ledger.tables import manifest


class ManifestFile(NamedTuple):
    """A file as it was published.

    Attributes:
        size: bytes.
        digest: of them, in hexadecimal; empty: they were not read when it was published.
        modified: the last change at the source, UTC; None: it did not come from there.
    """

    size: int
    digest: str = ""
    modified: datetime | None = None


Manifest: TypeAlias = Mapping[str, ManifestFile]
"""The files of a unit, by their names below it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitKey:
    """Key of a unit that was published at once.

    Attributes:
        feed: the feed.
        cluster: the target.
        instance_key: which instance.
        counterpart: the source.
        path: of the unit at the target, as `path_text` writes it.
    """

    feed: str
    cluster: str
    instance_key: str
    counterpart: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PackedManifest:
    """A manifest as the ledger keeps it; packing 100,000 files takes a second, for which no transaction should last.

    Attributes:
        files: how many.
        size: bytes in them.
        content: compressed.
    """

    files: int
    size: int
    content: bytes

    @classmethod
    def of(cls, files: Manifest) -> PackedManifest:
        """The same files."""
        return cls(files=len(files), size=sum(each.size for each in files.values()), content=_packed(files))


def replace(tx: Transaction, run_id: int, key: UnitKey, found: PackedManifest) -> None:
    """Keep what a run published instead of what was known of the unit before."""
    values = {"run_id": run_id, "files": found.files, "bytes": found.size, "content": found.content}
    tx.execute(_REPLACED, {**_columns(key), **values})


def forget_unit(tx: Transaction, key: UnitKey) -> None:
    """Delete the manifest of a unit whose content has become unknown."""
    tx.execute(_FORGOTTEN, _columns(key))


_KEY = tuple(manifest.primary_key.columns)
_NEW_VALUES = ", ".join(f"{each.name} = excluded.{each.name}" for each in manifest.c if not each.primary_key)
_REPLACED = InsertOr(manifest, f"({', '.join(each.name for each in _KEY)}) DO UPDATE SET {_NEW_VALUES}")
_FORGOTTEN = sa.delete(manifest).where(*(each == given(each) for each in _KEY))


def forget(tx: Transaction, feed: str, cluster: str, instance_keys: Sequence[str]) -> None:
    """Instances are gone from a cluster."""
    of_feed = (manifest.c.feed == feed) & (manifest.c.cluster == cluster)
    for keys in in_chunks(instance_keys):
        tx.execute(sa.delete(manifest).where(of_feed, manifest.c.instance_key.in_(keys)))


def of_instance(tx: Transaction, feed: str, cluster: str, instance_key: str, counterpart: str) -> dict[str, Manifest]:
    """Return the manifests of an instance's units from one source, by path."""
    wanted = {"feed": feed, "cluster": cluster, "instance_key": instance_key, "counterpart": counterpart}
    where = [manifest.c[name] == value for name, value in wanted.items()]
    rows = tx.execute(sa.select(manifest.c.path, manifest.c.content).where(*where).order_by(manifest.c.path))
    return {path: _unpacked(content) for path, content in rows}


def known_among(tx: Transaction, *, route: CopyRoute, keys: Collection[str]) -> frozenset[str]:
    """Return the instances among these of which anything that came by a route is known."""
    wanted = {"feed": route.feed, "cluster": route.target, "counterpart": route.source}
    where = [manifest.c[name] == value for name, value in wanted.items()]
    named = sa.select(manifest.c.instance_key.distinct()).where(*where)
    found = (tx.execute(named.where(manifest.c.instance_key.in_(chunk))).scalars() for chunk in in_chunks(keys))
    return frozenset(key for chunk in found for key in chunk)


def sizes_among(tx: Transaction, *, route: CopyRoute, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return how many files, and bytes in them, came by a route, for each of the instances of which it is known."""
    wanted = {"feed": route.feed, "cluster": route.target, "counterpart": route.source}
    where = [manifest.c[name] == value for name, value in wanted.items()]
    sums = (sa.func.sum(manifest.c.files), sa.func.sum(manifest.c.bytes))
    known = sa.select(manifest.c.instance_key, *sums).where(*where).group_by(manifest.c.instance_key)
    found = (tx.execute(known.where(manifest.c.instance_key.in_(chunk))) for chunk in in_chunks(keys))
    return {key: (int(files), int(size)) for rows in found for key, files, size in rows}


def instance_keys(tx: Transaction, feed: str, cluster: str, counterpart: str) -> frozenset[str]:
    """The instances that came from a source to a target of which anything is known."""
    wanted = {"feed": feed, "cluster": cluster, "counterpart": counterpart}
    where = [manifest.c[name] == value for name, value in wanted.items()]
    return frozenset(tx.execute(sa.select(manifest.c.instance_key.distinct()).where(*where)).scalars())


def _columns(key: UnitKey) -> dict[str, str]:
    return {name: getattr(key, name) for name in UnitKey.__slots__}


def _packed(files: Manifest) -> bytes:
    """JSON writes what is no Unicode in a name, too, and reads it back."""
    rows = [
        (name, size, digest, None if modified is None else microseconds_of(modified))
        for name, (size, digest, modified) in sorted(files.items())
    ]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode("ascii"), level=6)


def _unpacked(content: bytes) -> Manifest:
    rows = json.loads(zlib.decompress(content))
    return {
        name: ManifestFile(size, digest, None if number is None else at_microseconds(number))
        for name, size, digest, number in rows
    }
