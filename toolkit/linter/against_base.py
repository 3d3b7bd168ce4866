"""What the rules about a git base share: the blast radius, worked out once, and places for what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

from toolkit.entities.documents import Document
from toolkit.entities.repository import Repository
from toolkit.entities.yaml_location import Pointer
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.planning.blast_radius import Effect, EffectKind, blast_radius, message_of

T = TypeVar("T")


def _once(compute: Callable[[Repository, Repository, datetime], T]) -> Callable[[Repository, Repository, datetime], T]:
    """A function that remembers its last answer: many rules ask for the effects of one and the same change."""
    last: list[tuple[Repository, Repository, datetime, T]] = []

    def answer(before: Repository, after: Repository, time: datetime) -> T:
        known = last and last[0][0] is before and last[0][1] is after and last[0][2] == time
        if not known:
            last[:] = [(before, after, time, compute(before, after, time))]
        return last[0][3]

    return answer


_blast_radius = _once(blast_radius)


def effects_of(context: LintContext, *kinds: EffectKind) -> Iterator[Effect]:
    """The effects of the change that is linted, of some kinds; none without a base."""
    if context.base is None:
        return
    for effect in _blast_radius(context.base.repository, context.repository, context.time):
        if effect.kind in kinds:
            yield effect


def hit_of(effect: Effect, context: LintContext, hint: str, severity: Severity | None = None) -> Hit:
    """An effect as a hit: at the value that changed, or at what is left around it."""
    subject = effect.feed or effect.cluster
    entries = context.repository.entries
    pointer: Pointer = ()
    if subject in entries:
        pointer = effect.key if not effect.feed else pointer_on(entries[subject].document, effect.cluster, effect.key)
    return Hit(
        subject=subject if subject in entries else removed_file(context, subject),
        pointer=pointer,
        message=message_of(effect),
        hint=hint,
        severity=severity,
        related=(effect.cluster,) if effect.feed else (),
    )


def removed_file(context: LintContext, name: str) -> str:
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
