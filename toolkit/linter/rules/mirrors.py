"""Rules about mirrors: what their sides are, and that each target belongs to one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from toolkit.el import CanonicalPath, ElError
from toolkit.entities import Cluster
from toolkit.entities.mirror_work import CopyWork, HiveMirror
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext

_WITH_SNAPSHOTS = frozenset({"hdfs", "webhdfs", "swebhdfs"})
"""Schemes of stores whose directories can have snapshots."""


def mirror_without_snapshots(context: LintContext) -> Iterator[Hit]:
    """Both directories of a mirror by snapshots are on HDFS."""
    clusters = context.repository.clusters
    for _, process in sorted(context.repository.processes.items()):
        work = process.workflow.mirror.hdfs_snapshot if process.workflow.mirror else None
        sides = () if work is None else zip(work.DIRECTORIES, work.directories(), work.clusters(), strict=True)
        for key, directory, name in sides:
            place = _place(clusters, name, directory)
            if place is not None and place.scheme not in _WITH_SNAPSHOTS:
                yield Hit(
                    subject=process.name,
                    pointer=("workflow", "mirror", "hdfs_snapshot", key),
                    message=f"{directory} on {name} is {place}, and only directories of HDFS have snapshots",
                    hint="choose a cluster whose write end point is on HDFS, or another type of mirror",
                    related=(name,),
                )


def mirror_targets_overlap(context: LintContext) -> Iterator[Hit]:
    """No two mirrors write one target, or targets inside each other."""
    clusters, found = (
        context.repository.clusters,
        [
            (process, kind, work)
            for _, process in sorted(context.repository.processes.items())
            for kind, work in (process.workflow.mirror.given().items() if process.workflow.mirror else ())
        ],
    )
    for (first, _, one), (second, kind, other) in combinations(found, 2):
        shared = _shared_target(clusters, one, other)
        if shared:
            key = "source_databases" if isinstance(other, HiveMirror) else other.DIRECTORIES[1]
            yield Hit(
                subject=second.name,
                pointer=("workflow", "mirror", kind, key),
                message=f"the mirror {first.name} writes {shared} too, so that each would undo what the other did",
                hint="give one of them another target",
                related=(first.name,),
            )


def _shared_target(clusters: Mapping[str, Cluster], one: CopyWork, other: CopyWork) -> str:
    """Return in words what two mirrors both write; empty: nothing."""
    if isinstance(one, HiveMirror) and isinstance(other, HiveMirror):
        databases = {each.lower() for each in one.source_databases} & {each.lower() for each in other.source_databases}
        names, others = ({each.lower() for each in work.source_tables} for work in (one, other))
        is_apart = one.target_cluster != other.target_cluster or bool(names and others and not names & others)
        is_alike = one.source_cluster == other.source_cluster  # they want the same
        return "" if is_apart or is_alike else ", ".join(sorted(databases))
    if isinstance(one, HiveMirror) or isinstance(other, HiveMirror):
        return ""
    places = [_place(clusters, each.target_cluster, each.directories()[1]) for each in (one, other)]
    first, second = places
    return str(second) if first is not None and second is not None and first.meets(second) else ""


def _place(clusters: Mapping[str, Cluster], name: str, directory: str) -> CanonicalPath | None:
    try:
        return clusters[name].place(directory) if name in clusters else None
    except ElError:
        return None  # other rules object to the end point


CHECKS: Mapping[str, Check] = {
    "mirror-without-snapshots": mirror_without_snapshots,
    "mirror-targets-overlap": mirror_targets_overlap,
}
"""Checks of this module, by the names of their rules."""
