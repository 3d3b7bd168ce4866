"""The files of a workflow are in the config repo."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from toolkit.config_source import Snapshot
from toolkit.entities import Engine, Pointer, Process
from toolkit.entities.nearest import did_you_mean
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule

_ELSEWHERE = frozenset({Engine.OOZIE, Engine.PIG, Engine.HIVE})
"""Engines whose paths are Falcon's: on the cluster's file system."""


def _check(context: LintContext) -> Iterator[Hit]:
    known = _known(context.snapshot)
    for _, process in sorted(context.repository.processes.items()):
        for pointer, path in _paths(process):
            if _is_relative(path) and normpath(path) not in known:
                yield _hit(process, pointer, path, known)


def _known(snapshot: Snapshot) -> frozenset[str]:
    """All files and the folders that they are in."""
    files = {*snapshot.names, *snapshot.files}
    parents = {file[:index] for file in files for index, character in enumerate(file) if character == "/"}
    return frozenset(files | parents)


def _paths(process: Process) -> Iterator[tuple[Pointer, str]]:
    workflow, late = process.workflow, process.late_process
    if workflow.path is not None and workflow.engine not in _ELSEWHERE:
        yield ("workflow", "path"), workflow.path
    for position, step in enumerate(workflow.steps):
        if step.engine not in _ELSEWHERE:
            yield ("workflow", "steps", position, "path"), step.path
    for position, path in enumerate(() if workflow.engine in _ELSEWHERE else workflow.lib):
        yield ("workflow", "lib", position), path
    for name, path in (late.inputs if late and workflow.engine not in _ELSEWHERE else {}).items():
        yield ("late_process", "inputs", name), path


def _is_relative(path: str) -> bool:
    """Whether a path is one of the config repo's; a URI, an absolute path or one with a variable is not known here."""
    return not path.startswith("/") and ":" not in path.partition("/")[0] and "${" not in path


def _hit(process: Process, pointer: Pointer, path: str, known: frozenset[str]) -> Hit:
    leaves = normpath(path).startswith("..")
    message = (
        f"found the path {path!r}, which leaves the config repo"
        if leaves
        else f"found no file {path!r} in the config repo"
    )
    return Hit(
        subject=process.name,
        pointer=pointer,
        message=message,
        hint=did_you_mean(path, known) or "add the file; paths are relative to the root of the config repo",
    )


RULE = Rule(
    id="missing-workflow",
    name="The files of a workflow are in the config repo",
    severity=Severity.ERROR,
    rationale=(
        "A relative path means a file of the config repo, in the same snapshot as the process; a run whose file is "
        "not there fails, each time. Absolute paths and URIs are somewhere else and are not looked for."
    ),
    bad="""\
# processes/clicks_hourly_job.yaml; the file is called workflows/clicks_hourly.sql
workflow: {engine: spark_sql, path: workflows/click_hourly.sql}
""",
    good="""\
# processes/clicks_hourly_job.yaml
workflow: {engine: spark_sql, path: workflows/clicks_hourly.sql}
""",
    source="Falcon entity specification, Workflow; DESIGN section 1",
    check=_check,
)
