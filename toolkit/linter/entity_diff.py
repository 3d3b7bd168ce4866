"""Effects of a config change before it is merged: entities, values, dependents, data (USERS, wanted 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from toolkit.config_source import Snapshot, SnapshotId
from toolkit.entities.documents import Document, Value
from toolkit.entities.entity_loading import EntityEntry
from toolkit.entities.errors import UnknownName
from toolkit.entities.layers import ValueOrigin, origin
from toolkit.entities.loader import load_all
from toolkit.entities.merge import is_named_list
from toolkit.entities.pointers import path_text
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.quality import Suite
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import CALENDARS_FOLDER
from toolkit.entities.structure import calendar_document, settings_document
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer
from toolkit.linter.collect import Base
from toolkit.linter.downstream import downstream_of
from toolkit.linter.rules.quality import suite_uses
from toolkit.linter.secret_values import value_without_secrets
from toolkit.planning.blast_radius import Effect, EffectKind, blast_radius, hold_text


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueChange:
    """A merged value that is another one now.

    Attributes:
        key: where it is, in words: ``clusters[primary].retention.limit``.
        pointer: in the merged document as it is now; None when the value is gone.
        before: None: there was no such value.
        after: None: there is no such value now.
        place: file, line and column that the new value comes from; None when it is gone.
    """

    key: str
    pointer: Pointer | None
    before: Value
    after: Value
    place: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityChange:
    """An entity that is new, gone, or has other values.

    Attributes:
        name: of the entity.
        kind: of the entity.
        file: where it is written; where it was, when it is gone.
        values: what differs, in the document's order; of what is new or gone all values.
        downstream: the entities that refer to it or are made from it, directly or through others; sorted.
    """

    name: str
    kind: Kind
    file: str
    values: tuple[ValueChange, ...] = ()
    downstream: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two states of a config repo in one environment; each part is sorted by name.

    Attributes:
        added: entities that are new.
        removed: entities that are gone.
        changed: entities with other merged values.
    """

    added: tuple[EntityChange, ...]
    removed: tuple[EntityChange, ...]
    changed: tuple[EntityChange, ...]

    @property
    def is_empty(self) -> bool:
        """True if no entity is different."""
        return not (self.added or self.removed or self.changed)

    @property
    def downstream(self) -> tuple[str, ...]:
        """All entities downstream of a different one that are not different themselves, sorted."""
        every = (*self.added, *self.removed, *self.changed)
        own = {each.name for each in every}
        return tuple(sorted({name for each in every for name in each.downstream} - own))


def compare_settings(before: Repository, after: Repository) -> tuple[ValueChange, ...]:
    """Return the differences between the settings of two states, then those between their calendars.

    A value equal to its default is left out.
    """
    old, new = (_leaves({**settings_document(each.settings), **_calendars(each)}) for each in (before, after))
    return tuple(_differences(old, new))


def _calendars(repository: Repository) -> Document:
    found = {name: calendar_document(each) for name, each in repository.calendars.items()}
    return {CALENDARS_FOLDER: found} if found else {}


def compare(before: Repository, after: Repository) -> Comparison:
    """Return the differences between two states, of all readable entities, with or without problems.

    Args:
        before: the config repo as it was.
        after: as it is, in the same environment.
    """
    old, new = before.entries, after.entries
    return Comparison(
        added=tuple(_change(new[name], after, _values({}, new[name])) for name in sorted(new.keys() - old.keys())),
        removed=tuple(_change(old[name], before, _gone(old[name])) for name in sorted(old.keys() - new.keys())),
        changed=tuple(
            _change(new[name], after, _values(old[name].document, new[name]))
            for name in sorted(old.keys() & new.keys())
            if old[name].document != new[name].document
        ),
    )


def _change(entry: EntityEntry, repository: Repository, values: Iterable[ValueChange]) -> EntityChange:
    downstream = () if entry.entity is None else downstream_of(entry.name, repository)
    return EntityChange(name=entry.name, kind=entry.kind, file=entry.file, values=tuple(values), downstream=downstream)


def _values(before: Document, entry: EntityEntry) -> Iterator[ValueChange]:
    for change in _differences(_leaves(before), _leaves(entry.document)):
        yield change if change.pointer is None else replace(change, place=_place(entry, change.pointer))


def _gone(entry: EntityEntry) -> Iterator[ValueChange]:
    return _differences(_leaves(entry.document), {})


def _differences(old: Mapping[str, _Leaf], new: Mapping[str, _Leaf]) -> Iterator[ValueChange]:
    for key in dict.fromkeys([*new, *old]):
        was, leaf = old.get(key), new.get(key)
        if was is None or leaf is None or was.value != leaf.value:
            yield ValueChange(
                key=key,
                pointer=None if leaf is None else leaf.pointer,
                before=None if was is None else _shown(key, was.value),
                after=None if leaf is None else _shown(key, leaf.value),
            )


