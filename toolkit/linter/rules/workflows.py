"""Rules about the workflows of processes: their files, and how Spark runs them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from posixpath import normpath

from toolkit.config_source import Snapshot
from toolkit.entities import Engine, Pointer, Process, SparkAttributes, SparkSessionUse
from toolkit.entities.nearest import did_you_mean
from toolkit.entities.source_files import REPO_FILE
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext
from toolkit.planning.step_settings import unawaited

_ELSEWHERE = frozenset({Engine.OOZIE, Engine.PIG, Engine.HIVE})
"""Engines whose paths are Falcon's: on the cluster's file system."""


def missing_workflow(context: LintContext) -> Iterator[Hit]:
    """The files of a workflow are in the config repo."""
    known = _known(context.snapshot)
    near = _near(context.snapshot.names)
    for _, process in sorted(context.repository.processes.items()):
        for pointer, path in _paths(process):
            if _is_relative(path) and normpath(path) not in known:
                folder, _, name = path.rpartition("/")
                yield _workflow_hit(process, pointer, path, near[f"{folder}/"] | near[name])


def _known(snapshot: Snapshot) -> frozenset[str]:
    """Return all files and the folders that they are in."""
    files = {*snapshot.names, *snapshot.files}
    parents = {file[:index] for file in files for index, character in enumerate(file) if character == "/"}
    return frozenset(files | parents)


def _near(names: Collection[str]) -> Mapping[str, set[str]]:
    """Files by their folder, with a slash at its end, and by their name: comparing with all of them takes long."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in names:
        folder, _, name = each.rpartition("/")
        found[f"{folder}/"].add(each)
        found[name].add(each)
    return found


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
    """Return whether a path is in the config repo, and not a URI, an absolute path or one with a variable."""
    return not path.startswith("/") and ":" not in path.partition("/")[0] and "${" not in path


def _workflow_hit(process: Process, pointer: Pointer, path: str, near: Collection[str]) -> Hit:
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
        hint=did_you_mean(path, near) or "add the file; paths are relative to the root of the config repo",
    )


def unawaited_application(context: LintContext) -> Iterator[Hit]:
    """A step ends with its application."""
    for _, process in sorted(context.repository.processes.items()):
        for each in unawaited(process.workflow.spark or SparkAttributes()):
            yield Hit(
                subject=process.name,
                pointer=("workflow", "spark", *each.place),
                message=str(each),
                hint="remove it: feedctl waits for the end of what it starts",
            )


def unshared_session(context: LintContext) -> Iterator[Hit]:
    """Processes of a group can share an application, and belong to one owner."""
    processes = context.repository.processes
    for number, group in enumerate(context.repository.settings.shared_sessions):
        members = [(index, processes[name]) for index, name in enumerate(group) if name in processes]
        for index, process in members:
            for found, hint in _obstacles(process, members[0][1]):
                yield Hit(
                    subject=REPO_FILE,
                    pointer=("shared_sessions", number, index),
                    message=f"{process.name} {found}",
                    hint=hint,
                    related=(process.name,),
                )


def _obstacles(process: Process, first: Process) -> Iterator[tuple[str, str]]:
    """Yield why a process of a group shares no application with the first one, or should not, with a hint."""
    if Engine.SPARK_SQL not in {process.workflow.engine, *(each.engine for each in process.workflow.steps)}:
        yield "has no step of the engine spark_sql: it uses no shared application", "remove it from the group"
        return
    spark = process.workflow.spark or SparkAttributes()
    if spark.session is SparkSessionUse.OWN or spark.mode == "cluster":
        own = "mode: cluster" if spark.mode == "cluster" else "session: own"
        yield f"has an application for each step, by `{own}`", "remove one of the two"
    elif not {each.name for each in process.clusters} & {each.name for each in first.clusters}:
        yield (
            f"is on none of the clusters of {first.name}, so that they share no application",
            "remove it from the group",
        )
    elif differing := [name for name, value in _shared(process).items() if value != _shared(first)[name]]:
        found = f"differs from {first.name} in {', '.join(differing)}, so that they share no application"
        yield found, "give both the same, or remove it from the group"
    if process.owner != first.owner:
        found = f"is owned by {process.owner or 'nobody'}, and {first.name} by {first.owner or 'nobody'}"
        yield f"{found}: steps on one application can reach each other", "let a group have one owner"


def _shared(process: Process) -> Mapping[str, object]:
    """Return what processes must have in common to share an application, by its place in their files."""
    spark = replace(process.workflow.spark or SparkAttributes(), session=None, mode=None)  # `cluster` shares nothing
    queue = {f"properties.{name}": process.properties.get(name) for name in ("queueName", "jobPriority")}
    return {
        "workflow.spark": spark,
        "workflow.lib": process.workflow.lib,
        "workflow.secrets": process.workflow.secrets,
        **queue,
    }


CHECKS: Mapping[str, Check] = {
    "missing-workflow": missing_workflow,
    "unawaited-application": unawaited_application,
    "unshared-session": unshared_session,
}
