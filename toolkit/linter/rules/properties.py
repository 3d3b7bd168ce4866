"""Rules about the names of properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache, lru_cache

from toolkit.el import ElError, OutOfRange, TableUri
from toolkit.entities import Cluster, Feed, Process, Properties, SchemaName, property_text, schema
from toolkit.entities.mirror import Mirror
from toolkit.entities.nearest import may_be_alike
from toolkit.entities.repository import Repository
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext
from toolkit.planning.process_properties import CLUSTER_PROPERTIES, RUN_PROPERTIES, evaluated, names_of
from toolkit.planning.step_settings import is_operators

_ALIKE = 0.86
"""`queuName` and `queueName` are 0.94 alike, `order` and `border` 0.91 but too short, `user` and `queue` 0.44."""
_SHORTEST = 6
_CACHED = 4096


def misspelt_property(context: LintContext) -> Iterator[Hit]:
    """A property that looks like one with a meaning is spelt like it."""
    for feed in context.repository.feeds.values():
        yield from _hits(feed)
    for process in context.repository.processes.values():
        yield from _hits(process)


def _hits(entity: Feed | Process) -> Iterator[Hit]:
    text = _template_text(entity) if isinstance(entity, Feed) and entity.properties else ""
    for name in entity.properties:
        meant = _meant(name, SchemaName(entity.KIND))
        if meant is not None and meant not in entity.properties and f"${{{name}}}" not in text:
            yield Hit(
                subject=entity.name,
                pointer=("properties", name),
                message=f"the property {name!r} has no meaning, but {meant!r} has",
                hint=f"did you mean {meant}? If not, suppress this finding with the reason",
                on_key=True,
            )


def _template_text(feed: Feed) -> str:
    """Everything in which a property of the feed may be used as a variable."""
    places = [feed.locations, *(each.locations for each in feed.clusters)]
    texts = [text for place in places if place is not None for _, text in place.by_type()]
    texts += [each for each in (feed.table, *(each.table for each in feed.clusters)) if each is not None]
    return " ".join([*texts, *(each.partition for each in feed.clusters if each.partition is not None)])


@cache
def _known(kind: SchemaName) -> Mapping[str, str]:
    """Names with a meaning, and each without what is no letter or digit."""
    return {name: _plain(name) for name in schema(kind)["properties"]["properties"]["properties"]}


@lru_cache(maxsize=_CACHED)
def _meant(name: str, kind: SchemaName) -> str | None:
    """The name with a meaning that a name without one looks like."""
    known = _known(kind)
    if name in known:
        return None
    plain = _plain(name)
    scored = [(_likeness(plain, text), each) for each, text in known.items() if may_be_alike(plain, text, _ALIKE)]
    score, best = max(scored, default=(0.0, ""))
    return best if score >= _ALIKE else None


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _likeness(left: str, right: str) -> float:
    if left == right:
        return 1.0
    if min(len(left), len(right)) < _SHORTEST:
        return 0.0
    return SequenceMatcher(None, left, right).ratio()


_OF_A_RUN = RUN_PROPERTIES | {"timeStamp", "timestamp"}
"""Properties of a workflow about its run, and Falcon's own."""

_OPERATORS = "that of a variable of the operator, which says what programs load or whom feedctl trusts"

_PREFIX = "falcon_"
_TEMPLATE_NAMES = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "cluster.name", "cluster.colo"})


def reserved_property(context: LintContext) -> Iterator[Hit]:
    """A property, an input, an output or a secret has none of the names that feedctl or the operator gives a value."""
    for process in context.repository.processes.values():
        yield from _of_process(process, context.repository.feeds)
        yield from _in_each_others_way(process, context.repository)
    for feed in context.repository.feeds.values():
        yield from _of_templates(feed, feed.properties)
    for cluster in context.repository.clusters.values():
        yield from _of_templates(cluster, cluster.properties)
        yield from _of_workflows(cluster)


def _of_process(process: Process, feeds: Mapping[str, Feed]) -> Iterator[Hit]:
    reasons = dict(_published(process, feeds)) if process.properties else {}
    for name in process.properties:
        reason = reasons.get(name) or _reserved(name)
        if reason is not None:
            yield _hit(process.name, ("properties", name), f"the property {name!r} is {reason}")
    for side, names in (("inputs", process.inputs), ("outputs", process.outputs)):
        for name in names:
            reason = _reserved(name) or next((_reserved(each) for each in names_of(name) if is_operators(each)), None)
            if reason is not None:
                yield _hit(process.name, (side, name), f"the name {name!r} is {reason}")
    for name in filter(is_operators, process.workflow.secrets):
        yield _hit(process.name, ("workflow", "secrets", name), f"the name {name!r} is {_OPERATORS}")