def _shown(key: str, value: Value) -> Value:
    """A comparison ends in comments on changes, which more people can read than the repo."""
    if isinstance(value, list):
        return [_shown(key, each) for each in value]
    return value_without_secrets(key, value) if isinstance(value, str) else value


def _place(entry: EntityEntry, pointer: Pointer) -> str | None:
    found: ValueOrigin | None = origin(entry.layers, entry.document, pointer)
    return None if found is None else str(found)


@dataclass(frozen=True, slots=True)
class _Leaf:
    pointer: Pointer
    value: Value


def _leaves(document: Document) -> dict[str, _Leaf]:
    """Values by their keys in words; a list without names is one value, since its items cannot be told apart."""
    return {path_text(document, leaf.pointer): leaf for leaf in _parts(document, ())}


def _parts(value: Value, pointer: Pointer) -> Iterator[_Leaf]:
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _parts(part, (*pointer, key))
    elif is_named_list(value) and value:
        for index, part in enumerate(value):
            yield from _parts(part, (*pointer, index))
    else:
        yield _Leaf(pointer, value)


_EVICTING = frozenset({EffectKind.EVICTABLE, EffectKind.KEEP_LAST_LOWERED, EffectKind.HOLD_REMOVED})


@dataclass(frozen=True, kw_only=True, slots=True)
class HoldsChange:
    """Holds that only one of the states has, in words, sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteChange:
    """A suite that is new, gone, or expects something else: data is validated by it from now on, also blocked data.

    Attributes:
        feeds: that are validated by it, before or now; sorted.
        values: what differs, by type and column of the expectation.
    """

    name: str
    feeds: tuple[str, ...]
    values: tuple[ValueChange, ...]


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
        settings: of `repo.yaml`; keys that begin with ``calendars.`` are those of calendars.
        holds: of `holds.yaml`.
        suites: of `expectations/`, by name.
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
    suites: tuple[SuiteChange, ...] = ()
    effects: tuple[Effect, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing is different."""
        parts = (self.settings, self.holds.added, self.holds.removed, self.suites, self.effects)
        return self.comparison.is_empty and not any(parts)

    @property
    def more_evictable(self) -> int:
        """Return how many more instances the next retention run evicts, as far as that is known."""
        return sum(effect.count for effect in self.effects if effect.kind in _EVICTING)


def entity_diff(snapshot: Snapshot, base: Base, environment: str | None, time: datetime) -> EntityDiff:
    """Return the difference between a commit and the config repo as it is.

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
        settings=compare_settings(before, after),
        holds=_holds(before, after),
        suites=tuple(_suites(before, after)),
        effects=blast_radius(before, after, time),
        notes=notes,
    )


def _before(snapshot: Snapshot, environment: str | None) -> tuple[Repository, tuple[ConfigProblem, ...], bool]:
    """The base in the same environment; one that it did not have yet is compared with its default."""
    try:
        return (*load_all(snapshot, environment), False)
    except UnknownName:
        return (*load_all(snapshot, None), True)


def _holds(before: Repository, after: Repository) -> HoldsChange:
    old, new = ({hold_text(hold) for hold in repository.holds} for repository in (before, after))
    return HoldsChange(added=tuple(sorted(new - old)), removed=tuple(sorted(old - new)))


def _suites(before: Repository, after: Repository) -> Iterator[SuiteChange]:
    uses = [*suite_uses(before), *suite_uses(after)]
    for name in sorted({*before.suites, *after.suites}):
        old, new = (_expected(repository.suites.get(name)) for repository in (before, after))
        feeds = {use.feed.name for use in uses if use.feed and name in use.suites}
        if values := tuple(_differences(old, new)):
            yield SuiteChange(name=name, feeds=tuple(sorted(feeds)), values=values)


def _expected(suite: Suite | None) -> Mapping[str, _Leaf]:
    """By type and column, which tell most expectations apart; of those alike, by their order."""
    document: dict[str, Value] = {}
    for each in suite.expectations if suite else ():
        name = f"{each.type}({each.kwargs.get('column', '')})"
        while name in document:
            name += "'"
        document[name] = {**each.kwargs, "severity": str(each.severity), **({"meta": each.meta} if each.meta else {})}
    return _leaves(document)


def _new_environment(name: str | None, ref: str, *, is_new: bool) -> Iterator[str]:
    if is_new:
        yield f"{ref} has no environment {name}: its default one stands in for it"


def _hidden(ref: str, problems: tuple[ConfigProblem, ...]) -> Iterator[str]:
    """Yield a note about entities that cannot be loaded, and so have no figures."""
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        where = f"{ref} has" if ref else "the config repo has"
        yield f"{where} {count} (feedctl lint tells them): entities with problems have no blast radius"
