"""A process: its clusters and feeds exist, its workflow is one thing, the inputs that it speaks of are inputs."""

from collections.abc import Iterator
from dataclasses import replace

from toolkit.entities.checks.context import Context, duplicate_findings, validity_findings
from toolkit.entities.checks.datasources import credential_findings
from toolkit.entities.mirror_work import CopyWork, HiveMirror
from toolkit.entities.nearest import suggestion
from toolkit.entities.process import Process
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Engine, Kind, SparkSessionUse
from toolkit.entities.yaml_location import Pointer


def check_validities(process: Process) -> Iterator[Violation]:
    """Clusters are named once, and each has a validity with instances."""
    yield from duplicate_findings((each.name for each in process.clusters), ("clusters",))
    for index, each in enumerate(process.clusters):
        yield from validity_findings(each.validity, process.frequency, process.timezone, ("clusters", index))


def check_clusters(process: Process, context: Context) -> Iterator[Violation]:
    """References ask for no later version of a cluster than there is."""
    for index, each in enumerate(process.clusters):
        yield from context.cluster_version(each.name, each.version, ("clusters", index, "version"))


def check_feeds(process: Process, context: Context) -> Iterator[Violation]:
    """The feeds of inputs and outputs are on every cluster that the process runs on."""
    for pointer, feed in named_feeds(process):
        yield from _feed_on_clusters(process, context, feed, pointer)


def named_feeds(process: Process) -> Iterator[tuple[Pointer, str]]:
    """Yield the feeds of inputs, then of outputs, each with the pointer to its name."""
    yield from ((("inputs", name, "feed"), each.feed) for name, each in process.inputs.items())
    yield from ((("outputs", name, "feed"), each.feed) for name, each in process.outputs.items())


def _feed_on_clusters(process: Process, context: Context, name: str, pointer: Pointer) -> Iterator[Violation]:
    feed = context.feeds.get(name)
    if feed is None:
        return
    there = {each.name for each in feed.clusters}
    if not there <= set(context.names[Kind.CLUSTER]):
        return  # the feed names a cluster that is none, which is reported there and may be meant
    for each in process.clusters:
        if each.name not in there:
            yield Violation(
                pointer=pointer,
                rule="feed-not-on-cluster",
                message=f"the feed {name} is not on the cluster {each.name}, where the process runs",
                hint=f"the feed is on {', '.join(sorted(there))}",
            )


def check_names(process: Process) -> Iterator[Violation]:
    """An input and an output never share a name: each becomes a property of the workflow."""
    for name in process.outputs:
        if name in process.inputs:
            message = f"the name {name!r} is an input and an output"
            yield Violation(pointer=("outputs", name), rule="duplicate-name", message=message, on_key=True)


def check_workflow(process: Process) -> Iterator[Violation]:
    """A workflow is one engine with its path, or steps with names of their own."""
    workflow = process.workflow
    if workflow.steps and (workflow.engine is not None or workflow.path is not None or workflow.args):
        message = "found steps beside engine, path or args, expected one of them"
        yield Violation(pointer=("workflow", "steps"), rule="ambiguous-workflow", message=message, on_key=True)
    yield from duplicate_findings((step.name for step in workflow.steps), ("workflow", "steps"))
    if (workflow.mirror is None) == (workflow.engine is Engine.MIRROR) or Engine.MIRROR in {
        step.engine for step in workflow.steps
    }:
        message = "found the engine mirror without workflow.mirror, or one with another, expected both or none of them"
        yield Violation(pointer=("workflow",), rule="ambiguous-workflow", message=message, on_key=True)


def check_mirror(process: Process) -> Iterator[Violation]:
    """Check that a mirror has one type, and directories apart from each other that no date changes."""
    given = process.workflow.mirror.given() if process.workflow.mirror else {}
    pointer: Pointer = ("workflow", "mirror")
    if len(given) > 1:
        message = f"found {' and '.join(given)}, expected one type"
        yield Violation(pointer=pointer, rule="ambiguous-workflow", message=message, on_key=True)
    for name, each in given.items():
        yield from _mirrored(each, (*pointer, name))


