"""Rules about what has no effect: defaults, holds, partitions of tables, entities that no command reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

from toolkit.el import format_instant
from toolkit.entities import Document, Feed, FeedCluster, Hold, Pointer, Value
from toolkit.entities.entity_loading import EntityEntry
from toolkit.entities.layers import Layer
from toolkit.entities.parsing import parse_files, part_of
from toolkit.entities.source_files import DEFAULTS_NAME, HOLDS_FILE, REPO_FILE, SUFFIX, entity_kind, misnamed_files
from toolkit.entities.vocabulary import Kind
from toolkit.linter.findings import Hit, Severity, TextPlace
from toolkit.linter.rule import Check, LintContext


@dataclass(frozen=True, kw_only=True, slots=True)
class _Defaults:
    """The part of a defaults file for one kind."""

    file: str
    kind: Kind
    values: Document

    @property
    def folder(self) -> str:
        """The folder that it holds for, with a slash at its end; empty: the whole repo."""
        return self.file.removesuffix(DEFAULTS_NAME)


def unused_default(context: LintContext) -> Iterator[Hit]:
    """Every value of a defaults.yaml reaches an entity."""
    below = _entries(context)
    for part in _parts(context.snapshot.files):
        entries = below.get((part.file, part.kind), [])
        if not entries and not _any_file(context.snapshot.files, part):
            yield _nothing_below(part)
        elif entries and len(entries) == _count(context.snapshot.files, part):
            yield from (_overridden(part, pointer, entries) for pointer in _unused(part, entries))


def _parts(files: Mapping[str, bytes]) -> Iterator[_Defaults]:
    found = {file: data for file, data in files.items() if file.rpartition("/")[2] == DEFAULTS_NAME}
    for file, layer in sorted(parse_files(found).documents.items()):
        for kind in Kind:
            part = part_of(layer, (str(kind),))
            if part is not None and part.document:
                yield _Defaults(file=file, kind=kind, values=part.document)


def _entries(context: LintContext) -> dict[tuple[str, Kind], list[EntityEntry]]:
    """The entities by the defaults that they are merged from."""
    found: dict[tuple[str, Kind], list[EntityEntry]] = {}
    repository = context.repository
    for _, entry in (*sorted(repository.entries.items()), *sorted(repository.mirrors.items())):
        for layer in entry.layers:
            if layer.file.rpartition("/")[2] == DEFAULTS_NAME:
                found.setdefault((layer.file, entry.kind), []).append(entry)
    return found


def _any_file(files: Mapping[str, bytes], part: _Defaults) -> bool:
    return _count(files, part) > 0


def _count(files: Mapping[str, bytes], part: _Defaults) -> int:
    """Return the number of files that the defaults hold for; a file that cannot be read may use all of them."""
    return sum(1 for file in files if file.startswith(part.folder) and entity_kind(file) is part.kind)


def _unused(part: _Defaults, entries: list[EntityEntry]) -> list[Pointer]:
    """The values that every entity below has from somewhere nearer."""
    left = list(_values(part.values))
    for entry in entries:
        nearer = _nearer(entry, part)
        left = [pointer for pointer in left if any(_gives(layer.document, pointer) for layer in nearer)]
        if not left:
            break
    return left


def _values(value: Document, prefix: Pointer = ()) -> Iterator[Pointer]:
    """Yield the pointers of scalars and plain lists; lists of named items are merged by name."""
    for key, each in value.items():
        if isinstance(each, Mapping):
            yield from _values(each, (*prefix, key))
        elif each is not None and not _is_merged(each):
            yield (*prefix, key)


def _is_merged(value: Value) -> bool:
    return isinstance(value, list) and any(isinstance(item, Mapping) for item in value)


def _nearer(entry: EntityEntry, part: _Defaults) -> list[Layer]:
    """The layers that are laid over these defaults."""
    return list(takewhile(lambda layer: layer.file != part.file, reversed(entry.layers)))


def _gives(document: Value, pointer: Pointer) -> bool:
    """Return whether a layer has a value of its own there, or removes what is there."""
    for step in pointer:
        if not isinstance(document, Mapping):
            return True
        if not isinstance(step, str) or step not in document:
            return False
        document = document[step]
    return True


def _nothing_below(part: _Defaults) -> Hit:
    where = f"below {part.folder}" if part.folder else "in the repo"
    return Hit(
        subject=part.file,
        pointer=(str(part.kind),),
        message=f"found defaults for every {part.kind} {where}, and there is none",
        hint="remove them, or move the file to the folder that they are meant for",
        on_key=True,
    )


def _overridden(part: _Defaults, pointer: Pointer, entries: list[EntityEntry]) -> Hit:
    count = len(entries)
    owner = entries[0].name if count == 1 else f"all {count} below"
    gives = "has" if count == 1 else "have"
    return Hit(
        subject=part.file,
        pointer=(str(part.kind), *pointer),
        message=f"the default {'.'.join(map(str, pointer))} is used by no {part.kind}: {owner} {gives} another value",
        hint="remove it here, or there",
        on_key=True,
        related=tuple(each.name for each in entries),
    )


def unused_hold(context: LintContext) -> Iterator[Hit]:
    """Every hold keeps an instance that could otherwise be deleted."""
    for position, hold in enumerate(context.repository.holds):
        feed = context.repository.feeds.get(hold.feed)
        there = [each for each in feed.clusters if hold.concerns(feed.name, each.name)] if feed else []
        if feed is not None and there:
            yield from _hits(position, hold, feed, there)


def _hits(position: int, hold: Hold, feed: Feed, there: list[FeedCluster]) -> Iterator[Hit]:
    on, about = " and ".join(each.name for each in there), (feed.name,)
    if all(_is_before(hold, each) for each in there):
        first = format_instant(min(each.validity.start for each in there))
        message = f"the hold ends before the first instance of {feed.name} on {on}, {first}"
        hint = "correct its dates; a hold is [start, end)"
        yield Hit(subject=HOLDS_FILE, pointer=("holds", position, "end"), message=message, hint=hint, related=about)
    elif all(_is_after(hold, each) for each in there):
        last = format_instant(max(each.validity.end for each in there))
        message = f"the hold starts after {feed.name} ends on {on}, at {last}"
        pointer = ("holds", position, "start")
        yield Hit(subject=HOLDS_FILE, pointer=pointer, message=message, hint="correct its dates", related=about)
    elif all(each.retention is None for each in there):
        yield Hit(
            subject=HOLDS_FILE,
            pointer=("holds", position, "feed"),
            message=f"{feed.name} has no retention on {on}, so nothing deletes what the hold keeps",
            hint="leave it for the day when there is one, or remove it",
            severity=Severity.INFO,
            related=about,
        )


def _is_before(hold: Hold, each: FeedCluster) -> bool:
    return hold.end is not None and hold.end <= each.validity.start


def _is_after(hold: Hold, each: FeedCluster) -> bool:
    return hold.start is not None and hold.start >= each.validity.end


def table_partitions(context: LintContext) -> Iterator[Hit]:
    """A table feed has no list of partitions."""
    for _, feed in sorted(context.repository.feeds.items()):
        if feed.is_table and feed.partitions:
            yield Hit(
                subject=feed.name,
                pointer=("partitions",),
                message=f"found partitions {', '.join(feed.partitions)} of a table feed; its URI has its partitions",
                hint="remove them",
                on_key=True,
            )


def misplaced_entity(context: LintContext) -> Iterator[Hit]:
    """Find files of entities outside of the folders that entities are read from."""
    others = tuple(name.removesuffix(REPO_FILE) for name in context.snapshot.names if name.endswith(f"/{REPO_FILE}"))
    for file, data in sorted(context.snapshot.texts.items()):
        if file.startswith(others):
            continue  # another config repo
        found = _KIND.search(data) if file.endswith((".yaml", ".yml")) and _NAME.search(data) else None
        if found is None or file.startswith(".") or any(misnamed_files([file])):  # that is an error of loading
            continue
        kind = Kind(found["kind"].decode())
        line = data.count(b"\n", 0, found.start()) + 1
        yield Hit(
            subject=file,
            place=TextPlace(line=line, column=1, end_column=len(found[0].decode()) + 1),
            message=f"found a {kind} outside of {kind.folder}/, where no command reads it",
            hint=f"move the file to {kind.folder}/{_below_own_folder(file, kind)}",
        )


_KIND = re.compile(rb"(?m)^kind: *[\"']?(?P<kind>cluster|feed|process|datasource|mirror)(?![\w.-])")
_NAME = re.compile(rb"(?m)^name:")


def _below_own_folder(file: str, kind: Kind) -> str:
    """Return the path below the folder of the kind: `feeds/web/x.yaml` is meant by `entities/feeds/web/x.yml`."""
    parts = file.removesuffix(".yml").removesuffix(SUFFIX).split("/")
    folders = {kind.folder, str(kind)}
    at = next((at for at, part in enumerate(parts[:-1], start=1) if part.casefold() in folders), len(parts) - 1)
    return "/".join(parts[at:]) + SUFFIX


CHECKS: Mapping[str, Check] = {
    "unused-default": unused_default,
    "unused-hold": unused_hold,
    "table-partitions": table_partitions,
    "misplaced-entity": misplaced_entity,
}
