"""The properties that a command is handed as arguments: those that Falcon hands to a Pig script or an Oozie workflow.

Each is one argument, ``NAME=${NAME}``: feedctl puts the text in, and no shell ever reads a name or a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolkit.entities import Document
from toolkit.entities.pointers import value_at
from toolkit.migration.known import Known, names_in

_FOR_PIG = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FOR_OOZIE = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_OF_TABLE_INPUTS = (
    "storage_type",
    "database",
    "table",
    "catalog_url",
    "partition_filter_pig",
    "partition_filter_hive",
    "partition_filter_java",
)
_OF_TABLE_OUTPUTS = ("storage_type", "database", "table", "catalog_url", "dataout_partitions")
_SIDE_LOCATIONS = ("stats", "meta", "tmp")


@dataclass(frozen=True, kw_only=True, slots=True)
class StepArguments:
    """Arguments, and the names that cannot be one."""

    arguments: tuple[str, ...]
    left_out: tuple[str, ...]


def pig_arguments(process: Document, known: Known) -> StepArguments:
    """``-param NAME=TEXT`` of each input, output and property; a table's filter is ``INPUT_filter``."""
    tables = [name for name in names_in(process, ("inputs",)) if _is_table(process, ("inputs", name), known)]
    filters = [(f"{name}_filter", f"falcon_{name}_partition_filter_pig") for name in tables]
    around = [name for name in _of_clusters(process, known) if _FOR_PIG.fullmatch(name)]
    own = dict.fromkeys([*_own(process, known), *around])
    pairs = [*((name, name) for name in own), *filters, ("nominalTime", "nominalTime")]
    return _arguments("-param", pairs, _FOR_PIG)


def oozie_arguments(process: Document, known: Known) -> StepArguments:
    """``-D NAME=TEXT`` of all that Falcon's workflows know."""
    names = [*_own(process, known), *_side_locations(process, known), *_of_clusters(process, known), "nominalTime"]
    if names_in(process, ("outputs",)):
        names += ["feedNames", "feedInstancePaths"]
    return _arguments("-D", [(name, name) for name in dict.fromkeys(names)], _FOR_OOZIE)


def _of_clusters(process: Document, known: Known) -> Iterator[str]:
    """Yield what every cluster of the process has: its properties, `nameNode`, `jobTracker`, its name and colo."""
    clusters = names_in(process, ("clusters",))
    yield from _shared_properties(clusters, known)
    yield from ("nameNode", "cluster.name")
    if clusters and all(known.endpoint(each, "execute") for each in clusters):
        yield "jobTracker"
    if clusters and all("colo" in known.clusters.get(each, {}) for each in clusters):
        yield "cluster.colo"


def _side_locations(process: Document, known: Known) -> Iterator[str]:
    """Yield ``INPUT.stats`` and the like of feeds that have the location wherever the process runs."""
    clusters = names_in(process, ("clusters",))
    for key in ("inputs", "outputs"):
        for name in names_in(process, (key,)):
            feed = known.feeds.get(str(value_at(process, (key, name, "feed"))), {})
            yield from (f"{name}.{each}" for each in _SIDE_LOCATIONS if _has_location(feed, each, clusters))


def _has_location(feed: Document, location: str, clusters: list[str]) -> bool:
    own = {name: index for index, name in enumerate(names_in(feed, ("clusters",)))}
    return value_at(feed, ("locations", location)) is not None or all(
        value_at(feed, ("clusters", own.get(name, len(own)), "locations", location)) is not None for name in clusters
    )


def arguments_on(cluster: str, process: Document, known: Known) -> Iterator[str]:
    """The properties of a cluster that Oozie is told there alone, since another cluster of the process has none."""
    everywhere = {*names_in(process, ("properties",)), *_shared_properties(names_in(process, ("clusters",)), known)}
    for name in names_in(known.clusters.get(cluster, {}), ("properties",)):
        if name not in everywhere:
            yield name


def _arguments(option: str, pairs: Iterable[tuple[str, str]], possible: re.Pattern[str]) -> StepArguments:
    arguments: list[str] = []
    left_out: list[str] = []
    for name, value in dict(pairs).items():
        if possible.fullmatch(name):
            arguments += [option, f"{name}=${{{value}}}"]
        else:
            left_out.append(name)
    return StepArguments(arguments=tuple(arguments), left_out=tuple(left_out))


def _own(process: Document, known: Known) -> Iterator[str]:
    yield from names_in(process, ("properties",))
    for key, endings in (("inputs", _OF_TABLE_INPUTS), ("outputs", _OF_TABLE_OUTPUTS)):
        for name in names_in(process, (key,)):
            is_table = _is_table(process, (key, name), known)  # which has no paths that its name could stand for
            yield from (f"falcon_{name}_{ending}" for ending in endings) if is_table else (name,)


def _is_table(process: Document, pointer: tuple[str, str], known: Known) -> bool:
    return known.is_table(str(value_at(process, (*pointer, "feed"))))


def _shared_properties(clusters: list[str], known: Known) -> list[str]:
    """Return the properties that every cluster of the process has: a missing one would fail the step."""
    each = [names_in(known.clusters.get(name, {}), ("properties",)) for name in clusters]
    return [name for name in (each[0] if each else []) if all(name in others for others in each)]
