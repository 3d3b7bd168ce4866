"""The properties that tell a workflow about its instance (Falcon entity specification, Process).

One name has one value. Where names collide, the later of these wins: the properties of the cluster entity, those of
the process, what feedctl sets. The linter refuses a name by which feedctl would hide a property
(`reserved-property`); a process that sets a property of its cluster anew is what a default is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum

from toolkit.el import TableUri, evaluate, format_instant
from toolkit.entities import Cluster, LocationType, property_text
from toolkit.planning.process_io import PlannedInput, PlannedOutput, ProcessSite

RUN_PROPERTIES = frozenset(
    {
        "entityName",
        "nominalTime",
        "feedNames",
        "feedInstancePaths",
        "falconInputNames",
        "falconInputFeeds",
        "falconInPaths",
        "triggering_events",
        "triggering_event_count",
    }
)
"""Properties of a workflow about its run, besides each input and output."""
CLUSTER_PROPERTIES = frozenset({"cluster.name", "cluster.colo", "nameNode", "jobTracker"})
"""Properties of a workflow about its cluster, besides the cluster's own properties."""

_CALL = re.compile(r"\$\{(\s*[A-Za-z_][A-Za-z0-9_]*\s*\([^{}]*\)\s*)\}")
"""A call of an EL function in a property's value: ``${instanceTime()}``; ``${threshold}`` is none, and stays."""
_BETWEEN_FEEDS = "#"
"""Between the lists of paths of several inputs, in which a comma is taken."""
_SIDE_LOCATIONS = (LocationType.STATS, LocationType.META, LocationType.TMP)


def instance_properties(
    site: ProcessSite, nominal_time: datetime, inputs: Iterable[PlannedInput], outputs: Iterable[PlannedOutput]
) -> Mapping[str, str]:
    """Every property that the workflow of a process instance is told, sorted by name.

    Args:
        site: the process on its cluster.
        nominal_time: of the instance, UTC.
        inputs: what the instance reads.
        outputs: what it makes.

    Raises:
        ElError: a property calls a function that does not exist, or one that counts available instances.
    """
    read, made = tuple(inputs), tuple(outputs)
    registry = site.cluster.interfaces.registry
    endpoint = "" if registry is None else registry.endpoint
    found = dict(user_properties(site, nominal_time))
    found.update(_cluster_properties(site.cluster))
    found.update(_run_properties(site, nominal_time, read, made))
    for each in read:
        found.update(input_properties(each, endpoint, site.qualified))
    for output in made:
        found.update(output_properties(output, endpoint, site.qualified))
    return dict(sorted(found.items()))


def names_of(name: str, keys: Iterable[str] = ()) -> Iterator[str]:
    """The properties that an input or output of this name may become, but for those that begin with ``falcon_``.

    Args:
        name: of the input or output.
        keys: the partition keys of an output's table.
    """
    yield name
    yield from (f"{name}.{key}" for key in keys)
    yield f"{name}_filter"
    yield from (f"{name}.{location}" for location in LocationType)


def user_properties(site: ProcessSite, nominal_time: datetime) -> Mapping[str, str]:
    """The properties of the cluster and of the process, which wins; ``${instanceTime()}`` and its like are instants.

    Raises:
        ElError: a call of a function that does not exist, or that counts available instances.
    """
    values = {**site.cluster.properties, **site.process.properties}
    zone = site.process.timezone
    return {name: evaluated(property_text(value), nominal_time, zone) for name, value in values.items()}


def evaluated(text: str, nominal_time: datetime, timezone: str) -> str:
    """A property's value with instants in the places of ``${instanceTime()}``, ``${today(0,0)}`` and their like.

    Args:
        text: the value; ``${threshold}``, which calls nothing, stays as it is.
        nominal_time: of the process instance, UTC.
        timezone: of the process.

    Raises:
        ElError: a call of a function that does not exist, or that counts available instances.
    """

    def instant(call: re.Match[str]) -> str:
        return format_instant(evaluate(call[1].strip(), nominal_time, timezone))

    return _CALL.sub(instant, text)


