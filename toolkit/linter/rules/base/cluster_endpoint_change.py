"""An end point of a cluster changes only with everything that depends on it in mind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from toolkit.entities import Cluster, Interface, Interfaces
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.base.listing import listed


def _check(context: LintContext) -> Iterator[Hit]:
    if context.base is None:
        return
    before, after = context.base.repository.clusters, context.repository.clusters
    for name in sorted(before.keys() & after.keys()):
        dependents = context.repository.graph.depended_on_by(name, transitive=True)
        for interface, old, new in _changes(before[name], after[name]):
            yield _hit(name, interface, f"{old or 'none'} -> {new or 'none'}", dependents)


def _changes(before: Cluster, after: Cluster) -> Iterator[tuple[str, str, str]]:
    """Interface, old and new end point of those that the cluster had before."""
    for field in fields(Interfaces):
        old, new = _endpoint(before, field.name), _endpoint(after, field.name)
        if old and old != new:
            yield field.name, old, new


def _endpoint(cluster: Cluster, interface: str) -> str:
    found: Interface | None = getattr(cluster.interfaces, interface)
    return "" if found is None else found.endpoint


def _hit(cluster: str, interface: str, change: str, dependents: tuple[str, ...]) -> Hit:
    noun = "entity depends" if len(dependents) == 1 else "entities depend"
    who = f"{len(dependents)} {noun} on it: {listed(dependents)}" if dependents else "no entity depends on it"
    data = "; data on the old one is left behind" if interface == "write" else ""
    return Hit(
        subject=cluster,
        pointer=("interfaces", interface, "endpoint"),
        message=f"{interface} end point of {cluster} {change}: {who}{data}",
        hint="stop what runs there before it is merged, and see that the new end point serves the same data",
        related=dependents,
    )


RULE = Rule(
    id="cluster-endpoint-change",
    name="A cluster's end point changes with all that depends on it in mind",
    severity=Severity.WARNING,
    rationale="Every feed and process on the cluster uses the new end point from the next run on, and runs that are "
    "under way still use the old one. Falcon allowed it in safe mode only.",
    bad="""\
# clusters/primary.yaml; the base has hdfs://namenode1.example.com:8020
interfaces:
  write: {endpoint: "hdfs://namenode2.example.com:8020"}
""",
    good="""\
# clusters/primary.yaml; a name service stays the same when the machines behind it change
interfaces:
  write: {endpoint: "hdfs://ns1"}
""",
    source="Falcon overview, Updating cluster entity definition",
    check=_check,
    needs_base=True,
)
