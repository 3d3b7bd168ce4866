"""Extents in a file's text: where a value that begins somewhere ends on that line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from yaml.nodes import ScalarNode

from toolkit.entities.yaml_location import Span
from toolkit.entities.yaml_nodes import YamlUnreadableError, compose, scalars


def end_on_line(data: bytes, span: Span) -> int:
    """The column after the last one of a span on its first line, blanks and comment left out."""
    if span.end_line == span.line:
        return span.end_column
    return len(source_line(data, span.line).rstrip()) + 1


def source_line(data: bytes, line: int) -> str:
    """One line of a file, from 1 on, without its end; empty when there is none."""
    lines = _lines(data)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=4)
def _lines(data: bytes) -> list[str]:
    return LINE_BREAK.split(data.decode(errors="replace"))


LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What libyaml, which counts the lines of findings, takes for the end of a line."""


def end_of_scalar(data: bytes, line: int, column: int) -> int:
    """The column after the scalar that a place lies in; the place's own column when it lies in none."""
    for start, end in _scalars(data).get(line, ()):
        if start <= column < end:
            return end
    return column


@lru_cache(maxsize=4)
def _scalars(data: bytes) -> dict[int, list[tuple[int, int]]]:
    """The columns of every scalar that is on one line, by line."""
    found: dict[int, list[tuple[int, int]]] = {}
    for node in scalar_nodes(data):
        start, end = node.start_mark, node.end_mark
        if start.line == end.line:
            found.setdefault(start.line + 1, []).append((start.column + 1, end.column + 1))
    return found


def scalar_nodes(data: bytes) -> Iterator[ScalarNode]:
    """Every key and every scalar value of a file, in no order; none of a file that is not YAML."""
    try:
        root = compose(data, "")
    except YamlUnreadableError:
        return
    yield from scalars(root)
