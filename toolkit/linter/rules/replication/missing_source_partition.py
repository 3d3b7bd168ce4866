"""With several sources each has a partition expression."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication.roles import sources


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        several = sources(feed)
        if feed.is_table or len(several) < 2:  # noqa: PLR2004 - several
            continue
        names = ", ".join(each.name for each in several)
        for each in several:
            if each.feed_cluster.partition is None:
                yield Hit(
                    subject=feed.name,
                    pointer=each.at("name"),
                    message=f"the source {each.name} has no partition expression; the sources are {names}",
                    hint='say which part of an instance each source has, for example partition: "*/${cluster.colo}"',
                )


RULE = Rule(
    id="missing-source-partition",
    name="With several sources each has a partition expression",
    severity=Severity.ERROR,
    rationale="Without it every source has the whole instance: each copy to the target overwrites the one before it.",
    bad="""\
# feeds/clicks.yaml
partitions: [country, colo]
clusters:
  - {name: frankfurt, type: source, partition: "*/${cluster.colo}"}
  - {name: dublin, type: source}
  - {name: backup, type: target}
""",
    good="""\
# feeds/clicks.yaml
partitions: [country, colo]
clusters:
  - {name: frankfurt, type: source, partition: "*/${cluster.colo}"}
  - {name: dublin, type: source, partition: "*/${cluster.colo}"}
  - {name: backup, type: target}
""",
    source="Falcon overview, Replication: with more than one source cluster the partition expression is compulsory",
    check=_check,
)
