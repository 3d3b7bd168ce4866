"""Entities for the planning tests, built directly."""

from __future__ import annotations

from toolkit.el import Frequency, parse_instant
from toolkit.entities import (
    Cluster,
    Engine,
    Feed,
    FeedCluster,
    Input,
    Interface,
    Interfaces,
    Locations,
    Output,
    Process,
    ProcessCluster,
    Validity,
    Workflow,
)

REGISTRY = "thrift://localhost:29083"


def validity(start: str = "2010-01-01T00:00Z", end: str = "2099-01-01T00:00Z") -> Validity:
    return Validity(start=parse_instant(start), end=parse_instant(end))


def cluster() -> Cluster:
    interfaces = Interfaces(write=Interface(endpoint="file:///"), registry=Interface(endpoint=REGISTRY))
    return Cluster(name="primary", colo="gs", interfaces=interfaces)


def path_feed(
    name: str, template: str, frequency: str = "hours(1)", timezone: str = "UTC", start: str = "2010-01-01T00:00Z"
) -> Feed:
    return Feed(
        name=name,
        frequency=Frequency.parse(frequency),
        timezone=timezone,
        partitions=("isFraud", "country"),
        locations=Locations(data=template, stats="/stats/${YEAR}", meta=None),
        clusters=(FeedCluster(name="primary", validity=validity(start)),),
    )


def table_feed(name: str, uri: str, frequency: str = "hours(1)") -> Feed:
    on_primary = FeedCluster(name="primary", validity=validity())
    return Feed(name=name, frequency=Frequency.parse(frequency), table=uri, clusters=(on_primary,))


def process(
    inputs: dict[str, Input] | None = None,
    outputs: dict[str, Output] | None = None,
    frequency: str = "hours(1)",
    timezone: str = "UTC",
    start: str = "2012-01-01T00:40Z",
) -> Process:
    return Process(
        name="sample",
        frequency=Frequency.parse(frequency),
        timezone=timezone,
        clusters=(ProcessCluster(name="primary", validity=validity(start, "2030-01-01T00:00Z")),),
        inputs=inputs or {},
        outputs=outputs or {},
        workflow=Workflow(engine=Engine.COMMAND, path="run.sh"),
    )
