"""Input fingerprints: what each input of a run was when it was read, so that data that came later shows (DESIGN 6)."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from toolkit.el import at_microseconds, microseconds_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.tables import input_fingerprint

LISTED_FILES = 10_000
"""An instance of more files keeps no listing: that it changed is known then, and not which file did."""


class ListedFile(NamedTuple):
    """A file of an instance.

    Attributes:
        name: below the instance, in whatever way its lister names files; always the same way.
        size: bytes.
        modified: the last change, UTC.
    """

    name: str
    size: int
    modified: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Fingerprint:
    """Fingerprint of an instance's files; equal digests mean equal files.

    Attributes:
        files: how many there were; 0: the instance was not there, or empty.
        size: bytes of all files.
        newest_at: the last change of a file; None: there was none.
        digest: of names, sizes and changes.
        listing: what `changes` reads; None: there were more than `LISTED_FILES`.
    """

    files: int
    size: int
    newest_at: datetime | None
    digest: str
    listing: bytes | None

    @classmethod
    def of(cls, files: Iterable[ListedFile]) -> Fingerprint:
        """The fingerprint of files, in whatever order they were listed."""
        listed = sorted((each.name, each.size, microseconds_of(each.modified)) for each in files)
        digest = hashlib.sha256()
        for name, size, changed in listed:
            digest.update(b"%b\0%d\0%d\0" % (name.encode("utf-8", "surrogateescape"), size, changed))
        return cls(
            files=len(listed),
            size=sum(size for _, size, _ in listed),
            newest_at=at_microseconds(max(changed for _, _, changed in listed)) if listed else None,
            digest=digest.hexdigest(),
            listing=zlib.compress(json.dumps(listed).encode()) if len(listed) <= LISTED_FILES else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class InputChanges:
    """The files by which two fingerprints differ, by name, sorted."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def changes(before: Fingerprint, after: Fingerprint) -> InputChanges | None:
    """Return the files that came, changed and went; None: one of the two has no listing, only digests."""
    if before.listing is None or after.listing is None:
        return None
    old, new = _listed(before.listing), _listed(after.listing)
    return InputChanges(
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(name for name in new.keys() & old.keys() if new[name] != old[name])),
        removed=tuple(sorted(old.keys() - new.keys())),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadInput:
    """An instance that an input of a process means, as a run read it.

    Attributes:
        input: the name of the input in the process.
        feed: the feed.
        cluster: where.
        instance_key: which instance of the feed.
        uri: where the data is.
        looked_at: when its files were listed, which is before they were read.
        fingerprint: of the files.
    """

    input: str
    feed: str
    cluster: str
    instance_key: str
    uri: str
    looked_at: datetime
    fingerprint: Fingerprint


_PRINT = tuple(each.name for each in fields(Fingerprint))
_INPUT = tuple(each.name for each in fields(ReadInput) if each.name != "fingerprint")
_COLUMNS = [input_fingerprint.c[name] for name in (*_INPUT, *_PRINT)]


def write(tx: Transaction, run_id: int, inputs: Sequence[ReadInput]) -> None:
    """Keep what a run reads; each instance of each input once."""
    if inputs:
        tx.execute(sa.insert(input_fingerprint), [{"run_id": run_id, **_row(each)} for each in inputs])


def keep(tx: Transaction, run_id: int, earlier_run_id: int) -> None:
    """Let a run that goes on in the middle have what the attempt before it had read.

    Its first steps, which read the inputs, do not run again. What it has a fingerprint of already it keeps.
    """
    earlier, own = input_fingerprint.alias("earlier"), input_fingerprint
    same = (own.c.input == earlier.c.input) & (own.c.instance_key == earlier.c.instance_key)
    is_known = sa.exists().where(own.c.run_id == run_id, same).correlate(earlier)
    names = [each.name for each in _COLUMNS]
    rows = sa.select(sa.literal(run_id, own.c.run_id.type), *(earlier.c[name] for name in names))
    rows = rows.where(earlier.c.run_id == earlier_run_id, ~is_known)
    tx.execute(sa.insert(own).from_select(["run_id", *names], rows))


def of_runs(tx: Transaction, run_ids: Sequence[int]) -> dict[int, list[ReadInput]]:
    """Return the inputs that runs have read, by run, input and instance; a run without any is left out."""
    found: dict[int, list[ReadInput]] = {}
    for chunk in in_chunks(run_ids):
        of_chunk = sa.select(input_fingerprint.c.run_id, *_COLUMNS).where(input_fingerprint.c.run_id.in_(chunk))
        order = (input_fingerprint.c.run_id, input_fingerprint.c.input, input_fingerprint.c.instance_key)
        for row in tx.execute(of_chunk.order_by(*order)).mappings():
            found.setdefault(row["run_id"], []).append(_read_input(row))
    return found


def _row(read: ReadInput) -> dict[str, object]:
    of_input = {name: getattr(read, name) for name in _INPUT}
    return {**of_input, **{name: getattr(read.fingerprint, name) for name in _PRINT}}


def _read_input(row: sa.RowMapping) -> ReadInput:
    of_files = Fingerprint(**{name: row[name] for name in _PRINT})
    return ReadInput(**{name: row[name] for name in _INPUT}, fingerprint=of_files)


def _listed(listing: bytes) -> Mapping[str, tuple[int, int]]:
    return {name: (size, changed) for name, size, changed in json.loads(zlib.decompress(listing))}
