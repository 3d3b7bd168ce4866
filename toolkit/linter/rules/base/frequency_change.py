"""The frequency and time zone of a feed stay as its instances were made."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.against_base import effects_of, hit_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import EffectKind

_HINT = "make a new feed with the new frequency, or see that every reader copes with instances of both"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.GRID_CHANGED):
        yield hit_of(effect, context, _HINT)


RULE = Rule(
    id="frequency-change",
    name="The frequency and time zone of a feed stay as its instances were made",
    severity=Severity.WARNING,
    rationale="Instances that are there lie on the old grid: inputs that reach back over the change find too many of "
    "them or too few, and those off the new grid are neither read nor copied.",
    bad="""\
# feeds/clicks.yaml; the base has hours(1)
frequency: hours(2)
""",
    good="""\
# feeds/clicks_2h.yaml; a new feed
frequency: hours(2)
""",
    source="DESIGN section 3",
    check=_check,
    needs_base=True,
)
