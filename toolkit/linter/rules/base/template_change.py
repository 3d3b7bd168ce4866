"""A template that changes leaves data behind."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "move the data to its new names, or keep the old template and make a new feed for the new one"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.TEMPLATE_CHANGED, EffectKind.DATES_CHANGED):
        yield hit_of(effect, context, _HINT)


RULE = Rule(
    id="template-change",
    name="A template or path time zone changes only together with the data",
    severity=Severity.WARNING,
    rationale="What lies under the old names is no longer an instance: no process reads it, nothing copies it, and "
    "retention never evicts it. In another path time zone a name stands for another time.",
    bad="""\
# feeds/clicks.yaml; the base has /data/clicks/${YEAR}/${MONTH}/${DAY}
locations: {data: "/data/web/clicks/${YEAR}/${MONTH}/${DAY}"}
""",
    good="""\
# feeds/web_clicks.yaml; a new feed, and feeds/clicks.yaml stays until its data is gone
locations: {data: "/data/web/clicks/${YEAR}/${MONTH}/${DAY}"}
""",
    source="DESIGN sections 3 and 7",
    check=_check,
    needs_base=True,
)
