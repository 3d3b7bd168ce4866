"""From the bytes of a file to the node tree of its one YAML document, by libyaml."""

from collections.abc import Iterator

import yaml
from yaml._yaml import CParser
from yaml.nodes import MappingNode, Node, ScalarNode

from toolkit.entities.problems import ConfigProblem
from toolkit.entities.yaml_syntax import ParserError, explained

_DEEPEST_PARSE = 2000
"""The composer is recursive C code: at some 30,000 levels it overruns the stack and takes the process with it."""

_MOST_BYTES = 1 << 20
"""Far more than any entity or list of holds has; all that reads a file more than once may rely on it."""

_MOST_NODES = 20_000
"""Keys and values of a file: a hundred times what an entity has, and few enough for a lint of seconds."""

_BOM = b"\xef\xbb\xbf"


class YamlUnreadableError(Exception):
    """Internal: the file has no node tree; carries the one problem that says why."""

    def __init__(self, problem: ConfigProblem) -> None:
        self.problem = problem
        super().__init__(str(problem))


class _Composer(CParser):
    """libyaml's composer without PyYAML's tag resolution: a node's tag says only how it was written."""

    def __init__(self, data: bytes, file: str) -> None:
        CParser.__init__(self, data)
        self._file, self._nodes = file, 0

    def resolve(self, _kind: type[Node], _value: object, implicit: object) -> object:
        return implicit

    def descend_resolver(self, _parent: object, _index: object) -> None:
        """Count the nodes, each of which calls it once; paths play no part in reading scalars.

        Raises:
            YamlUnreadableError: the file has too many.
        """
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            message = f"the file has more than {_MOST_NODES} keys and values, expected at most so many"
            raise YamlUnreadableError(_problem(self._file, 1, 1, "too-large", message, "divide it, or remove it"))

    def ascend_resolver(self) -> None:
        """Nothing: paths play no part in reading scalars."""


def compose(data: bytes, file: str) -> Node:
    """The root node of the only document in a file.

    Raises:
        YamlUnreadableError: too many bytes or nodes, no UTF-8, not YAML, empty, or more than one document.
    """
    _check_size(data, file)
    _check_encoding(data, file)
    _check_depth(data, file)
    try:
        node: Node | None = _Composer(data, file).get_single_node()
    except yaml.YAMLError as error:
        raise YamlUnreadableError(_syntax_problem(error, data, file)) from error
    if node is None:
        raise YamlUnreadableError(
            _problem(file, 1, 1, "empty-file", "the file is empty", "write a mapping, or remove it")
        )
    return node


def _problem(file: str, line: int, column: int, rule: str, message: str, hint: str = "") -> ConfigProblem:
    return ConfigProblem(file=file, line=line, column=column, rule=rule, message=message, hint=hint)


def _check_size(data: bytes, file: str) -> None:
    if len(data) > _MOST_BYTES:
        message = f"the file has {len(data)} bytes, expected at most {_MOST_BYTES} (1 MiB)"
        raise YamlUnreadableError(_problem(file, 1, 1, "too-large", message, "divide it, or remove it"))


def _check_encoding(data: bytes, file: str) -> None:
    if data.startswith(_BOM):
        raise YamlUnreadableError(
            _problem(
                file, 1, 1, "encoding", "found a byte order mark, expected plain UTF-8", "save the file without it"
            )
        )
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line, column = _position(data, error.start)
        found = f"found the byte 0x{data[error.start]:02x}, expected UTF-8"
        raise YamlUnreadableError(_problem(file, line, column, "encoding", found, "save the file as UTF-8")) from error


def _position(data: bytes, offset: int) -> tuple[int, int]:
    before = data[:offset].decode(errors="replace")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _check_depth(data: bytes, file: str) -> None:
    if len(data) < _DEEPEST_PARSE or _deepest_possible(data) < _DEEPEST_PARSE:
        return
    for depth, line, column in _depths(data):
        if depth > _DEEPEST_PARSE:
            raise YamlUnreadableError(_problem(file, line, column, "too-deep", "values are nested far too deep"))


def _deepest_possible(data: bytes) -> int:
    """An upper bound, cheap to find: every level needs a bracket, a dash, a question mark or one more blank."""
    indent = max((len(line) - len(line.lstrip(b" ")) for line in data.splitlines()), default=0)
    return indent + sum(data.count(opener) for opener in (b"[", b"{", b"- ", b"?"))


def _depths(data: bytes) -> Iterator[tuple[int, int, int]]:
    depth = 0
    try:
        for event in yaml.parse(data, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                mark = event.start_mark
                yield (depth, mark.line + 1, mark.column + 1) if mark else (depth, 1, 1)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError:
        return  # the composer meets the same error and explains it


def _syntax_problem(error: yaml.YAMLError, data: bytes, file: str) -> ConfigProblem:
    if isinstance(error, yaml.reader.ReaderError):
        line, column = _position(data, len(data.decode()[: error.position].encode()))
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return _problem(file, line, column, "encoding", f"found the control character #x{code:04x}", "remove it")
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return _problem(file, 1, 1, "yaml-syntax", str(error))
    line, column = error.problem_mark.line + 1, error.problem_mark.column + 1
    if error.problem == "but found another document":
        return _problem(file, line, column, "yaml-documents", "found a second document, expected one", "remove '---'")
    if _is_tab(data, line, column):
        return _problem(file, line, column, "tab", "found a tab, expected blanks", "indent with blanks")
    began = error.context_mark
    found = explained(
        ParserError(
            problem=str(error.problem),
            context=error.context or "",
            place=min((line, column), _end_of_text(data)),
            began=(line, column) if began is None else (began.line + 1, began.column + 1),
            lines=tuple(data.decode().splitlines()),
        )
    )
    return _problem(file, found.line, found.column, "yaml-syntax", found.message, found.hint)


def _end_of_text(data: bytes) -> tuple[int, int]:
    """Return the place to report for what is missing at a file's end; editors know no line after the last one."""
    lines = data.decode().rstrip().splitlines() or [""]
    return len(lines), len(lines[-1]) + 1


def _is_tab(data: bytes, line: int, column: int) -> bool:
    lines = data.decode().split("\n")
    return line <= len(lines) and lines[line - 1][column - 1 : column] == "\t"


def scalars(root: Node) -> Iterator[ScalarNode]:
    """Every key and every scalar value of a tree, each once however often an alias repeats it, in no order."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ScalarNode):
            yield node
        elif isinstance(node, MappingNode):
            pending.extend(each for pair in node.value for each in pair)
        else:
            pending.extend(node.value)
