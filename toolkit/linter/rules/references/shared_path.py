"""No path and no partition belongs to two feeds, or to two locations of one feed."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Pointer, Repository
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.once import once
from toolkit.linter.rule import Rule
from toolkit.linter.rules.references.overlaps import overlaps
from toolkit.linter.rules.references.sites import Site


def _check(context: LintContext) -> Iterator[Hit]:
    made = _made(context.repository)
    seen: set[tuple[str, Pointer]] = set()
    for found in overlaps(context.repository):
        others = [each for each in found.same if _matters(found.site, each)]
        if others and found.site.key not in seen:
            seen.add(found.site.key)
            yield _hit(found.site, others, made)


@once
def _made(repository: Repository) -> frozenset[tuple[str, str]]:
    """The feeds that a process makes, with the cluster."""
    return frozenset(
        (output.feed, cluster.name)
        for process in repository.processes.values()
        for output in process.outputs.values()
        for cluster in process.clusters
    )


def _matters(site: Site, other: Site) -> bool:
    """Whether both ever use the name: undated statistics and metadata are shared by intention."""
    if not (site.is_dated or site.is_data) and not (other.is_dated or other.is_data):
        return False
    return site.is_evicted or other.is_evicted or site.meets_in_time(other)


def _hit(site: Site, others: list[Site], made: frozenset[tuple[str, str]]) -> Hit:
    other = others[0]
    deletes = other if other.is_evicted else site if site.is_evicted else None
    both_made = {(each.feed.name, each.feed_cluster.name) for each in (site, other)} <= made
    return Hit(
        subject=site.feed.name,
        pointer=site.pointer,
        message=f"{_who(site, others)}{_such_as(site, other)}{_consequence(deletes, site, other)}",
        hint="give each its own directory" if site.what != "table" else "tell them apart by a partition key",
        severity=Severity.ERROR if (deletes or both_made) and other.feed is not site.feed else Severity.WARNING,
        related=tuple(sorted({each.feed.name for each in others} - {site.feed.name})),
    )


def _who(site: Site, others: list[Site]) -> str:
    named = " and ".join(_name(each, site) for each in others)
    kind = "partitions" if site.what == "table" else "paths"
    return f"the {site} on {site.feed_cluster.name} can have the same {kind} as {named}"


def _name(other: Site, site: Site) -> str:
    if other.feed is site.feed:
        is_beside = other.feed_cluster is site.feed_cluster
        return f"its {other}" if is_beside else f"its {other} on {other.feed_cluster.name}"
    return f"the {other} of {other.feed.name} on {other.feed_cluster.name}"


def _such_as(site: Site, other: Site) -> str:
    first = site.feed_cluster.validity.start
    return f", such as {site.named(first)}" if site.shares(other, first) else ""


def _consequence(deletes: Site | None, site: Site, other: Site) -> str:
    if deletes is None:
        return "; what one writes the other reads, or overwrites"
    limit = deletes.feed_cluster.retention.limit if deletes.feed_cluster.retention else ""
    victim = site if deletes is other else other
    whose = "both" if victim.feed is deletes.feed else f"{victim.feed.name}'s as well"
    return f"; the retention of {limit} of {deletes.feed.name} deletes {whose}"


RULE = Rule(
    id="shared-path",
    name="No path and no partition belongs to two feeds",
    severity=Severity.ERROR,
    rationale=(
        "What two feeds write to one place they overwrite, and what conforms to a feed's template is deleted when "
        "it is older than the feed's limit, whoever made it. Templates are compared as canonical names, with their "
        "variables bound and in every place at once, so that two clusters on one file system count as one; "
        "validities matter only where no retention acts. Undated stats, meta and tmp may be shared."
    ),
    bad="""\
# feeds/impressions.yaml; clicks has "/data/web/${YEAR}/${MONTH}/${DAY}"
locations: {data: "/data/${source}/${YEAR}/${MONTH}/${DAY}"}
properties: {source: web}
""",
    good="""\
# feeds/impressions.yaml; clicks has "/data/web/${YEAR}/${MONTH}/${DAY}"
locations: {data: "/data/${source}/${YEAR}/${MONTH}/${DAY}"}
properties: {source: impressions}
""",
    source="DESIGN sections 5 and 7; Falcon overview, Relation between feed path and retention policy",
    check=_check,
)
