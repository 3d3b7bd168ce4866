"""A hold is not removed unseen."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities.source_files import HOLDS_FILE
from toolkit.entities.yaml_location import Pointer
from toolkit.linter.against_base import effects_of
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.blast_radius import Effect, EffectKind, message_of

_HINT = "let whoever asked for the hold agree; the instances are deleted and do not come back"


def _check(context: LintContext) -> Iterator[Hit]:
    for effect in effects_of(context, EffectKind.HOLD_REMOVED):
        yield Hit(
            subject=HOLDS_FILE,
            pointer=_pointer(effect, context),
            message=message_of(effect),
            hint=_HINT,
            severity=None if effect.count else Severity.INFO,
            related=(effect.feed, effect.cluster),
        )


def _pointer(effect: Effect, context: LintContext) -> Pointer:
    """A hold of the same feed on the same cluster, when there is one left; else the file."""
    for index, hold in enumerate(context.repository.holds):
        if hold.concerns(effect.feed, effect.cluster):
            return ("holds", index)
    return ("holds",)


RULE = Rule(
    id="hold-removed",
    name="A hold is not removed or shortened unseen",
    severity=Severity.WARNING,
    rationale="A hold is often the only thing that keeps old instances. Without it the next run of retention deletes "
    "them. Where they are young enough to stay all the same, it is an info.",
    bad="""\
# holds.yaml; the base has a hold on clicks from 2026-01-01 to 2026-02-01
holds: []
""",
    good="""\
# holds.yaml
holds:
  - {feed: clicks, start: 2026-01-01T00:00Z, end: 2026-02-01T00:00Z, reason: audit 2026}
""",
    source="DESIGN section 7, Retention: holds",
    check=_check,
    needs_base=True,
)
