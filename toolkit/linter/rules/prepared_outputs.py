"""Rule about outputs that a run removes before its first step: the removal takes nothing but the run's own output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.el import PathTemplate, format_instant
from toolkit.entities import LocationType, Repository
from toolkit.linter.findings import Hit
from toolkit.linter.overlap import overlaps
from toolkit.linter.rule import Check, LintContext, remembered
from toolkit.linter.rules.outputs import ProcessOutput, process_outputs, written_twice


def prepared_output(context: LintContext) -> Iterator[Hit]:
    """An output that a run removes before its first step is this run's alone."""
    shared = _shared_locations(context.repository)
    for output in process_outputs(context.repository):
        if output.output.prepare is None:
            continue
        found = _not_removable(output, shared)
        if found is not None:
            message, hint = found
            yield Hit(
                subject=output.process.name,
                pointer=("outputs", output.name, "prepare"),
                message=message,
                hint=hint,
                related=(output.feed.name,),
            )


def _not_removable(output: ProcessOutput, shared: Mapping[tuple[str, str], str]) -> tuple[str, str] | None:
    """Return why a run must not remove an output, and what to do instead."""
    feed, how = output.feed.name, f"prepare: {output.output.prepare}"
    if output.output.allow_existing:
        return (
            f"found {how} beside allow_existing: true, expected one of them: what is removed is never left as it was",
            "remove one of them",
        )
    path = output.feed.locations_on(output.cluster).get(LocationType.DATA)
    if path is not None and not PathTemplate(path, output.feed.path_timezone).dated:
        return (
            f"the path of {feed}, {path}, has no date, so that {how} would remove all of its instances",
            "give the path of the feed date variables, or remove prepare",
        )
    other = shared.get((feed, output.cluster))
    if other is not None:
        return (
            f"data of {other} is, or may be, in the directories of {feed}, and {how} would remove it",
            "give each feed a directory of its own, or remove prepare",
        )
    twice = written_twice(output)
    if twice is not None:
        one, second, instance = map(format_instant, twice)
        return (
            f"the runs {one} and {second} both make {instance} of {feed}: with {how} the second removes the first's",
            "let each run make an instance of its own, or remove prepare",
        )
    return None


@remembered
def _shared_locations(repository: Repository) -> Mapping[tuple[str, str], str]:
    """Return another feed that has data in the directories of a feed, by the feed and the cluster."""
    found: dict[tuple[str, str], str] = {}
    for each in overlaps(repository):
        for other in (*each.same, *each.around):
            if other.feed is not each.location.feed:
                for one, its in ((each.location, other), (other, each.location)):
                    found.setdefault((one.feed.name, one.feed_cluster.name), its.feed.name)
    return found


CHECKS: Mapping[str, Check] = {"prepared-output": prepared_output}
