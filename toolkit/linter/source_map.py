"""Source place of a hit: from a subject and a pointer to a file, a line and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from yaml.nodes import ScalarNode

from toolkit.config_source import Snapshot
from toolkit.entities.documents import Document
from toolkit.entities.entity_loading import EntityEntry
from toolkit.entities.layers import Layer, ValueOrigin, merge_layers, origin
from toolkit.entities.parsing import load_document, part_of
from toolkit.entities.pointers import path_text
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import ENVIRONMENTS_FOLDER, REPO_FILE, SUFFIX
from toolkit.entities.yaml_location import Pointer, TextSpan, locate
from toolkit.entities.yaml_nodes import YamlUnreadableError, compose, scalars
from toolkit.linter.findings import Hit, SourcePlace


def end_on_line(data: bytes, span: TextSpan) -> int:
    """The column after the last one of a span on its first line, blanks and comment left out."""
    if span.end_line == span.line:
        return span.end_column
    return len(source_line(data, span.line).rstrip()) + 1


def source_line(data: bytes, line: int) -> str:
    """Return one line of a file, from 1 on, without its end; empty when there is none."""
    lines = _lines(data)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=4)
def _lines(data: bytes) -> list[str]:
    return LINE_BREAK.split(data.decode(errors="replace"))


LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""Line ends of libyaml, which counts the lines of findings."""


def end_of_scalar(data: bytes, line: int, column: int) -> int:
    """The column after the scalar that a place lies in; the place's own column when it lies in none."""
    starts, ends = _scalars(data).get(line, ((), ()))
    place = bisect_right(starts, column) - 1
    return ends[place] if place >= 0 and column < ends[place] else column


@lru_cache(maxsize=4)
def _scalars(data: bytes) -> dict[int, tuple[list[int], list[int]]]:
    """Columns where the scalars that are on one line begin, and behind which they end, both sorted, by line."""
    found: dict[int, list[tuple[int, int]]] = {}
    for node in scalar_nodes(data):
        start, end = node.start_mark, node.end_mark
        if start.line == end.line:
            found.setdefault(start.line + 1, []).append((start.column + 1, end.column + 1))
    columns = {line: sorted(each) for line, each in found.items()}
    return {line: ([start for start, _ in each], [end for _, end in each]) for line, each in columns.items()}


def scalar_nodes(data: bytes) -> Iterator[ScalarNode]:
    """Every key and every scalar value of a file, in no order; none of a file that is not YAML."""
    try:
        root = compose(data, "")
    except YamlUnreadableError:
        return
    yield from scalars(root)


_MENTIONS = 100
"""So many other places of a hit are looked for: thousands of feeds in one directory have millions."""


@dataclass(kw_only=True)
class SourceMap:
    """Finds the places of hits in one config repo, in one environment.

    Attributes:
        snapshot: the files.
        repository: what they were loaded to.
    """

    snapshot: Snapshot
    repository: Repository
    _parsed: dict[str, Layer | None] = field(default_factory=dict)

    def locate(self, hit: Hit) -> SourcePlace:
        """The place of a hit; what is not there is where the value around it is, a whole entity where its name is."""
        if hit.place is not None:
            at = hit.place
            return SourcePlace(file=hit.subject, line=at.line, column=at.column, end_column=at.end_column)
        entry = self.repository.entries.get(hit.subject)
        file = hit.subject if entry is None else entry.file
        document, found = self._in_file(hit) if entry is None else _in_entity(entry, hit.pointer)
        key = path_text(document, hit.pointer)
        if found is None:
            return SourcePlace(file=file, key=key)
        span = found.located.key if hit.on_key else found.located.value
        column = span.column + _shift(span, hit.offset)
        end = end_on_line(self.snapshot.files[found.file], span)
        return SourcePlace(file=found.file, line=span.line, column=column, end_column=max(end, column), key=key)

    def related(self, hit: Hit) -> tuple[SourcePlace, ...]:
        """The other places of a hit, of very many the first; an entity that was removed or cannot be used has none."""
        mentions = (each if isinstance(each, tuple) else (each, ()) for each in hit.related[:_MENTIONS])
        known = (Hit(subject=name, pointer=at, message="") for name, at in mentions if name in self.repository.entries)
        return tuple(dict.fromkeys(map(self.locate, known)))

    def _in_file(self, hit: Hit) -> tuple[Document, ValueOrigin | None]:
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
    document = None if data is None else load_document(data, file).data
    return None if data is None or document is None else Layer(file=file, data=data, document=document)


def _in_entity(entry: EntityEntry, pointer: Pointer) -> tuple[Document, ValueOrigin | None]:
    return entry.document, origin(entry.layers, entry.document, pointer or ("name",))


def _nearest(layer: Layer, pointer: Pointer) -> ValueOrigin | None:
    for length in range(len(pointer), 0, -1):
        located = locate(layer.data, pointer[:length])
        if located is not None:
            return ValueOrigin(file=layer.file, located=located)
    return None


def _shift(span: TextSpan, offset: int | None) -> int:
    return 0 if offset is None or span.text_offset is None else span.text_offset + offset
