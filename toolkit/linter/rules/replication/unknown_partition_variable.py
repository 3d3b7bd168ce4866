"""The variables of a partition expression have values on its cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.el import ElError
from toolkit.entities.nearest import suggestion
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.partition_expression import PartitionExpression


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        for index, each in enumerate(feed.clusters):
            cluster = context.repository.clusters.get(each.name)
            if each.partition is None or cluster is None:
                continue
            for position, message, hint in _findings(each.partition, feed.variables_on(cluster)):
                yield Hit(
                    subject=feed.name,
                    pointer=("clusters", index, "partition"),
                    message=f"on the cluster {each.name} {message}",
                    hint=hint,
                    offset=position,
                )


def _findings(text: str, known: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    expression = PartitionExpression(text)
    for variable in expression.variables:
        if variable.name not in known:
            yield variable.position, f"${{{variable.name}}} has no value", suggestion(variable.name, known)
    try:
        expression.bind(known)
    except ElError as error:
        yield error.position or 0, f"found {error.found}, expected {error.expected}", "choose another value"


RULE = Rule(
    id="unknown-partition-variable",
    name="Each variable of a partition expression has a value on its cluster, which is one name",
    severity=Severity.ERROR,
    rationale="A variable without a value selects no sub-directory, so nothing is copied. Values come from the feed's "
    "properties, then the cluster's, then cluster.name and cluster.colo.",
    bad="""\
# feeds/clicks.yaml
partitions: [country, colo]
clusters:
  - {name: primary, type: source, partition: "*/${cluster.colour}"}
""",
    good="""\
# feeds/clicks.yaml
partitions: [country, colo]
clusters:
  - {name: primary, type: source, partition: "*/${cluster.colo}"}
""",
    source="Falcon overview, Replication; DESIGN section 3",
    check=_check,
)