def _published(process: Process, feeds: Mapping[str, Feed]) -> Iterator[tuple[str, str]]:
    """The properties that inputs and outputs become."""
    for side, names in (("input", process.inputs), ("output", process.outputs)):
        for name in names:
            keys = names_of(name, output_keys(process, name, feeds))
            yield from ((each, f"what the {side} {name} becomes") for each in keys)


def output_keys(process: Process, name: str, feeds: Mapping[str, Feed]) -> Iterator[str]:
    """The partition keys that an output's values are told by; of an input and of a path feed there are none."""
    feed = feeds.get(process.outputs[name].feed) if name in process.outputs else None
    for text in {feed.table_on(each.name) for each in feed.clusters} if feed else ():
        if text is not None:
            yield from TableUri.parse(text).partition_keys


def _in_each_others_way(process: Process, repository: Repository) -> Iterator[Hit]:
    """Inputs and outputs that become one property, and those that hide a property of a cluster."""
    clusters = repository.clusters
    of_clusters = [clusters[each.name] for each in process.clusters if each.name in clusters]
    taken: dict[str, str] = {}
    for side, names in (("inputs", process.inputs), ("outputs", process.outputs)):
        for name in names:
            own = list(names_of(name, output_keys(process, name, repository.feeds)))
            reasons = [taken[each] for each in own if each in taken]
            hidden = (
                f"a property of the cluster {on.name}" for on in of_clusters for each in own if each in on.properties
            )
            for reason in (*reasons, *hidden):
                yield _hit(process.name, (side, name), f"the name {name!r} is {reason}, too")
                break
            taken |= dict.fromkeys(own, f"what the {side.removesuffix('s')} {name} becomes")


def _reserved(name: str) -> str | None:
    if name in _OF_A_RUN:
        return "what a workflow is told about its run"
    if name in CLUSTER_PROPERTIES:
        return "what a workflow is told about its cluster"
    if is_operators(name):
        return _OPERATORS
    return f"one of those that begin with {_PREFIX}, which feedctl sets" if name.startswith(_PREFIX) else None


def _of_templates(entity: Feed | Cluster, properties: Properties) -> Iterator[Hit]:
    for name in properties:
        if name in _TEMPLATE_NAMES:
            yield _hit(entity.name, ("properties", name), f"the property {name!r} has a meaning in templates already")


def _of_workflows(cluster: Cluster) -> Iterator[Hit]:
    """The properties of a cluster that no workflow would see, since it is told another value by that name."""
    for name in cluster.properties:
        reason = None if name in _TEMPLATE_NAMES else _reserved(name)
        if reason is not None:
            yield _hit(cluster.name, ("properties", name), f"the property {name!r} is {reason}")


def blank_property(context: LintContext) -> Iterator[Hit]:
    """A property has a name."""
    for entity in context.repository.entities():
        if isinstance(entity, Mirror):
            continue
        named = {"properties": entity.properties}
        if isinstance(entity, Cluster):
            named["hadoop_conf"] = entity.hadoop_conf
        for key, properties in named.items():
            for name in properties:
                if not name.strip():
                    message = f"found a property with the name {name!r}, expected one that is not blank"
                    hint = "give it a name, or remove it"
                    yield Hit(subject=entity.name, pointer=(key, name), message=message, hint=hint, on_key=True)


def _hit(subject: str, pointer: tuple[str | int, ...], message: str) -> Hit:
    return Hit(subject=subject, pointer=pointer, message=message, hint="choose another name", on_key=True)


def property_expression(context: LintContext) -> Iterator[Hit]:
    """Find properties of a process or of its cluster that call what cannot be evaluated."""
    repository = context.repository
    for process in repository.processes.values():
        yield from _calls(process, process)
    users = {each.name: process for process in repository.processes.values() for each in process.clusters}
    for name in sorted(users.keys() & repository.clusters.keys()):
        yield from _calls(repository.clusters[name], users[name])


def _calls(entity: Process | Cluster, process: Process) -> Iterator[Hit]:
    """Yield hits for calls without a value; they are the same for all processes and instances."""
    start = process.clusters[0].validity.start
    for name, value in entity.properties.items():
        try:
            evaluated(property_text(value), start, process.timezone)
        except OutOfRange:
            continue  # of this instance; others are in the middle of the calendar
        except ElError as error:
            hint = "name a function of the expression language that needs no look at the data, or write it without ${}"
            message = f"the property {name!r} has no value: {error}"
            yield Hit(subject=entity.name, pointer=("properties", name), message=message, hint=hint)


CHECKS: Mapping[str, Check] = {
    "blank-property": blank_property,
    "misspelt-property": misspelt_property,
    "property-expression": property_expression,
    "reserved-property": reserved_property,
}
