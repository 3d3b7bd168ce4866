"""A template does not come to match the data of others."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "see that nothing else lies under names that match, or write the names out"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.TEMPLATE_WIDENED):
        yield hit_of(effect, context, _HINT)


RULE = Rule(
    id="widened-template",
    name="A template with retention does not come to match more names",
    severity=Severity.WARNING,
    rationale="Where a glob, or a variable without a value, stands in place of a name, retention evicts whatever "
    "conforms and is old enough: data of other feeds, too.",
    bad="""\
# feeds/clicks.yaml; the base has /data/clicks/${YEAR}-${MONTH}-${DAY}
locations: {data: "/data/*/${YEAR}-${MONTH}-${DAY}"}
""",
    good="""\
# feeds/clicks.yaml
locations: {data: "/data/{clicks,views}/${YEAR}-${MONTH}-${DAY}"}
""",
    source="DESIGN section 7, Retention: only conforming paths are touched",
    check=_check,
    needs_base=True,
)
