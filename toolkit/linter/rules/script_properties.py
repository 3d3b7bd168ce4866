"""Rules about `${name}` in scripts of SQL and in arguments of steps: each names a property of the instance."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from toolkit.entities import Engine, Pointer, Process, Repository
from toolkit.entities.nearest import did_you_mean
from toolkit.linter.findings import Hit, TextPlace
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.rules.properties import output_keys
from toolkit.linter.source_map import LINE_BREAK
from toolkit.planning.process_properties import CLUSTER_PROPERTIES, RUN_PROPERTIES, names_of
from toolkit.planning.script_references import REFERENCE, sql_references


def unknown_property(context: LintContext) -> Iterator[Hit]:
    """Find `${name}` in scripts of SQL and in arguments that no property of the process has as its name."""
    for _, process in sorted(context.repository.processes.items()):
        known = _Known.of(process, context.repository)
        for file in dict.fromkeys(_scripts(process)):
            data = context.snapshot.texts.get(file)
            yield from () if data is None else _in_script(process, file, data, known)
        for pointer, text in _arguments(process):
            for found in REFERENCE.finditer(text):
                if found[1] not in known:
                    yield _hit(process, process.name, pointer, found[1], known)


def _scripts(process: Process) -> Iterator[str]:
    workflow, late = process.workflow, process.late_process
    if workflow.engine is Engine.SPARK_SQL:
        yield from () if workflow.path is None else (workflow.path,)
        yield from () if late is None else late.inputs.values()
    yield from (step.path for step in workflow.steps if step.engine is Engine.SPARK_SQL)


def _arguments(process: Process) -> Iterator[tuple[Pointer, str]]:
    workflow, spark = process.workflow, process.workflow.spark
    yield from ((("workflow", "args", at), text) for at, text in enumerate(workflow.args))
    yield from ((("workflow", "spark", "args", at), text) for at, text in enumerate(spark.args if spark else ()))
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
        names.update(_of_environments(repository, (process.name, *(each.name for each in process.clusters))))
        for name in (*process.inputs, *process.outputs):
            names.update(names_of(name, output_keys(process, name, repository.feeds)))
        unread = (name for name, each in process.outputs.items() if each.feed not in repository.feeds)
        falcons = (f"falcon_{name}_" for name in (*process.inputs, *process.outputs))
        return cls(names=frozenset(names), prefixes=(*falcons, *(f"{name}." for name in unread)))

    def __contains__(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)


def _of_environments(repository: Repository, entities: Collection[str]) -> Iterator[str]:
    """Yield the properties that only environments give, where lint looks at none of these."""
    for environment in () if repository.environment else repository.environments.values():
        for name in entities:
            found = environment.entities.get(name, {}).get("properties")
            yield from found if isinstance(found, Mapping) else ()


def _in_script(process: Process, file: str, data: bytes, known: _Known) -> Iterator[Hit]:
    text = data.decode("utf-8", "replace")
    unknown = [(at, name) for at, name in _places(text) if name not in known]
    starts = [0, *(found.end() for found in LINE_BREAK.finditer(text))] if unknown else []
    for at, name in unknown:
        line = bisect_right(starts, at)
        column = at - starts[line - 1] + 1
        place = TextPlace(line=line, column=column, end_column=column + len(f"${{{name}}}"))
        yield _hit(process, file, (), name, known, place)


@lru_cache(maxsize=64)
def _places(script: str) -> tuple[tuple[int, str], ...]:
    """Return where a script has a place for a property, and its name; processes may share a script."""
    return tuple(sql_references(script))


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
