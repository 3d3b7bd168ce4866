"""The processes that make a feed run as often as it has instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from toolkit.entities import Feed, Repository
from toolkit.linter.bounds import longest
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.awareness.pipelines import Pipelines

_ENOUGH = 0.9
"""One month may be this much shorter than another, and thirty days than a month."""


def _check(context: LintContext) -> Iterator[Hit]:
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        if feed.external or not pipelines.knows(feed):
            continue
        for cluster, makers in _by_cluster(pipelines, feed).items():
            share = sum(_share(context.repository, feed, name) * outputs for name, outputs in makers.items())
            if share < _ENOUGH:
                yield _hit(context.repository, feed, cluster, makers, share)


def _by_cluster(pipelines: Pipelines, feed: Feed) -> dict[str, Counter[str]]:
    """How many outputs of which process make the feed, on clusters without an import."""
    imported = {each.name for each in feed.clusters if each.import_ is not None}
    found: dict[str, Counter[str]] = {}
    for process, cluster in pipelines.makers.get(feed.name, ()):
        if cluster not in imported:
            found.setdefault(cluster, Counter())[process] += 1
    return found


def _share(repository: Repository, feed: Feed, process: str) -> float:
    """The part of a feed's instances that one output of a process makes."""
    return longest(feed.frequency) / longest(repository.process(process).frequency)


def _hit(repository: Repository, feed: Feed, cluster: str, makers: Counter[str], share: float) -> Hit:
    each = ", ".join(f"{name} every {repository.process(name).frequency}" for name in sorted(makers))
    first = min(makers)
    outputs = repository.process(first).outputs
    output = next(name for name, output in outputs.items() if output.feed == feed.name)
    return Hit(
        subject=first,
        pointer=("outputs", output, "feed"),
        message=f"{feed.name} has an instance every {feed.frequency}, but on {cluster} only {each} makes it: "
        f"about 1 in {1 / share:.0f} instances ever comes",
        hint="let the process run as often as the feed has instances, or give the feed the process's frequency",
        related=(feed.name,),
    )


RULE = Rule(
    id="instances-never-made",
    name="The processes that make a feed run as often as it has instances",
    severity=Severity.WARNING,
    rationale="A run makes one instance of each output. What no run makes never comes, and a reader of these instances "
    "waits for ever.",
    bad="""\
# processes/daily_job.yaml, where clicks_hourly has the frequency hours(1)
frequency: days(1)
outputs:
  counts: {feed: clicks_hourly, instance: "today(0,0)"}
""",
    good="""\
# processes/hourly_job.yaml, where clicks_hourly has the frequency hours(1)
frequency: hours(1)
outputs:
  counts: {feed: clicks_hourly, instance: "now(0,0)"}
""",
    source="Falcon entity specification, Process, Outputs; Airflow AIP-48",
    check=_check,
)
