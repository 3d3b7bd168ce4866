"""How many more instances become evictable is known before it is merged."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Option, Rule
from toolkit.planning.blast_radius import EffectKind

_ID = "retention-blast-radius"
_INSTANCES = Option(default=0, description="So many more evictable instances of a feed on a cluster are fine.")
_HINT = "see what `feedctl entity diff` lists, and keep what is still needed: keep_last, or a hold in holds.yaml"
_NEW_HINT = "see with a dry run what is there already"


def _check(context: LintContext) -> Iterator[Hit]:
    allowed = int(context.options.get(_ID, {}).get("instances", _INSTANCES.default))
    for effect in effects_of(context, EffectKind.EVICTABLE):
        if effect.count > allowed:
            yield hit_of(effect, context, _HINT)
    for effect in effects_of(context, EffectKind.NEW_RETENTION):
        if effect.count > allowed:
            yield hit_of(effect, context, _NEW_HINT, Severity.INFO)


RULE = Rule(
    id=_ID,
    name="How many more instances become evictable is known before it is merged",
    severity=Severity.WARNING,
    rationale="The next run of retention deletes them, and there is no way back. Instances are counted on the feed's "
    "grid up to the time of the lint; nobody looks at the storage. For a feed that is new it is an info.",
    bad="""\
# feeds/clicks.yaml; the base has days(30)
clusters:
  - name: primary
    retention: {limit: days(10)}
""",
    good="""\
# feeds/clicks.yaml; the base has days(30)
clusters:
  - name: primary
    retention: {limit: days(60)}
""",
    source="DESIGN section 7, Retention",
    check=_check,
    options={"instances": _INSTANCES},
    needs_base=True,
)
