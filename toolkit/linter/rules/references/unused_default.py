"""Every value of a defaults.yaml reaches an entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

from toolkit.entities import Document, Pointer, Value
from toolkit.entities.entity_loading import Entry
from toolkit.entities.layers import Layer
from toolkit.entities.parsing import parse_files, part_of
from toolkit.entities.source_files import DEFAULTS_NAME, entity_kind
from toolkit.entities.vocabulary import Kind
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


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


def _check(context: LintContext) -> Iterator[Hit]:
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


def _entries(context: LintContext) -> dict[tuple[str, Kind], list[Entry]]:
    """The entities by the defaults that they are merged from."""
    found: dict[tuple[str, Kind], list[Entry]] = {}
    for _, entry in sorted(context.repository.entries.items()):
        for layer in entry.layers:
            if layer.file.rpartition("/")[2] == DEFAULTS_NAME:
                found.setdefault((layer.file, entry.kind), []).append(entry)
    return found


def _any_file(files: Mapping[str, bytes], part: _Defaults) -> bool:
    return _count(files, part) > 0


def _count(files: Mapping[str, bytes], part: _Defaults) -> int:
    """How many files the defaults hold for; a file that cannot be read may use all of them."""
    return sum(1 for file in files if file.startswith(part.folder) and entity_kind(file) is part.kind)


def _unused(part: _Defaults, entries: list[Entry]) -> list[Pointer]:
    """The values that every entity below has from somewhere nearer."""
    left = list(_values(part.values))
    for entry in entries:
        nearer = _nearer(entry, part)
        left = [pointer for pointer in left if any(_gives(layer.document, pointer) for layer in nearer)]
        if not left:
            break
    return left


def _values(value: Document, prefix: Pointer = ()) -> Iterator[Pointer]:
    """What stands for itself in merging: scalars and plain lists; lists of named items are merged by name."""
    for key, each in value.items():
        if isinstance(each, Mapping):
            yield from _values(each, (*prefix, key))
        elif each is not None and not _is_merged(each):
            yield (*prefix, key)


def _is_merged(value: Value) -> bool:
    return isinstance(value, list) and any(isinstance(item, Mapping) for item in value)


def _nearer(entry: Entry, part: _Defaults) -> list[Layer]:
    """The layers that are laid over these defaults."""
    return list(takewhile(lambda layer: layer.file != part.file, reversed(entry.layers)))


def _gives(document: Value, pointer: Pointer) -> bool:
    """Whether a layer has a value of its own there, or removes what is there."""
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


def _overridden(part: _Defaults, pointer: Pointer, entries: list[Entry]) -> Hit:
    count = len(entries)
    whose = entries[0].name if count == 1 else f"all {count} below"
    gives = "has" if count == 1 else "have"
    return Hit(
        subject=part.file,
        pointer=(str(part.kind), *pointer),
        message=f"the default {'.'.join(map(str, pointer))} is used by no {part.kind}: {whose} {gives} another value",
        hint="remove it here, or there",
        on_key=True,
    )


RULE = Rule(
    id="unused-default",
    name="Every value of a defaults.yaml reaches an entity",
    severity=Severity.WARNING,
    rationale=(
        "A default that no entity takes looks as if it did something: whoever changes it expects an effect. Either "
        "the folder has no entity of that kind, or all of them, nearer defaults or the environment have their own "
        "value."
    ),
    bad="""\
# processes/defaults.yaml, a folder that has no feeds
feed: {owner: web-analytics@example.com}
""",
    good="""\
# feeds/defaults.yaml
feed: {owner: web-analytics@example.com}
""",
    source="DESIGN section 4",
    check=_check,
)
