"""No feed's instances lie in another feed's instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolkit.entities import Pointer
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.references.overlaps import overlaps
from toolkit.linter.rules.references.sites import Site


def _check(context: LintContext) -> Iterator[Hit]:
    chosen: dict[tuple[str, Pointer], tuple[Site, Site]] = {}
    for found in overlaps(context.repository):
        outer = _worst(found.around)
        if outer is not None and (
            found.site.key not in chosen or outer.is_evicted > chosen[found.site.key][1].is_evicted
        ):
            chosen[found.site.key] = found.site, outer
    for site, outer in chosen.values():
        yield _hit(site, outer)


def _worst(around: Iterable[Site]) -> Site | None:
    """The site that retention acts on, else any whose content is read; undated metadata only holds what it holds."""
    relevant = [each for each in around if each.is_dated or each.is_data]
    return next((each for each in relevant if each.is_evicted), relevant[0] if relevant else None)


def _hit(site: Site, outer: Site) -> Hit:
    return Hit(
        subject=site.feed.name,
        pointer=site.pointer,
        message=(
            f"the {site} on {site.feed_cluster.name} lies in the {outer} of {outer.feed.name} on "
            f"{outer.feed_cluster.name}{_such_as(site, outer)}; {_consequence(site, outer)}"
        ),
        hint="put them beside one another",
        severity=Severity.ERROR if outer.is_evicted else Severity.WARNING,
        related=(outer.feed.name,),
    )


def _such_as(site: Site, outer: Site) -> str:
    first = site.feed_cluster.validity.start
    inner, instance = site.named(first), outer.named(first)
    return f", such as {inner} in {instance}" if instance and inner.startswith(f"{instance}/") else ""


def _consequence(site: Site, outer: Site) -> str:
    retention = outer.feed_cluster.retention
    if outer.is_evicted and retention is not None:
        own = site.feed_cluster.retention
        kept = f", though {site.feed.name} keeps its own for {own.limit}" if own else ", though nothing else ever does"
        return f"the retention of {retention.limit} of {outer.feed.name} deletes it with its own instances{kept}"
    return f"whoever reads or copies {outer.feed.name} takes it for a part of that"


RULE = Rule(
    id="nested-path",
    name="No feed's instances lie in another feed's instances",
    severity=Severity.ERROR,
    rationale=(
        "An instance is a directory with all that is in it: it is read, copied and deleted as a whole. What another "
        "feed keeps in it is deleted when the outer instance is. Without a retention of the outer feed it is a "
        "warning: the inner files are read and replicated as its data."
    ),
    bad="""\
# feeds/clicks_errors.yaml; clicks has "/data/clicks/${YEAR}/${MONTH}/${DAY}"
locations: {data: "/data/clicks/${YEAR}/${MONTH}/${DAY}/errors"}
""",
    good="""\
# feeds/clicks_errors.yaml; clicks has "/data/clicks/${YEAR}/${MONTH}/${DAY}"
locations: {data: "/data/clicks_errors/${YEAR}/${MONTH}/${DAY}"}
""",
    source="DESIGN section 7; Falcon overview, Relation between feed path and retention policy",
    check=_check,
)
