"""What a process reads is made on its cluster, or copied there."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import ClusterRole, Feed, Input, Process
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.awareness.pipelines import Pipelines


def _check(context: LintContext) -> Iterator[Hit]:
    pipelines = Pipelines.of(context)
    for process in context.repository.processes.values():
        for name, each in process.inputs.items():
            feed = context.repository.feeds.get(each.feed)
            if feed is not None and not feed.external and pipelines.knows(feed):
                yield from _cuts(process, name, each, feed, pipelines.made_on(feed))


def _cuts(process: Process, name: str, each: Input, feed: Feed, made_on: frozenset[str]) -> Iterator[Hit]:
    for cluster in process.clusters if made_on else ():
        if cluster.name not in made_on and not _is_copied(feed, cluster.name, made_on):
            places = ", ".join(sorted(made_on))
            yield Hit(
                subject=process.name,
                pointer=("inputs", name, "feed"),
                message=f"the process runs on {cluster.name}, but {feed.name} is made on {places} only and is not "
                f"copied from there to {cluster.name}" + ("" if each.optional else ": no instance ever starts there"),
                hint=f"in {feed.name} give {places} type: source and {cluster.name} type: target, "
                "or run the process where the feed is made",
                severity=Severity.WARNING if each.optional else Severity.ERROR,
                related=(feed.name,),
            )


def _is_copied(feed: Feed, cluster: str, made_on: frozenset[str]) -> bool:
    if feed.cluster(cluster).type is not ClusterRole.TARGET:
        return False
    return any(each.type is ClusterRole.SOURCE and each.name in made_on for each in feed.clusters)


RULE = Rule(
    id="pipeline-cut",
    name="What a process reads is made on its cluster, or copied there",
    severity=Severity.ERROR,
    rationale="The feed is on both clusters, so every reference is right; yet its instances appear on one of them "
    "only, and the process waits on the other until each of its instances times out.",
    bad="""\
# feeds/clicks_hourly.yaml, made on primary and read on backup
clusters:
  - {name: primary}
  - {name: backup}
""",
    good="""\
# feeds/clicks_hourly.yaml, made on primary and read on backup
clusters:
  - {name: primary, type: source}
  - {name: backup, type: target}
""",
    source="Falcon overview, Cross entity validations, Feed-Process: all instances would be WAITING",
    check=_check,
)