def _mirrored(work: CopyWork, pointer: Pointer) -> Iterator[Violation]:
    if isinstance(work, HiveMirror):
        keys: dict[str, str | None] = {
            "source_staging_path": work.source_staging_path,
            "target_staging_path": work.target_staging_path,
        }
        if work.source_cluster == work.target_cluster:
            message = f"found the cluster {work.source_cluster} as source and target, expected two"
            yield Violation(pointer=(*pointer, "target_cluster"), rule="bad-value", message=message)
        if work.source_tables and len(work.source_databases) > 1:
            message = "found tables of several databases, expected those of one"
            yield Violation(pointer=(*pointer, "source_tables"), rule="bad-value", message=message, on_key=True)
    else:
        keys = dict(zip(work.DIRECTORIES, work.directories(), strict=True))
        source, target = (f"{each.rstrip('/')}/" for each in work.directories())
        nested = source.startswith(target) or target.startswith(source)
        if work.source_cluster == work.target_cluster and nested:
            message = "found source and target in one another, expected two directories"
            yield Violation(pointer=(*pointer, work.DIRECTORIES[1]), rule="bad-value", message=message)
    for key, path in keys.items():
        if path is not None and ("$" in path or "//" in path or not {".", ".."}.isdisjoint(path.split("/"))):
            message = f"found the path {path!r}, expected an absolute one without variables, `.`, `..` and `//`"
            yield Violation(pointer=(*pointer, key), rule="bad-value", message=message)


def check_session(process: Process) -> Iterator[Violation]:
    """Check that a session is chosen for scripts of SQL alone, and shared where it can be."""
    workflow = process.workflow
    spark = workflow.spark
    if spark is None or spark.session is None:
        return
    pointer: Pointer = ("workflow", "spark", "session")
    if Engine.SPARK_SQL not in {workflow.engine, *(step.engine for step in workflow.steps)}:
        message = f"found session: {spark.session}, expected none: no step is a script of SQL (engine spark_sql)"
        yield Violation(pointer=pointer, rule="bad-value", message=message)
    elif spark.session is SparkSessionUse.SHARED and spark.mode == "cluster":
        message = "found session: shared beside mode: cluster, expected mode: client, since its driver runs where"
        yield Violation(pointer=pointer, rule="bad-value", message=f"{message} the runner does; or session: own")


def check_secrets(process: Process) -> Iterator[Violation]:
    """Each secret of a workflow is in one place."""
    for name, credential in process.workflow.secrets.items():
        yield from credential_findings(credential, ("workflow", "secrets", name))


def check_late_inputs(process: Process) -> Iterator[Violation]:
    """Late workflows are given for inputs that the process has."""
    late = process.late_process
    for name in late.inputs if late else ():
        if name not in process.inputs:
            pointer: Pointer = ("late_process", "inputs", name)
            yield replace(_unknown_input(process, pointer, f"the late input {name!r}", name), on_key=True)


def check_step_inputs(process: Process) -> Iterator[Violation]:
    """Check that steps read inputs of the process: else the ledger would wait for batches without a producer."""
    for position, step in enumerate(process.workflow.steps):
        for index, name in enumerate(step.inputs or ()):
            if name not in process.inputs:
                pointer: Pointer = ("workflow", "steps", position, "inputs", index)
                yield _unknown_input(process, pointer, f"the input {name!r} of the step {step.name}", name)


def _unknown_input(process: Process, pointer: Pointer, what: str, name: str) -> Violation:
    return Violation(
        pointer=pointer,
        rule="unknown-input",
        message=f"found {what}, expected one of the process's inputs",
        hint=suggestion(name, process.inputs),
    )


OWN_CHECKS = (
    check_validities,
    check_names,
    check_workflow,
    check_mirror,
    check_session,
    check_secrets,
    check_late_inputs,
    check_step_inputs,
)
CROSS_CHECKS = (check_clusters, check_feeds)
