"""From a YAML file to plain data: YAML 1.2 scalars, text keys, no duplicate keys, no tags, no alias bombs.

These files come from pull requests, so reading one takes time that grows with its size alone, and what
is unreasonably large is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from toolkit.entities.documents import Document, Value
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.value_hints import unquoted_hint
from toolkit.entities.yaml_nodes import YamlUnreadableError, compose, scalars
from toolkit.entities.yaml_scalars import plain_scalar

_MAX_NODES = 200_000
"""More values than any honest file has; a few aliases of aliases make billions."""

_MAX_DEPTH = 100

MOST_CHARACTERS = 4096
"""Longest key or value: names, paths, texts that people read. All later checks of one value may rely on it."""

_MOST_PROBLEMS = 1000
"""Most problems of one file that are reported; more are counted only."""

_COMMENT_OR_TAB = re.compile(r"#[^\n]*|\t")


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedYaml:
    """Content of a YAML file.

    Attributes:
        data: None when the file has problems.
        has_null: some value is null, so that merging has something to remove.
        problems: all that is wrong with the file as YAML.
    """

    data: Document | None
    has_null: bool
    problems: tuple[ConfigProblem, ...]


def load_yaml(data: bytes, file: str) -> LoadedYaml:
    """Reads one file; never raises for its content.

    Args:
        data: the file's bytes.
        file: its path, for the problems.
    """
    construction = _Construction(file)
    try:
        node = compose(data, file)
        document = construction.document(node)
        if b"\t" in data:
            construction.problems.extend(_tabs(data, node, file))
    except YamlUnreadableError as error:
        return LoadedYaml(data=None, has_null=False, problems=_shown([*construction.problems, error.problem]))
    problems = _shown(construction.problems)
    return LoadedYaml(data=None if problems else document, has_null=construction.has_null, problems=problems)


def _shown(problems: list[ConfigProblem]) -> tuple[ConfigProblem, ...]:
    """Each problem once however often an alias repeats it, and not more of them than anybody reads."""
    by_place = {(each.line, each.column, each.rule, each.message): each for each in problems}
    different = [by_place[place] for place in sorted(by_place)]
    more = different[_MOST_PROBLEMS:]
    if not more:
        return tuple(different)
    message = f"the file has {len(more)} more problem{'' if len(more) == 1 else 's'} from here on"
    first = more[0]
    rest = ConfigProblem(file=first.file, line=first.line, column=first.column, rule=first.rule, message=message)
    return (*different[:_MOST_PROBLEMS], rest)


class _Construction:
    """Builds plain data from nodes and notes what is wrong on the way."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[ConfigProblem] = []
        self.has_null = False
        self._count = 0

    def document(self, node: Node) -> Document:
        if isinstance(node, MappingNode):
            return self._mapping(node, 1)
        found = "a list" if isinstance(node, SequenceNode) else "a single value"
        raise YamlUnreadableError(self._problem(node, "wrong-type", f"found {found}, expected a mapping"))

    def _value(self, node: Node, depth: int) -> Value:
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if depth > _MAX_DEPTH:
            message = f"values are nested deeper than {_MAX_DEPTH} levels, or an alias contains itself"
            raise YamlUnreadableError(self._problem(node, "too-deep", message))
        if isinstance(node, MappingNode):
            return self._mapping(node, depth + 1)
        self._enter(node)
        return [self._value(each, depth + 1) for each in node.value]

    def _scalar(self, node: ScalarNode) -> Value:
        tag = node.tag
        if tag.__class__ is str:
            self._refuse_tag(node)
        self._count += 1
        text: str = node.value
        if len(text) > MOST_CHARACTERS:
            self._refuse_length(node)
        if not tag[0]:
            return text
        value = plain_scalar(text)
        if value is None:
            self.has_null = True
        return value

    def _mapping(self, node: MappingNode, depth: int) -> dict[str, Value]:
        self._enter(node)
        result: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key in result:
                self._note(key_node, "duplicate-key", f"the key {key!r} is there twice", "keep one of them")
            is_scalar = value_node.__class__ is ScalarNode  # most are; a call less for each counts
            result[key] = self._scalar(value_node) if is_scalar else self._value(value_node, depth)
        return result

    def _key(self, node: Node) -> str:
        key = self._scalar(node) if node.__class__ is ScalarNode else None
        if key.__class__ is str:
            return key
        found = f"{node.value!r}" if isinstance(node, ScalarNode) else "a list or a mapping"
        hint = "put quotes around it"
        if isinstance(node, MappingNode) and node.flow_style:  # {{ ds }} is a mapping with a mapping as its key
            hint = f"{hint}; {unquoted_hint('{{')}"
        self._note(node, "key-type", f"found {found} as a key, expected text", hint)
        return f"{node.start_mark.line}:{node.start_mark.column}"  # it is never read, and a list may be deep

    def _enter(self, node: Node) -> None:
        if node.tag.__class__ is str:
            self._refuse_tag(node)
        self._count += 1
        if self._count > _MAX_NODES:
            message = f"aliases make more than {_MAX_NODES} values of this file"
            raise YamlUnreadableError(
                self._problem(node, "alias-bomb", message, "write values out, or use defaults.yaml")
            )

    def _refuse_length(self, node: ScalarNode) -> None:
        message = f"found a text of {len(node.value)} characters, expected at most {MOST_CHARACTERS}"
        self._note(node, "too-large", message, "shorten it, or put it into a file of its own and name that")

    def _refuse_tag(self, node: Node) -> None:
        self._note(node, "yaml-tag", f"found the tag {node.tag!r}, expected a plain value", "remove the tag")

    def _note(self, node: Node, rule: str, message: str, hint: str = "") -> None:
        self.problems.append(self._problem(node, rule, message, hint))

    def _problem(self, node: Node, rule: str, message: str, hint: str = "") -> ConfigProblem:
        mark = node.start_mark
        return ConfigProblem(
            file=self.file, line=mark.line + 1, column=mark.column + 1, rule=rule, message=message, hint=hint
        )


def _tabs(data: bytes, root: Node, file: str) -> Iterator[ConfigProblem]:
    """Tabs between values; libyaml lets some pass that other YAML readers stumble over."""
    text = data.decode()
    line, start, counted = 1, 0, 0
    for offset in _tabs_between(text, root):
        line += text.count("\n", counted, offset)
        start = max(start, text.rfind("\n", counted, offset) + 1)
        counted = offset
        yield ConfigProblem(
            file=file,
            line=line,
            column=offset - start + 1,
            rule="tab",
            message="found a tab, expected blanks",
            hint="use blanks",
        )


def _tabs_between(text: str, root: Node) -> Iterator[int]:
    """The offsets of the tabs that are neither in a scalar nor in a comment."""
    scalar_ranges = sorted({(node.start_mark.index, node.end_mark.index) for node in scalars(root)})
    begin = 0
    for first, last in (*scalar_ranges, (len(text), len(text))):
        found = _COMMENT_OR_TAB.finditer(text, begin, first)
        yield from (match.start() for match in found if match.group() == "\t")
        begin = max(begin, last)
