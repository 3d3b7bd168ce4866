"""Rules about what a change since the git base does to data: its blast radius, worked out once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from toolkit.entities import ExpiryAction
from toolkit.entities.documents import Document
from toolkit.entities.source_files import HOLDS_FILE
from toolkit.entities.yaml_location import Pointer
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext, remembered
from toolkit.planning.blast_radius import Effect, EffectKind, blast_radius, message_of

_blast_radius = remembered(blast_radius)


@dataclass(frozen=True, kw_only=True, slots=True)
class _EffectRule:
    """A rule that says which effects a change has.

    Attributes:
        kinds: what it is about.
        hint: what to do.
        is_info: for which of them an info is enough.
    """

    kinds: tuple[EffectKind, ...]
    hint: str
    is_info: Callable[[Effect], bool] = lambda _: False

    def check(self, context: LintContext) -> Iterator[Hit]:
        """Yield a hit for each effect."""
        for effect in _effects(context, *self.kinds):
            yield _hit(effect, context, self.hint, Severity.INFO if self.is_info(effect) else None)


def _concerns_nothing(effect: Effect) -> bool:
    return not effect.count


def _deletes_nothing(effect: Effect) -> bool:
    return effect.after != ExpiryAction.DELETE


_TABLE: Mapping[str, _EffectRule] = {
    "keep-last-lowered": _EffectRule(
        kinds=(EffectKind.KEEP_LAST_LOWERED,),
        hint="keep_last is what remains when nothing new comes; lower it only when the old instances are worthless",
        is_info=_concerns_nothing,
    ),
    "retention-action-change": _EffectRule(
        kinds=(EffectKind.ACTION_CHANGED, EffectKind.SOURCE_DELETE),
        hint="check that no program relies on this data in its former place",
        is_info=_deletes_nothing,
    ),
    "retention-removed": _EffectRule(
        kinds=(EffectKind.RETENTION_REMOVED,), hint="if that is not meant, put the retention back"
    ),
    "widened-template": _EffectRule(
        kinds=(EffectKind.TEMPLATE_WIDENED,),
        hint="see that nothing else lies under names that match, or write the names out",
    ),
    "template-change": _EffectRule(
        kinds=(EffectKind.TEMPLATE_CHANGED, EffectKind.DATES_CHANGED),
        hint="move the data to its new names, or keep the old template and make a new feed for the new one",
    ),
    "partitions-change": _EffectRule(
        kinds=(EffectKind.PARTITIONS_CHANGED,),
        hint="make the old instances anew, or keep the partitions until retention has evicted them",
    ),
    "frequency-change": _EffectRule(
        kinds=(EffectKind.GRID_CHANGED,),
        hint="make a new feed with the new frequency, or see that every reader copes with instances of both",
    ),
    "ingest-source-change": _EffectRule(
        kinds=(EffectKind.INGEST_REREAD,),
        hint="see with a dry run of ingest.py what is read; archive or delete committed files before",
    ),
    "ingest-rows-change": _EffectRule(
        kinds=(EffectKind.INGEST_ROWS,),
        hint="change the table in the catalog first, or make a new feed with a new table",
    ),
    "data-left-behind": _EffectRule(
        kinds=(EffectKind.LEFT_BEHIND,),
        hint="delete the data by hand, or let the feed's validity end and keep it until retention has evicted all",
        is_info=_concerns_nothing,
    ),
}

_EVICTABLE_HINT = (
    "see what `feedctl entity diff` lists, and keep what is still needed: keep_last, or a hold in holds.yaml"
)
_NEW_HINT = "see with a dry run what is there already"
_HOLD_HINT = "get the agreement of the person who asked for the hold; deleted instances do not come back"


def retention_blast_radius(context: LintContext) -> Iterator[Hit]:
    """Report before the merge how many more instances become evictable."""
    allowed = context.number("retention-blast-radius", "instances")
    for effect in _effects(context, EffectKind.EVICTABLE):
        if effect.count > allowed:
            yield _hit(effect, context, _EVICTABLE_HINT)
    for effect in _effects(context, EffectKind.NEW_RETENTION):
        if effect.count > allowed:
            yield _hit(effect, context, _NEW_HINT, Severity.INFO)


def hold_removed(context: LintContext) -> Iterator[Hit]:
    """A hold is not removed unseen."""
    for effect in _effects(context, EffectKind.HOLD_REMOVED):
        yield Hit(
            subject=HOLDS_FILE,
            pointer=_hold_pointer(effect, context),
            message=message_of(effect),
            hint=_HOLD_HINT,
            severity=None if effect.count else Severity.INFO,
            related=(effect.feed, effect.cluster),
        )


def _hold_pointer(effect: Effect, context: LintContext) -> Pointer:
    """A hold of the same feed on the same cluster, when there is one left; else the file."""
    for index, hold in enumerate(context.repository.holds):
        if hold.concerns(effect.feed, effect.cluster):
            return ("holds", index)
    return ("holds",)


def _effects(context: LintContext, *kinds: EffectKind) -> Iterator[Effect]:
    """The effects of the change that is linted, of some kinds; none without a base."""
    if context.base is None:
        return
    for effect in _blast_radius(context.base.repository, context.repository, context.time):
        if effect.kind in kinds:
            yield effect


def _hit(effect: Effect, context: LintContext, hint: str, severity: Severity | None = None) -> Hit:
    """An effect as a hit: at the value that changed, or at what is left around it."""
    subject = effect.feed or effect.cluster
    entries = context.repository.entries
    pointer: Pointer = ()
    if subject in entries:
        pointer = effect.key if not effect.feed else pointer_on(entries[subject].document, effect.cluster, effect.key)
    return Hit(
        subject=subject if subject in entries else _removed_file(context, subject),
        pointer=pointer,
        message=message_of(effect),
        hint=hint,
        severity=severity,
        related=(effect.cluster,) if effect.feed else (),
    )


def _removed_file(context: LintContext, name: str) -> str:
    """The file that an entity had at the base."""
    return name if context.base is None else context.base.repository.file_of(name)


def pointer_on(document: Document, cluster: str, key: tuple[str, ...]) -> Pointer:
    """The place of a value for a cluster: the cluster's own, else the entity's, else what is around it.

    Args:
        document: merged.
        cluster: the cluster's name.
        key: of the value, below the cluster or the entity.
    """
    clusters = document.get("clusters")
    items = list(clusters) if isinstance(clusters, list) else []
    at = next(
        (index for index, each in enumerate(items) if isinstance(each, Mapping) and each.get("name") == cluster), None
    )
    if at is None:
        return key
    item = items[at]
    if _has(item, key) or not _has(document, key[:1]):
        return ("clusters", at, *_present(item, key))
    return key


def _has(document: object, key: tuple[str, ...]) -> bool:
    return bool(key) and len(_present(document, key)) == len(key)


def _present(document: object, key: tuple[str, ...]) -> tuple[str, ...]:
    """The part of the key that is there."""
    for depth, step in enumerate(key):
        if not isinstance(document, Mapping) or step not in document:
            return key[:depth]
        document = document[step]
    return key


CHECKS: Mapping[str, Check] = {
    "retention-blast-radius": retention_blast_radius,
    "hold-removed": hold_removed,
    **{rule_id: row.check for rule_id, row in _TABLE.items()},
}
