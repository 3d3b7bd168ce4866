"""Where in which file a hit is: from a subject and a pointer to a line and columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from toolkit.config_source import Snapshot
from toolkit.entities.documents import Document
from toolkit.entities.entity_loading import Entry
from toolkit.entities.layers import Layer, Origin, merge_layers, origin
from toolkit.entities.parsing import part_of
from toolkit.entities.pointers import path_text
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import ENVIRONMENTS_FOLDER, REPO_FILE, SUFFIX
from toolkit.entities.yaml_loading import load_yaml
from toolkit.entities.yaml_location import Pointer, Span, locate
from toolkit.linter.findings import Hit
from toolkit.linter.source_text import end_on_line


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A place in a file, as a finding has it.

    Attributes:
        line: 0: the file as a whole, or a file that is not there.
        key: the pointer in words.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0
    key: str = ""


@dataclass(kw_only=True)
class Placer:
    """Finds the places of hits in one config repo, in one environment.

    Attributes:
        snapshot: the files.
        repository: what they were loaded to.
    """

    snapshot: Snapshot
    repository: Repository
    _parsed: dict[str, Layer | None] = field(default_factory=dict)

    def place(self, hit: Hit) -> Place:
        """The place of a hit; what is not there is where the value around it is, a whole entity where its name is."""
        entry = self.repository.entries.get(hit.subject)
        file = hit.subject if entry is None else entry.file
        document, found = self._in_file(hit) if entry is None else _in_entity(entry, hit.pointer)
        key = path_text(document, hit.pointer)
        if found is None:
            return Place(file=file, key=key)
        span = found.located.key if hit.on_key else found.located.value
        column = span.column + _shift(span, hit.offset)
        end = end_on_line(self.snapshot.files[found.file], span)
        return Place(file=found.file, line=span.line, column=column, end_column=max(end, column), key=key)

    def _in_file(self, hit: Hit) -> tuple[Document, Origin | None]:
        if hit.subject == REPO_FILE:
            layers, document = self._settings
            return document, origin(layers, document, hit.pointer) if hit.pointer else None
        layer = self._layer(hit.subject)
        return ({}, None) if layer is None else (layer.document, _nearest(layer, hit.pointer))

    @cached_property
    def _settings(self) -> tuple[list[Layer], Document]:
        environment = self.repository.environment
        overlay = None if environment is None else self._layer(f"{ENVIRONMENTS_FOLDER}/{environment.name}{SUFFIX}")
        part = None if overlay is None else part_of(overlay, ("repo",))
        layers = [layer for layer in (self._layer(REPO_FILE), part) if layer is not None]
        return layers, merge_layers(layers) if layers else {}

    def _layer(self, file: str) -> Layer | None:
        if file not in self._parsed:
            self._parsed[file] = _parse(file, self.snapshot.files.get(file))
        return self._parsed[file]


def _parse(file: str, data: bytes | None) -> Layer | None:
    document = None if data is None else load_yaml(data, file).data
    return None if data is None or document is None else Layer(file=file, data=data, document=document)


def _in_entity(entry: Entry, pointer: Pointer) -> tuple[Document, Origin | None]:
    return entry.document, origin(entry.layers, entry.document, pointer or ("name",))


def _nearest(layer: Layer, pointer: Pointer) -> Origin | None:
    for length in range(len(pointer), 0, -1):
        located = locate(layer.data, pointer[:length])
        if located is not None:
            return Origin(file=layer.file, located=located)
    return None


def _shift(span: Span, offset: int | None) -> int:
    return 0 if offset is None or span.text_offset is None else span.text_offset + offset
