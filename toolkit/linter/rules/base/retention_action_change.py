"""What happens to old instances does not change unseen."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import RetentionAction
from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "see that nobody relies on finding old instances where they went before"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.ACTION_CHANGED):
        deletes = effect.after == RetentionAction.DELETE
        yield hit_of(effect, context, _HINT, None if deletes else Severity.INFO)


RULE = Rule(
    id="retention-action-change",
    name="Old instances do not come to be deleted unseen",
    severity=Severity.WARNING,
    rationale="What was archived or set aside until now is deleted at once from the next run on. The other way round "
    "it is an info.",
    bad="""\
# feeds/clicks.yaml; the base has action: quarantine
clusters:
  - name: primary
    retention: {limit: days(10), action: delete}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retention: {limit: days(10), action: quarantine, quarantine: days(3)}
""",
    source="DESIGN section 7, Retention",
    check=_check,
    needs_base=True,
)
