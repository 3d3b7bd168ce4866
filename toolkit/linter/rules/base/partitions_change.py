"""The partitions of a feed stay as they were made."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "make the old instances anew, or keep the partitions until retention has evicted them"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.PARTITIONS_CHANGED):
        yield hit_of(effect, context, _HINT)


RULE = Rule(
    id="partitions-change",
    name="The partitions of a feed stay as its instances were made",
    severity=Severity.WARNING,
    rationale="Instances that are there have the old sub-directories: partition expressions of inputs and of "
    "replication select nothing in them, or the wrong thing.",
    bad="""\
# feeds/clicks.yaml; the base has [country, colo]
partitions: [country]
""",
    good="""\
# feeds/clicks_by_country.yaml; a new feed
partitions: [country]
""",
    source="Falcon entity specification, Feed, Partitions",
    check=_check,
    needs_base=True,
)
