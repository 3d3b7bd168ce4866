"""Loads the entities: defaults, the file, the environment's overlay; merged, checked, made into models."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from toolkit.entities.checks import own_findings
from toolkit.entities.documents import Document
from toolkit.entities.layers import Layer, merge_layers
from toolkit.entities.parsing import OnDemand, ParsedFiles, part_of
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.repo import Environment
from toolkit.entities.schema_store import Form, SchemaName
from toolkit.entities.source_files import defaults_for, entity_kind, entity_name
from toolkit.entities.structure import Entity, structure_entity
from toolkit.entities.validation import placed, schema_findings
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityEntry:
    """An entity of the config repo.

    Attributes:
        file: where it is written.
        name: as the file is called.
        document: merged.
        entity: None when the document has problems.
    """

    file: str
    name: str
    kind: Kind
    read_layers: Callable[[], tuple[Layer, ...]] = field(repr=False)
    document: Document = field(repr=False)
    entity: Entity | None

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Return the layers that the entity is merged from, the nearest last."""
        return self.read_layers()


def load_entries(
    parsed: ParsedFiles, environment: Environment | None, overlay: Layer | None
) -> tuple[tuple[EntityEntry, ...], tuple[ConfigProblem, ...]]:
    """Every entity file as an entry, and what is wrong with them.

    Args:
        parsed: all files.
        environment: the chosen one.
        overlay: the file of the chosen environment.
    """
    sources = _Sources(parsed=parsed, overlays=_overlays(environment, overlay), defaults={})
    entries: list[EntityEntry] = []
    problems: list[ConfigProblem] = []
    for file in sorted(parsed.documents):
        kind = entity_kind(file)
        if kind is not None:
            entry, found = _load(file, kind, sources)
            entries.append(entry)
            problems.extend(found)
    return tuple(entries), tuple(problems)


def known_entries(
    parsed: ParsedFiles, environment: Environment | None, overlay: Layer | None, documents: Mapping[str, bytes]
) -> tuple[Mapping[str, EntityEntry], Callable[[str], Document]]:
    """The entries of a repo that is known to have no problem, by name, each made when it is asked for.

    Beside them comes what reads the document of a name, without an entity.

    Args:
        parsed: all files.
        environment: the chosen one.
        overlay: the file of the chosen environment.
        documents: what each entity file was merged to, as JSON; an empty one is merged again.
    """
    sources = _Sources(parsed=parsed, overlays=_overlays(environment, overlay), defaults={})
    files = {entity_name(file): (file, kind) for file in documents if (kind := entity_kind(file)) is not None}

    def document_of(name: str) -> Document:
        file, kind = files[name]
        known: Document | None = json.loads(documents[file]) if documents[file] else None
        return merge_layers(_layers(file, name, kind, sources)) if known is None else known

    def entry_of(name: str) -> EntityEntry:
        file, kind = files[name]
        read_layers, document = partial(_layers, file, name, kind, sources), document_of(name)
        entity = structure_entity(kind, document)
        return EntityEntry(file=file, name=name, kind=kind, read_layers=read_layers, document=document, entity=entity)

    return OnDemand(files, entry_of), document_of


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sources:
    parsed: ParsedFiles
    overlays: Mapping[str, Layer]
    defaults: dict[tuple[str, Kind], tuple[Layer, ...]]


def _overlays(environment: Environment | None, layer: Layer | None) -> dict[str, Layer]:
    if environment is None or layer is None:
        return {}
    found = ((name, part_of(layer, ("entities", name))) for name in environment.entities)
    return {name: part for name, part in found if part is not None}


def _load(file: str, kind: Kind, sources: _Sources) -> tuple[EntityEntry, list[ConfigProblem]]:
    name = entity_name(file)
    layers = _layers(file, name, kind, sources)
    document = merge_layers(layers)
    wrong_name = _name_findings(document, file)
    return load_entry(file, name, kind, partial(_layers, file, name, kind, sources), document, wrong_name)


def load_entry(
    file: str,
    name: str,
    kind: Kind,
    read_layers: Callable[[], tuple[Layer, ...]],
    document: Document,
    further: Iterable[Violation] = (),
) -> tuple[EntityEntry, list[ConfigProblem]]:
    """Return a merged document as an entry, and what is wrong with it and besides."""
    findings = [*schema_findings(SchemaName(kind), Form.MERGED, document), *further]
    entity = None if findings else structure_entity(kind, document)
    if entity is not None:
        findings.extend(own_findings(entity))
    usable = None if findings else entity
    entry = EntityEntry(file=file, name=name, kind=kind, read_layers=read_layers, document=document, entity=usable)
    return entry, [placed(finding, read_layers(), document) for finding in findings]


def _layers(file: str, name: str, kind: Kind, sources: _Sources) -> tuple[Layer, ...]:
    own = sources.parsed.documents[file]
    overlay = sources.overlays.get(name)
    return (*_defaults(file, kind, sources), own, *([] if overlay is None else [overlay]))


def _defaults(file: str, kind: Kind, sources: _Sources) -> tuple[Layer, ...]:
    key = (file.rpartition("/")[0], kind)
    if key not in sources.defaults:
        documents = sources.parsed.documents
        parts = (part_of(documents[each], (str(kind),)) for each in defaults_for(file) if each in documents)
        sources.defaults[key] = tuple(part for part in parts if part is not None)
    return sources.defaults[key]


def _name_findings(document: Document, file: str) -> Iterator[Violation]:
    name, wanted = document.get("name"), entity_name(file)
    if isinstance(name, str) and name != wanted:
        message = f"found the name {name!r} in {file}, expected {wanted!r}"
        yield Violation(
            pointer=("name",), rule="file-name", message=message, hint="the file of an entity has the entity's name"
        )


def duplicates(entries: Iterable[EntityEntry]) -> Iterator[ConfigProblem]:
    """Yield names that are taken: they are global, over all kinds and folders; a mirror may have an entity of its."""
    first: dict[str, EntityEntry] = {}
    for entry in entries:
        other = first.setdefault(entry.name, entry)
        if other.file != entry.file:
            finding = Violation(
                pointer=("name",),
                rule="duplicate-name",
                message=f"the name {entry.name!r} is taken by {other.file}",
                hint="names are unique over all kinds and folders",
            )
            yield replace(placed(finding, entry.layers, entry.document), other_file=other.file)
