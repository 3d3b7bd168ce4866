"""That nothing is evicted any more is worth knowing."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "if that is not meant, put the retention back"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.RETENTION_REMOVED):
        yield hit_of(effect, context, _HINT)


RULE = Rule(
    id="retention-removed",
    name="Retention is not removed unseen",
    severity=Severity.INFO,
    rationale="Without retention nothing is ever evicted, and the data grows for ever.",
    bad="""\
# feeds/clicks.yaml; the base has retention: {limit: days(10)}
clusters:
  - name: primary
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retention: {limit: days(10)}
""",
    source="Falcon overview, Retention",
    check=_check,
    needs_base=True,
)
