"""What differs between two states of a config repo, value by value; pure (USERS ask 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from toolkit.entities.documents import Document, Value
from toolkit.entities.entity_loading import Entry
from toolkit.entities.layers import Origin, origin
from toolkit.entities.merge import is_named_list
from toolkit.entities.pointers import path_text
from toolkit.entities.repo import RepoSettings
from toolkit.entities.repository import Repository
from toolkit.entities.structure import settings_document
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer
from toolkit.linter.secret_values import value_without_secrets


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
        """Whether no entity is different."""
        return not (self.added or self.removed or self.changed)

    @property
    def downstream(self) -> tuple[str, ...]:
        """All entities downstream of a different one that are not different themselves, sorted."""
        every = (*self.added, *self.removed, *self.changed)
        own = {each.name for each in every}
        return tuple(sorted({name for each in every for name in each.downstream} - own))


def compare_settings(before: RepoSettings, after: RepoSettings) -> tuple[ValueChange, ...]:
    """What differs between the settings of two states; what equals its default is not there."""
    return tuple(_differences(_leaves(settings_document(before)), _leaves(settings_document(after))))


def compare(before: Repository, after: Repository) -> Comparison:
    """What differs between two states, of all entities that could be read, whether they have problems or not.

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


def _change(entry: Entry, repository: Repository, values: Iterable[ValueChange]) -> EntityChange:
    downstream = () if entry.entity is None else _downstream(entry.name, repository)
    return EntityChange(name=entry.name, kind=entry.kind, file=entry.file, values=tuple(values), downstream=downstream)


def _downstream(name: str, repository: Repository) -> tuple[str, ...]:
    """What refers to an entity, and what is made from it, and so on; sorted, without itself."""
    reached, pending = {name}, [name]
    while pending:
        each = pending.pop()
        found = {*repository.graph.depended_on_by(each), *_made_by(each, repository)} - reached
        reached |= found
        pending.extend(other for other in found if not _only_makes(other, each, repository))
    return tuple(sorted(reached - {name}))


def _made_by(name: str, repository: Repository) -> Iterator[str]:
    process = repository.processes.get(name)
    if process is not None:
        yield from (each.feed for each in process.outputs.values() if each.feed in repository.feeds)


def _only_makes(name: str, feed: str, repository: Repository) -> bool:
    """Whether an entity is a process that makes the feed and does not read it: its other outputs are the same."""
    process = repository.processes.get(name)
    if process is None or feed not in repository.feeds:
        return False
    return all(each.feed != feed for each in process.inputs.values())


def _values(before: Document, entry: Entry) -> Iterator[ValueChange]:
    for change in _differences(_leaves(before), _leaves(entry.document)):
        yield change if change.pointer is None else replace(change, place=_place(entry, change.pointer))


def _gone(entry: Entry) -> Iterator[ValueChange]:
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


def _place(entry: Entry, pointer: Pointer) -> str | None:
    found: Origin | None = origin(entry.layers, entry.document, pointer)
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
