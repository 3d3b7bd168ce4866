"""Export of a table: the data of its partitions, then the manifest, and ``_metadata`` last."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.model import Problem
from toolkit.actions.progress import Volume
from toolkit.actions.publication import remove, remove_wholly
from toolkit.availability import is_there
from toolkit.catalog.export_metadata import METADATA, metadata_text
from toolkit.hive.batches import Mode, Unregistered, in_batches, result_of
from toolkit.hive.errors import NoExport, NotOurs
from toolkit.hive.export_layout import (
    DATA,
    MANIFEST,
    MARK,
    ExportedPart,
    Manifest,
    data_of,
    paths_to,
    read_manifest,
    require_ours,
)
from toolkit.hive.targets import TableDetail, TableItem, TableStep
from toolkit.storage import OWN_PREFIX, FileKind
from toolkit.transfer.trees import below, read_tree

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.hive.batches import Results
    from toolkit.hive.sources import Source
    from toolkit.hive.table_context import TableContext
    from toolkit.hive.table_reader import Contents, TablePart
    from toolkit.hive.targets import TablePlan
    from toolkit.ledger.runs.items import Item
    from toolkit.storage import FileSystem


@dataclass(kw_only=True)
class TableExport(Mode):
    """Mode of an export: from a metastore to a directory.

    Attributes:
        source: the tables.
        context: of the plan.
    """

    source: Source
    context: TableContext
    _copied: dict[str, ExportedPart] = field(default_factory=dict, init=False)
    _has_begun: bool = field(default=False, init=False)

    @property
    @override
    def bases(self) -> tuple[CanonicalPath, ...]:
        return (self._directory,)

    @override
    def recover(self, left: Sequence[Item]) -> Unregistered:
        """Leave everything as it is: an export without its ``_metadata`` is written anew."""
        del left
        return Unregistered()

    @override
    def planned(self) -> TablePlan:
        """Return the plan.

        Raises:
            NotOurs: something else is in the directory, or it would lie in the table's data, or in another export.
            SymlinkRefused: the directory is a symbolic link, or one is in it.
        """
        blank, directory = self.context.plan, self._directory
        contents = self.source.contents(blank.target, self.context.work)
        _require_apart(contents, directory)
        if is_there(self._system, directory.parent.child(MARK)):
            raise NotOurs(path=directory, detail=f"{directory.parent} is an export itself")
        if contents.broken:
            return replace(blank, failed=next(iter(contents.broken.values())))
        written = self._written(contents) if require_ours(self._system, directory) else None
        manifest = None if written is None else self._manifest()
        found = {part.name: _kept(part, manifest, written or {}) for part in contents.parts}
        kept = {name: part for name, part in found.items() if part is not None}
        items = [
            blank.target.item(TableStep.EXPORT, data_of(directory, part.name), part)
            for part in contents.parts
            if part.name not in kept
        ]
        is_same = manifest is not None and not items and manifest.parts.keys() == kept.keys()
        detail = TableDetail(kept=len(kept), contents=contents, root=directory, kept_parts=kept)
        if is_same and self._describes(contents):
            return replace(blank, detail=detail)
        finish = blank.target.item(TableStep.FINISH, directory.child(METADATA))
        volume = Volume(files=sum(item.files for item in items), bytes=sum(item.bytes for item in items))
        return replace(blank, items=tuple(in_batches([*items, finish])), volume=volume, detail=detail)

    @property
    def _directory(self) -> CanonicalPath:
        assert self.context.target.directory is not None  # noqa: S101 - of every export
        return self.context.target.directory

    @property
    def _system(self) -> FileSystem:
        return self.context.work.stores(self._directory)

    def _written(self, contents: Contents) -> dict[str, dict[str, int]]:
        """Return the sizes of the files that are in the export, by their partitions.

        Raises:
            SymlinkRefused: a symbolic link is among them: what it points to must not be written or removed.
            StorageError: they cannot be listed.
        """
        found: dict[str, dict[str, int]] = {part.name or DATA: {} for part in contents.parts}
        check = self.context.work.guard.run.check
        tree = read_tree(self._system, self._directory, check, directories=False) or {}
        for name, entry in tree.items():
            for above in paths_to(name.rpartition("/")[0]):
                if above in found and entry.kind is FileKind.FILE:
                    found[above][name.removeprefix(f"{above}/")] = entry.size
        return found

    def _manifest(self) -> Manifest | None:
        """Return the manifest of our own export; None: there is none, so everything is written again."""
        is_whole = is_there(self._system, self._directory.child(METADATA))
        try:
            return read_manifest(self._system, self._directory) if is_whole else None
        except NoExport:
            return None

    def _describes(self, contents: Contents) -> bool:
        """Return whether ``_metadata`` is what would be written: neither of another table, nor cut, nor changed."""
        text = _metadata_of(contents)
        with self._system.read(self._directory.child(METADATA), length=len(text) + 1) as stream:
            return stream.read() == text

    @override
    def apply(self, items: Sequence[TableItem], results: Results) -> Sequence[str]:
        if not self._has_begun:
            self._begin()
            self._has_begun = True
        if items[0].step is TableStep.FINISH:
            self._finish()
            results |= {item: result_of(item, None) for item in items}
        else:
            self._copy(items, results)
        return ()

    def _begin(self) -> None:
        """Mark the directory as ours and as no whole export, and remove what a killed run was writing there.

        Raises:
            StorageError: it belongs to another writer by now, or cannot be written.
        """
        require_ours(self._system, self._directory)
        self._system.mkdirs(self._directory)
        self._system.write(self._directory.child(MARK), [b""])
        remove(self._system, self._directory.child(METADATA), self._directory)
        for name in [entry.name for entry in self._system.list(self._directory)]:
            if name.startswith(OWN_PREFIX) and name != MARK:
                remove(self._system, self._directory.child(name), self._directory)

    def _copy(self, items: Sequence[TableItem], results: Results) -> None:
        """Copy partitions; what an earlier run left of them goes first."""
        parts = {item.place: item.part for item in items if item.part is not None}
        for place in parts:
            remove_wholly(self._system, place, self._directory)
        outcomes = self.context.copy(parts)
        for item in items:
            outcome, part = outcomes[item.place], parts[item.place]
            if isinstance(outcome, Problem):
                results[item] = result_of(item, outcome)
                continue
            files = {name: (size, outcome[name]) for name, size in part.files.items()}
            self._copied[part.name] = ExportedPart(source=part.fingerprint, files=files)
            results[item] = result_of(item, None)

    def _finish(self) -> None:
        """Remove what belongs to no partition any more, write the manifest, and ``_metadata`` last.

        Raises:
            NoExport: a partition failed, or was altered, or something wrote to it meanwhile, so that this is none.
            CatalogError: the metastore cannot tell.
            StorageError: it cannot be written.
        """
        contents, parts = self.context.contents, {**self.context.plan.detail.kept_parts, **self._copied}
        if len(parts) != len(contents.parts):
            raise NoExport(path=self._directory, detail="not all of its partitions could be copied")
        changed = self.source.changed(contents, list(parts), self.context.work)
        if changed:
            detail = f"{min(changed) or 'the table'} was altered, dropped or made anew meanwhile; run again"
            raise NoExport(path=self._directory, detail=detail)
        self._require_whole(parts, self._swept({name or DATA for name in parts}))
        text = _metadata_of(contents)
        manifest = Manifest(description=hashlib.sha256(text).hexdigest(), parts=parts)
        self._system.write(self._directory.child(MANIFEST), [manifest.encoded()])
        self._system.write(self._directory.child(METADATA), [text])

    def _swept(self, names: set[str]) -> dict[str, int]:
        """Remove what is in our own export, and neither in a partition's directory nor has one in it.

        Returns:
            The sizes of the files in the directories of the export, listed after the last removal.
        """
        around = {above for name in names for above in paths_to(name)} - names
        listed = self._listed()
        others = [name for name in sorted(listed) if names.isdisjoint(paths_to(name.rpartition("/")[0]))]
        for name in others:
            above = name.rpartition("/")[0]
            place = below(self._directory, name if above in around else above)
            remove(self._system, place, self._directory)
        return self._listed() if others else listed

    def _require_whole(self, parts: Mapping[str, ExportedPart], found: Mapping[str, int]) -> None:
        expected = {
            f"{name or DATA}/{file}": size for name, part in parts.items() for file, (size, _) in part.files.items()
        }
        wrong = sorted(found.items() ^ expected.items())
        if wrong:
            name = wrong[0][0]
            detail = f"{name} has {found.get(name, 'no')} bytes, expected {expected.get(name, 'no')}; run again"
            raise NoExport(path=self._directory, detail=detail)

    def _listed(self) -> dict[str, int]:
        """Return the sizes of the files in its directories; none of it is a partition's but them."""
        check = self.context.work.guard.check
        found = read_tree(self._system, self._directory, check, directories=False) or {}
        return {name: entry.size for name, entry in found.items() if "/" in name}


def _require_apart(contents: Contents, directory: CanonicalPath) -> None:
    for part in contents.parts:
        if directory.meets(part.place):
            raise NotOurs(path=directory, detail=f"it overlaps with the data in {part.place}")


def _kept(part: TablePart, manifest: Manifest | None, written: Mapping[str, Mapping[str, int]]) -> ExportedPart | None:
    """Return the part of a partition that the export has already; None: it has to be copied."""
    own = None if manifest is None else manifest.parts.get(part.name)
    if own is None or own.source != part.fingerprint:
        return None
    sizes = {name: size for name, (size, _) in own.files.items()}
    return own if sizes == written[part.name or DATA] else None


def _metadata_of(contents: Contents) -> bytes:
    return metadata_text(contents.table, [part.partition for part in contents.parts if part.partition is not None])
