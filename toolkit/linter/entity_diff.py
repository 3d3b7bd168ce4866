"""What a change of the config repo does, before it is merged: entities, values, dependents, data (USERS, wanted 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.config_source import Snapshot, SnapshotId
from toolkit.entities.errors import UnknownName
from toolkit.entities.loader import load_all
from toolkit.entities.problems import Problem
from toolkit.entities.repository import Repository
from toolkit.linter.comparison import Comparison, ValueChange, compare, compare_settings
from toolkit.linter.gathering import Base
from toolkit.planning.blast_radius import Effect, EffectKind, blast_radius, hold_text

_EVICTING = frozenset({EffectKind.EVICTABLE, EffectKind.KEEP_LAST_LOWERED, EffectKind.HOLD_REMOVED})


@dataclass(frozen=True, kw_only=True, slots=True)
class HoldsChange:
    """Holds that only one of the states has, in words, sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityDiff:
    """A change of the config repo in one environment.

    Attributes:
        ref: what it is compared with, as the user gave it.
        base: the commit that this is.
        snapshot: the config repo as it is.
        environment: name; None: without one.
        time: of the next run of retention, UTC.
        comparison: the entities.
        settings: of `repo.yaml`.
        holds: of `holds.yaml`.
        effects: what happens to data.
        notes: what the reader should know about the comparison itself.
    """

    ref: str
    base: SnapshotId
    snapshot: SnapshotId
    environment: str | None
    time: datetime
    comparison: Comparison
    settings: tuple[ValueChange, ...]
    holds: HoldsChange
    effects: tuple[Effect, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is different."""
        parts = (self.settings, self.holds.added, self.holds.removed, self.effects)
        return self.comparison.is_empty and not any(parts)

    @property
    def more_evictable(self) -> int:
        """How many more instances the next run of retention evicts than it would have, as far as that is known."""
        return sum(effect.count for effect in self.effects if effect.kind in _EVICTING)


def entity_diff(snapshot: Snapshot, base: Base, environment: str | None, time: datetime) -> EntityDiff:
    """What is different between a commit and the config repo as it is.

    Args:
        snapshot: the config repo.
        base: what it is compared with.
        environment: name; None: the repo's default one, if it has one.
        time: of the next run of retention, UTC, a whole minute.

    Raises:
        UnknownName: the config repo has no such environment.
    """
    after, problems = load_all(snapshot, environment)
    name = None if after.environment is None else after.environment.name
    before, problems_before, is_new = _before(base.snapshot, name)
    notes = (
        *_new_environment(name, base.ref, is_new=is_new),
        *_hidden(base.ref, problems_before),
        *_hidden("", problems),
    )
    return EntityDiff(
        ref=base.ref,
        base=base.snapshot.id,
        snapshot=snapshot.id,
        environment=name,
        time=time,
        comparison=compare(before, after),
        settings=compare_settings(before.settings, after.settings),
        holds=_holds(before, after),
        effects=blast_radius(before, after, time),
        notes=notes,
    )


def _before(snapshot: Snapshot, environment: str | None) -> tuple[Repository, tuple[Problem, ...], bool]:
    """The base in the same environment; one that it did not have yet is compared with its default."""
    try:
        return (*load_all(snapshot, environment), False)
    except UnknownName:
        return (*load_all(snapshot, None), True)


def _holds(before: Repository, after: Repository) -> HoldsChange:
    old, new = ({hold_text(hold) for hold in repository.holds} for repository in (before, after))
    return HoldsChange(added=tuple(sorted(new - old)), removed=tuple(sorted(old - new)))


def _new_environment(name: str | None, ref: str, *, is_new: bool) -> Iterator[str]:
    if is_new:
        yield f"{ref} has no environment {name}: its default one stands in for it"


def _hidden(ref: str, problems: tuple[Problem, ...]) -> Iterator[str]:
    """What cannot be loaded has no figures."""
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        where = f"{ref} has" if ref else "the config repo has"
        yield f"{where} {count} (feedctl lint tells them): entities with problems have no blast radius"
