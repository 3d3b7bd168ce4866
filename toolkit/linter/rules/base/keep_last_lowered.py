"""The newest instances stay protected."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "keep_last is what remains when nothing new comes; lower it only when the old instances are worthless"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.KEEP_LAST_LOWERED):
        yield hit_of(effect, context, _HINT, None if effect.count else Severity.INFO)


RULE = Rule(
    id="keep-last-lowered",
    name="keep_last is not lowered while it protects instances",
    severity=Severity.WARNING,
    rationale="Of a feed that gets nothing new, keep_last is all that keeps the last instances. Where the limit keeps "
    "them as well, lowering it is an info.",
    bad="""\
# feeds/clicks.yaml; the base has keep_last: 24
clusters:
  - name: primary
    retention: {limit: days(10), keep_last: 2}
""",
    good="""\
# feeds/clicks.yaml; the base has keep_last: 24
clusters:
  - name: primary
    retention: {limit: days(10), keep_last: 48}
""",
    source="DESIGN section 7, Retention: keep_last",
    check=_check,
    needs_base=True,
)
