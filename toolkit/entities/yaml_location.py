"""Line and column of a value in a file; the file is read again for it, so that valid files cost nothing."""

from dataclasses import dataclass
from functools import lru_cache

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from toolkit.entities.yaml_nodes import YamlUnreadableError, compose

Pointer = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class TextSpan:
    """A place in a file: lines and columns (in characters) from 1 on; the end is exclusive.

    Attributes:
        text_offset: columns from the start to the first character of the text itself; None when the text has
            escapes or several lines, so that an offset in it says nothing about columns.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text_offset: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Located:
    """Places that a pointer leads to.

    Attributes:
        value: the value's place.
        key: the place of its key; the value's own for list items and the whole document.
    """

    value: TextSpan
    key: TextSpan


def locate(data: bytes, pointer: Pointer) -> Located | None:
    """The place of the value that a pointer leads to; None when the file has no such value."""
    node = key = _root(data)
    for step in pointer:
        found = _child(node, step)
        if found is None:
            return None
        key, node = found
    return None if node is None or key is None else Located(value=_span(node), key=_span(key))


@lru_cache(maxsize=4)
def _root(data: bytes) -> Node | None:
    try:
        return compose(data, "")
    except YamlUnreadableError:
        return None


def _child(node: Node | None, step: str | int) -> tuple[Node, Node] | None:
    if isinstance(node, MappingNode):
        return _by_key(node).get(step)
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return item, item
    return None


@lru_cache(maxsize=64)
def _by_key(node: MappingNode) -> dict[str | int, tuple[Node, Node]]:
    """Found once for a mapping: thousands of wrong keys in one ask for their places one after the other."""
    return {key.value: (key, value) for key, value in reversed(node.value) if isinstance(key, ScalarNode)}


def _span(node: Node) -> TextSpan:
    start, end = node.start_mark, node.end_mark
    return TextSpan(
        line=start.line + 1,
        column=start.column + 1,
        end_line=end.line + 1,
        end_column=end.column + 1,
        text_offset=_text_offset(node),
    )


def _text_offset(node: Node) -> int | None:
    start, end = node.start_mark, node.end_mark
    if not isinstance(node, ScalarNode) or start.line != end.line:
        return None
    around = end.column - start.column - len(node.value)
    return {0: 0, len("''"): 1}.get(around)
