"""Holds and environments name what exists: a hold on nothing, or an overlay of nothing, is a mistake (fail closed)."""

from collections.abc import Iterator, Mapping

from toolkit.entities.checks import Context
from toolkit.entities.holds import Hold
from toolkit.entities.nearest import suggestion
from toolkit.entities.parsing import ParsedFiles, layer_problems, part_of
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.repo import Environment
from toolkit.entities.schema_store import Form, SchemaName
from toolkit.entities.source_files import HOLDS_FILE, environment_name
from toolkit.entities.validation import placed
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer


def hold_problems(parsed: ParsedFiles, holds: tuple[Hold, ...], context: Context) -> Iterator[ConfigProblem]:
    """Each hold is on a known feed, on a cluster of that feed, for a time that is not empty."""
    layer = parsed.documents.get(HOLDS_FILE)
    if layer is None:
        return
    for index, hold in enumerate(holds):
        for finding in _hold_findings(hold, ("holds", index), context):
            yield placed(finding, [layer], layer.document)


def _hold_findings(hold: Hold, pointer: Pointer, context: Context) -> Iterator[Violation]:
    yield from context.reference(Kind.FEED, hold.feed, (*pointer, "feed"))
    if hold.cluster is not None:
        yield from _hold_cluster(hold, hold.cluster, (*pointer, "cluster"), context)
    if hold.start is not None and hold.end is not None and hold.start >= hold.end:
        message = "the hold ends before it starts, expected start < end"
        yield Violation(pointer=(*pointer, "end"), rule="empty-hold", message=message, hint="the end is exclusive")


def _hold_cluster(hold: Hold, name: str, pointer: Pointer, context: Context) -> Iterator[Violation]:
    yield from context.reference(Kind.CLUSTER, name, pointer)
    feed = context.feeds.get(hold.feed)
    known = [] if feed is None else [each.name for each in feed.clusters]
    if known and name in context.names[Kind.CLUSTER] and name not in known:
        message = f"the feed {hold.feed} is not on the cluster {name}"
        yield Violation(pointer=pointer, rule="feed-not-on-cluster", message=message, hint=suggestion(name, known))


def environment_problems(
    parsed: ParsedFiles, environments: Mapping[str, Environment], context: Context
) -> Iterator[ConfigProblem]:
    """Each environment names known clusters and entities, and lays over them what they can have."""
    for file, layer in parsed.documents.items():
        name = environment_name(file)
        if name is None:
            continue
        for finding in _environment_findings(environments[name], context):
            yield placed(finding, [layer], layer.document)
        for entity, kind in _overlaid(environments[name], context):
            part = part_of(layer, ("entities", entity))
            if part is not None:
                yield from layer_problems(part, SchemaName(kind), Form.OVERLAY)


def _overlaid(environment: Environment, context: Context) -> Iterator[tuple[str, Kind]]:
    for kind in Kind:
        names = context.names[kind] if kind is Kind.MIRROR else set(context.names[kind]).difference(context.expanded)
        yield from ((name, kind) for name in environment.entities if name in names)


def _environment_findings(environment: Environment, context: Context) -> Iterator[Violation]:
    for index, cluster in enumerate(environment.clusters):
        yield from context.reference(Kind.CLUSTER, cluster, ("clusters", index))
    expanded = set(context.expanded).difference(context.names[Kind.MIRROR])
    known = {name for names in context.names.values() for name in names if name not in expanded}
    for entity in environment.entities:
        if entity not in known:
            yield Violation(
                pointer=("entities", entity),
                rule="unknown-entity",
                message=f"found values for {entity!r}, expected the name of an entity",
                hint=suggestion(entity, known),
                on_key=True,
            )