def _cluster_properties(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Yield the properties of the cluster in the sense of the specification (Process, Workflow)."""
    yield "cluster.name", cluster.name
    if cluster.colo is not None:
        yield "cluster.colo", cluster.colo
    yield "nameNode", cluster.default_fs
    if cluster.interfaces.execute is not None:
        yield "jobTracker", cluster.interfaces.execute.endpoint


def _run_properties(
    site: ProcessSite, nominal_time: datetime, inputs: Iterable[PlannedInput], outputs: Iterable[PlannedOutput]
) -> Mapping[str, str]:
    """The instance, its feeds and where they are; `feedNames` and `feedInstancePaths` are those that it makes."""
    read = {each.name: each for each in inputs}
    made = tuple(outputs)
    return {
        "entityName": site.process.name,
        "nominalTime": format_instant(nominal_time),
        "feedNames": ",".join(each.storage.feed for each in made),
        "feedInstancePaths": ",".join(_address(site, each) for each in made),
        "falconInputNames": _BETWEEN_FEEDS.join(read),
        "falconInputFeeds": _BETWEEN_FEEDS.join(each.storage.feed for each in read.values()),
        "falconInPaths": _BETWEEN_FEEDS.join(",".join(_addresses(site, each)) for each in read.values()),
    }


def _address(site: ProcessSite, output: PlannedOutput) -> str:
    path = output.instance.paths.get(LocationType.DATA)
    return site.uri(output.storage, output.instance) if path is None else site.qualified(path)


def _addresses(site: ProcessSite, each: PlannedInput) -> Iterable[str]:
    if each.storage.table is None:
        return map(site.qualified, each.paths())
    return (site.uri(each.storage, instance) for instance in each.instances)


class FilterForm(StrEnum):
    """For whom a partition filter is written."""

    HIVE = "hive"
    """HiveQL and Spark SQL: ``=``."""
    PIG = "pig"
    """Pig: ``==``."""
    JAVA = "java"
    """The metastore's filter language: ``=``."""


def partition_filter(partitions: Iterable[Mapping[str, str]], form: FilterForm) -> str:
    """A filter that selects the partitions: ``(ds='A' AND region='us') OR (ds='B' AND region='us')``.

    Source: Falcon entity specification, Inputs; DESIGN section 8.
    """
    equals = "==" if form is FilterForm.PIG else "="
    return " OR ".join(_conjunction(partition, equals) for partition in partitions)


def partition_spec(partition: Mapping[str, str]) -> str:
    """Return a partition as a `PARTITION` clause of Hive and Spark SQL has it: ``ds='A',region='us'``."""
    return ",".join(f"{key}='{_quoted(value)}'" for key, value in partition.items())


def input_properties(
    planned: PlannedInput, registry: str = "", qualified: Callable[[str], str] = str
) -> dict[str, str]:
    """The properties of an input: its paths, or its table and partition filters.

    Args:
        planned: the input.
        registry: the end point of the cluster's registry interface; for tables.
        qualified: a path with its file system.
    """
    own = f"falcon_{planned.name}"
    missing = {f"{own}_missing": "true" if planned.optional and not planned.instances else "false"}
    if planned.storage.table is not None:
        filters = {f"{own}_partition_filter_{form}": partition_filter(planned.partitions, form) for form in FilterForm}
        short = {f"{planned.name}_filter": partition_filter(planned.partitions, FilterForm.HIVE)}
        return {**_table_properties(own, planned.storage.table, registry), **filters, **short, **missing}
    located = {planned.name: ",".join(map(qualified, planned.paths())), f"{own}_storage_type": "FILESYSTEM"}
    # Undated places (`meta: /data/meta`) are the same for all instances: once is enough.
    sides = {
        side: dict.fromkeys(map(qualified, planned.paths(side)))
        for side in _SIDE_LOCATIONS
        if side in planned.storage.templates
    }
    return {**located, **{f"{planned.name}.{side}": ",".join(paths) for side, paths in sides.items()}, **missing}


def output_properties(
    planned: PlannedOutput, registry: str = "", qualified: Callable[[str], str] = str
) -> dict[str, str]:
    """The properties of an output: its path, or its table and partition, with each key's value by itself.

    Args:
        planned: the output.
        registry: the end point of the cluster's registry interface; for tables.
        qualified: a path with its file system.
    """
    own = f"falcon_{planned.name}"
    if planned.storage.table is not None and planned.instance.partition is not None:
        values = ",".join(f"{key}={value}" for key, value in planned.instance.partition.items())
        keys = {f"{planned.name}.{key}": value for key, value in planned.instance.partition.items()}
        table = _table_properties(own, planned.storage.table, registry)
        return {**table, f"{own}_dataout_partitions": f"'{values}'", **keys}
    paths = planned.instance.paths
    sides = {f"{planned.name}.{side}": qualified(paths[side]) for side in _SIDE_LOCATIONS if side in paths}
    return {planned.name: qualified(paths[LocationType.DATA]), f"{own}_storage_type": "FILESYSTEM", **sides}


def _table_properties(own: str, table: TableUri, registry: str) -> dict[str, str]:
    return {
        f"{own}_storage_type": "TABLE",
        f"{own}_catalog_url": registry,
        f"{own}_database": table.database,
        f"{own}_table": table.table,
    }


def _conjunction(partition: Mapping[str, str], equals: str) -> str:
    terms = (f"{key}{equals}'{_quoted(value)}'" for key, value in partition.items())
    return f"({' AND '.join(terms)})"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
