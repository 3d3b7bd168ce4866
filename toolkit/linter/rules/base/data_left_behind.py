"""A feed does not leave its data behind unseen."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "delete the data by hand, or let the feed's validity end and keep it until retention has evicted all"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.LEFT_BEHIND):
        yield hit_of(effect, context, _HINT, None if effect.count else Severity.INFO)


RULE = Rule(
    id="data-left-behind",
    name="A feed that goes does not leave its data behind",
    severity=Severity.WARNING,
    rationale="No feed has the data of a feed that is gone, or gone from a cluster: retention never evicts it, and "
    "`feedctl entity lookup` does not know whose it is.",
    bad="""\
# feeds/clicks.yaml; the base has the cluster backup, too
clusters:
  - name: primary
""",
    good="""\
# feeds/clicks.yaml; nothing new comes to backup, and retention empties it
clusters:
  - name: primary
  - name: backup
    validity: {start: 2026-01-01T00:00Z, end: 2026-04-01T00:00Z}
    retention: {limit: days(10)}
    keep_instances_beyond_validity: false
""",
    source="DESIGN section 7, Retention",
    check=_check,
    needs_base=True,
)
