"""Writing an export: the data of partitions, then the manifest, and ``_metadata`` last."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.actions.progress import Volume
from toolkit.availability import is_there
from toolkit.hive.batches import in_batches
from toolkit.hive.contents import Contents, TablePart
from toolkit.hive.layout import (
    DATA,
    MANIFEST,
    MARK,
    METADATA,
    ExportedPart,
    Manifest,
    NoExport,
    NotOurs,
    data_of,
    read_manifest,
    require_ours,
    ways_to,
)
from toolkit.hive.metadata import metadata_text
from toolkit.hive.taken_places import remove_wholly
from toolkit.hive.targets import TableDetail, TableItem, TablePlan, TableStep
from toolkit.storage import OWN_PREFIX, FileKind
from toolkit.transfer.publication import remove
from toolkit.transfer.trees import below, read_tree

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.hive.copies import Digests, PartCopies
    from toolkit.storage import FileSystem


def planned(blank: TablePlan, contents: Contents, directory: CanonicalPath, work: RunContext) -> TablePlan:
    """Return the plan of an export of a table's contents.

    Raises:
        NotOurs: something else is in its directory, or it would lie in the table's data, or in another export.
        SymlinkRefused: the directory is a symbolic link, or one is in it.
        StorageError: the directory cannot be read.
    """
    target, system = blank.target, work.stores(directory)
    _require_apart(contents, directory)
    if is_there(system, directory.parent.child(MARK)):
        raise NotOurs(path=directory, detail=f"{directory.parent} is an export itself")
    if contents.broken:
        return replace(blank, failed=next(iter(contents.broken.values())))
    written = _written(system, directory, contents, work) if require_ours(system, directory) else None
    manifest = None if written is None else _manifest(system, directory)
    kept = {part.name: told for part in contents.parts if (told := _kept(part, manifest, written or {}))}
    items = [
        TableItem(
            instance_key=target.instance_key,
            step=TableStep.EXPORT,
            table=target.table,
            place=data_of(directory, part.name),
            part=part,
        )
        for part in contents.parts
        if part.name not in kept
    ]
    is_same = manifest is not None and not items and manifest.parts.keys() == kept.keys()
    detail = TableDetail(kept=len(kept), contents=contents, root=directory, kept_parts=kept)
    if is_same and _describes(system, directory, contents):
        return replace(blank, detail=detail)
    finish = TableItem(
        instance_key=target.instance_key, step=TableStep.FINISH, table=target.table, place=directory.child(METADATA)
    )
    volume = Volume(files=sum(item.files for item in items), bytes=sum(item.bytes for item in items))
    return replace(blank, items=tuple(in_batches([*items, finish])), volume=volume, detail=detail)


def _require_apart(contents: Contents, directory: CanonicalPath) -> None:
    for part in contents.parts:
        if directory == part.place or directory.is_within(part.place) or part.place.is_within(directory):
            raise NotOurs(path=directory, detail=f"it overlaps with the data in {part.place}")


def _written(
    system: FileSystem, directory: CanonicalPath, contents: Contents, work: RunContext
) -> dict[str, dict[str, int]]:
    """The sizes of the files that are in an export, by their partitions.

    Raises:
        SymlinkRefused: a symbolic link is among them: what it points to is nobody's to write to, or to remove.
        StorageError: they cannot be listed.
    """
    found: dict[str, dict[str, int]] = {part.name or DATA: {} for part in contents.parts}
    tree = read_tree(system, directory, work.guard.run.check, directories=False) or {}
    for name, entry in tree.items():
        for above in ways_to(name.rpartition("/")[0]):
            if above in found and entry.kind is FileKind.FILE:
                found[above][name.removeprefix(f"{above}/")] = entry.size
    return found


def _manifest(system: FileSystem, directory: CanonicalPath) -> Manifest | None:
    """Return the manifest of our own export; None: there is none, so everything is written again."""
    try:
        return read_manifest(system, directory) if is_there(system, directory.child(METADATA)) else None
    except NoExport:
        return None


def _kept(part: TablePart, manifest: Manifest | None, written: Mapping[str, Mapping[str, int]]) -> ExportedPart | None:
    """Return the part of a partition that the export has already; None: it has to be copied."""
    told = None if manifest is None else manifest.parts.get(part.name)
    if told is None or told.source != part.fingerprint:
        return None
    sizes = {name: size for name, (size, _) in told.files.items()}
    return told if sizes == written[part.name or DATA] else None


def _metadata_of(contents: Contents) -> bytes:
    return metadata_text(contents.table, [part.partition for part in contents.parts if part.partition is not None])


def _describes(system: FileSystem, directory: CanonicalPath, contents: Contents) -> bool:
    """Whether ``_metadata`` is what would be written: neither of another table, nor cut, nor changed."""
    text = _metadata_of(contents)
    with system.read(directory.child(METADATA), length=len(text) + 1) as stream:
        return stream.read() == text


@dataclass(frozen=True, kw_only=True)
class ExportWriter:
    """Writes one export.

    Attributes:
        plan: of the export.
        work: of its run.
        copies: copies partitions.
        moved: see `LandingWorker`.
        written: what was copied, by the names of the partitions; grows.
    """

    plan: TablePlan
    work: RunContext
    copies: PartCopies
    moved: Callable[[Collection[str]], frozenset[str]]
    written: dict[str, ExportedPart]

    @property
    def directory(self) -> CanonicalPath:
        """The directory of the export."""
        assert self.plan.detail.root is not None  # noqa: S101 - a plan with items has one
        return self.plan.detail.root

    @property
    def _system(self) -> FileSystem:
        return self.work.stores(self.directory)

    def begin(self) -> None:
        """From now on the directory is ours, and no whole export; what a killed run was writing there goes.

        Raises:
            StorageError: it is somebody else's by now, or cannot be written.
        """
        require_ours(self._system, self.directory)
        self._system.mkdirs(self.directory)
        self._system.write(self.directory.child(MARK), [b""])
        remove(self._system, self.directory.child(METADATA), self.directory)
        for name in [entry.name for entry in self._system.list(self.directory)]:
            if name.startswith(OWN_PREFIX) and name != MARK:
                remove(self._system, self.directory.child(name), self.directory)

    def copy(self, items: Sequence[TableItem]) -> dict[CanonicalPath, Digests | Problem]:
        """Copy partitions; what an earlier run left of them goes first.

        Raises:
            StorageError: that cannot be removed.
            StopRequested: the work was called off.
            Unavailable: the executors were lost.
        """
        parts = {item.place: item.part for item in items if item.part is not None}
        for place in parts:
            remove_wholly(self._system, place, self.directory)
        told = self.copies.copy(parts)
        for place, part in parts.items():
            digests = told[place]
            if not isinstance(digests, Problem):
                files = {name: (size, digests[name]) for name, size in part.files.items()}
                self.written[part.name] = ExportedPart(source=part.fingerprint, files=files)
        return told

    def finish(self) -> None:
        """Remove what belongs to no partition any more, write the manifest, and ``_metadata`` last.

        Raises:
            NoExport: a partition failed, or was altered, or something wrote to it meanwhile, so that this is none.
        CatalogError: the metastore cannot tell.
            StorageError: it cannot be written.
        """
        contents = self.plan.detail.contents
        parts = {**self.plan.detail.kept_parts, **self.written}
        if contents is None or len(parts) != len(contents.parts):
            raise NoExport(path=self.directory, detail="not all of its partitions could be copied")
        moved = self.moved(list(parts))
        if moved:
            detail = f"{min(moved) or 'the table'} was altered, dropped or made anew meanwhile; run again"
            raise NoExport(path=self.directory, detail=detail)
        self._sweep({name or DATA for name in parts})
        self._require_whole(parts)
        text = _metadata_of(contents)
        manifest = Manifest(description=hashlib.sha256(text).hexdigest(), parts=parts)
        self._system.write(self.directory.child(MANIFEST), [manifest.encoded()])
        self._system.write(self.directory.child(METADATA), [text])

    def _sweep(self, names: set[str]) -> None:
        """Only what is in our own export, and neither in a partition's directory nor has one in it."""
        around = {above for name in names for above in ways_to(name)} - names
        for name in sorted(self._listed()):
            above = name.rpartition("/")[0]
            if names.isdisjoint(ways_to(above)):
                remove(self._system, below(self.directory, name if above in around else above), self.directory)

    def _require_whole(self, parts: Mapping[str, ExportedPart]) -> None:
        expected = {
            f"{name or DATA}/{file}": size for name, part in parts.items() for file, (size, _) in part.files.items()
        }
        found = self._listed()
        wrong = sorted(found.items() ^ expected.items())
        if wrong:
            name = wrong[0][0]
            detail = f"{name} has {found.get(name, 'no')} bytes, expected {expected.get(name, 'no')}; run again"
            raise NoExport(path=self.directory, detail=detail)

    def _listed(self) -> dict[str, int]:
        """The sizes of the files in its directories; none of it is a partition's but them."""
        found = read_tree(self._system, self.directory, self.work.guard.check, directories=False) or {}
        return {name: entry.size for name, entry in found.items() if "/" in name}
