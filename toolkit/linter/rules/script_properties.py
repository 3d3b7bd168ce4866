"""Rules about `${name}` in scripts of SQL and in arguments of steps: each names a property of the instance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from toolkit.entities import Engine, Pointer, Process, Repository
from toolkit.entities.nearest import did_you_mean
from toolkit.linter.findings import Hit, TextPlace
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.rules.properties import output_keys
from toolkit.linter.source_map import LINE_BREAK
from toolkit.planning.process_properties import CLUSTER_PROPERTIES, RUN_PROPERTIES, names_of

_PLACE = re.compile(r"\\.|\$\{([^{}\n]*)\}")
_TOKEN = re.compile(
    r"""
      (?P<comment> --[^\r\n]* | /\*(?!\+)(?s:.)*?(?:\*/|\Z) )
    | (?P<text> '(?:[^'\\]|\\(?s:.))*'? | "(?:[^"\\]|\\(?s:.))*"? | `[^`]*`? )
    | (?P<place> \$\{[^{}\n]*\} )
    | [^-/'"`$]+
    | (?s:.)
    """,
    re.VERBOSE,
)
"""As the runner reads a script (`toolkit.programs.sql_text`), as far as it matters which `${name}` are filled in."""


def unknown_property(context: LintContext) -> Iterator[Hit]:
    """Find `${name}` in scripts of SQL and in arguments that no property of the process has as its name."""
    for _, process in sorted(context.repository.processes.items()):
        known = _Known.of(process, context.repository)
        for file in dict.fromkeys(_scripts(process)):
            data = context.snapshot.texts.get(file)
            yield from () if data is None else _in_script(process, file, data, known)
        for pointer, text in _arguments(process):
            for found in _PLACE.finditer(text):
                if found[1] is not None and found[1] not in known:
                    yield _hit(process, process.name, pointer, found[1], known)


def _scripts(process: Process) -> Iterator[str]:
    workflow, late = process.workflow, process.late_process
    if workflow.engine is Engine.SPARK_SQL:
        yield from () if workflow.path is None else (workflow.path,)
        yield from () if late is None else late.inputs.values()
    yield from (step.path for step in workflow.steps if step.engine is Engine.SPARK_SQL)


def _arguments(process: Process) -> Iterator[tuple[Pointer, str]]:
    workflow = process.workflow
    yield from ((("workflow", "args", at), text) for at, text in enumerate(workflow.args))
    for position, step in enumerate(workflow.steps):
        yield from ((("workflow", "steps", position, "args", at), text) for at, text in enumerate(step.args))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """The names of a process's properties, before an instance of it is known.

    Attributes:
        names: of properties.
        prefixes: beginnings of names of which not all are told here.
    """

    names: frozenset[str]
    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, process: Process, repository: Repository) -> _Known:
        """The names of a process."""
        clusters = [repository.clusters[each.name] for each in process.clusters if each.name in repository.clusters]
        names = {*RUN_PROPERTIES, *CLUSTER_PROPERTIES, *process.properties}
        names.update(name for cluster in clusters for name in cluster.properties)
        for name in (*process.inputs, *process.outputs):
            names.update(names_of(name, output_keys(process, name, repository.feeds)))
        unread = (name for name, each in process.outputs.items() if each.feed not in repository.feeds)
        falcons = (f"falcon_{name}_" for name in (*process.inputs, *process.outputs))
        return cls(names=frozenset(names), prefixes=(*falcons, *(f"{name}." for name in unread)))

    def __contains__(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)


def _in_script(process: Process, file: str, data: bytes, known: _Known) -> Iterator[Hit]:
    text = data.decode("utf-8", "replace")
    for at, name in _places(text):
        if name not in known:
            line = len(LINE_BREAK.findall(text, 0, at)) + 1
            column = at - _line_start(text, at) + 1
            place = TextPlace(line=line, column=column, end_column=column + len(f"${{{name}}}"))
            yield _hit(process, file, (), name, known, place)


@lru_cache(maxsize=64)
def _places(script: str) -> tuple[tuple[int, str], ...]:
    """Return where a script has `${name}` that is filled in, and the name."""
    return tuple(_found_places(script))


def _found_places(script: str) -> Iterator[tuple[int, str]]:
    for token in _TOKEN.finditer(script):
        if token["place"] is not None:
            yield token.start(), token["place"][2:-1]
        elif token["text"] is not None:
            inside = _PLACE.finditer(token["text"])
            yield from ((token.start() + each.start(), each[1]) for each in inside if each[1] is not None)


def _line_start(text: str, at: int) -> int:
    return max((found.end() for found in LINE_BREAK.finditer(text, 0, at)), default=0)


def _hit(
    process: Process, subject: str, pointer: Pointer, name: str, known: _Known, place: TextPlace | None = None
) -> Hit:
    return Hit(
        subject=subject,
        pointer=pointer,
        place=place,
        message=f"found ${{{name}}}, which is no property, input or output of {process.name}",
        hint=did_you_mean(name, known.names) or "add it to the properties of the process",
        related=() if place is None else (process.name,),
    )


CHECKS: Mapping[str, Check] = {"unknown-property": unknown_property}
