"""Rules about what is renamed, removed or moved since the git base: entities, end points, the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

from toolkit.el import format_instant, without_credentials
from toolkit.entities import Cluster, Feed, Interface, Interfaces, Messaging, Process
from toolkit.entities.addresses import AUDIT_OUTSIDE_RULE
from toolkit.entities.documents import Document, Value
from toolkit.entities.entity_loading import EntityEntry
from toolkit.entities.repo import RepoSettings
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import ENVIRONMENTS_FOLDER, HOLDS_FILE, REPO_FILE, SUFFIX
from toolkit.entities.vocabulary import Kind
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.rules.base_effects import pointer_on

_MOST = 20


def listed(names: Iterable[str]) -> str:
    """The names, each once, joined; of many the first, and how many more there are."""
    every = list(dict.fromkeys(names))
    rest = f" and {len(every) - _MOST:,} more" if len(every) > _MOST else ""
    return ", ".join(every[:_MOST]) + rest


_KEY = ("validity", "start")


def fixed_start(context: LintContext) -> Iterator[Hit]:
    """A start that was merged does not change."""
    if context.base is None:
        return
    before = context.base.repository
    for entity in _with_instances(context.repository):
        old = before.feeds.get(entity.name) or before.processes.get(entity.name)
        if old is not None:
            yield from _hits(old, entity, context.repository)


def _with_instances(repository: Repository) -> Iterator[Feed | Process]:
    yield from repository.feeds.values()
    yield from repository.processes.values()


def _hits(old: Feed | Process, new: Feed | Process, repository: Repository) -> Iterator[Hit]:
    starts = {each.name: each.validity.start for each in old.clusters}
    for each in new.clusters:
        start = starts.get(each.name, each.validity.start)
        if start != each.validity.start:
            found, expected = format_instant(each.validity.start), format_instant(start)
            yield Hit(
                subject=new.name,
                pointer=pointer_on(repository.merged(new.name), each.name, _KEY),
                message=f"start of {new.name} on {each.name} {expected} -> {found}, expected the start that was merged",
                hint=f"put {expected} back; what begins at another time is another {new.KIND}, with a name of its own",
                related=(each.name,),
            )


def renamed_entity(context: LintContext) -> Iterator[Hit]:
    """A name that was merged does not change."""
    if context.base is None:
        return
    old, new = context.base.repository.entries, context.repository.entries
    gone: dict[str, EntityEntry] = {}
    for name in sorted(old.keys() - new.keys()):
        for trait in _traits(old[name]):
            gone.setdefault(trait, old[name])
    for name in sorted(new.keys() - old.keys()) if gone else ():
        found = next((trait for trait in _traits(new[name]) if trait in gone), None)
        if found is not None:
            yield _renamed_hit(gone[found], new[name], found.partition(":")[0])


def _renamed_hit(old: EntityEntry, new: EntityEntry, same: str) -> Hit:
    return Hit(
        subject=new.name,
        pointer=("name",),
        message=f"{old.kind} {new.name} has {same} of {old.name}, which is gone: expected the name that was merged",
        hint=f"keep the name {old.name}: runs, batches, events and holds are known by it; `description` is free",
        related=(old.name,),
    )


def _traits(entry: EntityEntry) -> Iterator[str]:
    """Yield the traits by which an entity is recognized under another name, the surest first."""
    document = {key: value for key, value in entry.document.items() if key not in {"name", "description"}}
    yield f"the content:{json.dumps(document, sort_keys=True)}"
    data = _data(entry.kind, document)
    if data is not None:
        yield f"the data:{entry.kind} {data}"


def _data(kind: Kind, document: Document) -> str | None:
    """Return the place of an entity's data, as written."""
    parts = {Kind.FEED: ("locations", "data"), Kind.CLUSTER: ("interfaces", "write", "endpoint")}
    if kind is Kind.FEED and isinstance(document.get("table"), str):
        return str(document["table"])
    if kind is Kind.PROCESS and document.get("outputs"):
        return json.dumps(document["outputs"], sort_keys=True)
    value: object = document
    for step in parts.get(kind, ("", "")):
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Use:
    """Place that names a removed entity.

    Attributes:
        name: of what is used.
        user: the entity that uses it, or the file.
        place: in words.
    """

    name: str
    user: str
    place: str


def removed_entity_in_use(context: LintContext) -> Iterator[Hit]:
    """An entity that others still use is not removed."""
    if context.base is None:
        return
    old, new = context.base.repository.entries, context.repository.entries
    removed = old.keys() - new.keys()
    uses: dict[str, list[_Use]] = {}
    for use in _uses(context.repository) if removed else ():
        if use.name in removed:
            uses.setdefault(use.name, []).append(use)
    for name, found in sorted(uses.items()):
        users = tuple(dict.fromkeys(use.user for use in found))
        yield Hit(
            subject=old[name].file,
            message=f"{old[name].kind} {name} is gone, and still used by {listed([use.place for use in found])}",
            hint="put it back, or change what uses it in the same change",
            related=users,
        )


def _uses(repository: Repository) -> Iterator[_Use]:
    """Yield the uses of names in documents: an entity that names a missing one has a problem, and so no model."""
    for name, entry in sorted(repository.entries.items()):
        for used in dict.fromkeys(_names(entry.document)):
            yield _Use(name=used, user=name, place=f"{entry.kind} {name}")
    for index, hold in enumerate(repository.holds):
        for used in filter(None, (hold.feed, hold.cluster)):
            yield _Use(name=used, user=HOLDS_FILE, place=f"{HOLDS_FILE} (holds[{index}])")
    for name, environment in sorted(repository.environments.items()):
        file = f"{ENVIRONMENTS_FOLDER}/{name}{SUFFIX}"
        for used in dict.fromkeys([*environment.clusters, *environment.entities]):
            yield _Use(name=used, user=file, place=file)


def _names(document: Document) -> Iterator[str]:
    """The names that a feed's or process's document refers to."""
    clusters = document.get("clusters")
    for each in clusters if isinstance(clusters, list) else ():
        yield from _texts(each, "name")
        for exchange, side in (("import", "source"), ("export", "target")):
            yield from _texts(_part(_part(each, exchange), side), "name")
    for ports in (document.get("inputs"), document.get("outputs")):
        for port in ports.values() if isinstance(ports, Mapping) else ():
            yield from _texts(port, "feed")


def _part(value: Value, key: str) -> Value:
    return value.get(key) if isinstance(value, Mapping) else None


def _texts(value: Value, key: str) -> Iterator[str]:
    text = _part(value, key)
    if isinstance(text, str):
        yield text


def cluster_endpoint_change(context: LintContext) -> Iterator[Hit]:
    """An end point of a cluster changes only with everything that depends on it in mind."""
    if context.base is None:
        return
    before, after = context.base.repository.clusters, context.repository.clusters
    for name in sorted(before.keys() & after.keys()):
        dependents = context.repository.graph.depended_on_by(name, transitive=True)
        for interface, old, new in _changes(before[name], after[name]):
            yield _endpoint_hit(name, interface, f"{old or 'none'} -> {new or 'none'}", dependents)


def _changes(before: Cluster, after: Cluster) -> Iterator[tuple[str, str, str]]:
    """Interface, old and new end point of those that the cluster had before."""
    for field in fields(Interfaces):
        old, new = _endpoint(before, field.name), _endpoint(after, field.name)
        if old and old != new:
            yield field.name, old, new


def _endpoint(cluster: Cluster, interface: str) -> str:
    found: Interface | Messaging | None = getattr(cluster.interfaces, interface)
    return "" if found is None else found.endpoint


def _endpoint_hit(cluster: str, interface: str, change: str, dependents: tuple[str, ...]) -> Hit:
    noun = "entity depends" if len(dependents) == 1 else "entities depend"
    who = f"{len(dependents)} {noun} on it: {listed(dependents)}" if dependents else "no entity depends on it"
    data = "; data on the old one is left behind" if interface == "write" else ""
    return Hit(
        subject=cluster,
        pointer=("interfaces", interface, "endpoint"),
        message=f"{interface} end point of {cluster} {change}: {who}{data}",
        hint="stop what runs there before it is merged, and see that the new end point serves the same data",
        related=dependents,
    )


_HINTS = {
    "ledger": "let the operators agree: its host gets the password, and what runs now is not in another ledger",
    "audit_file": "let the operators agree: earlier deletions are in the old file",
}


def ledger_change(context: LintContext) -> Iterator[Hit]:
    """The ledger and the audit file do not change unseen."""
    if context.base is None:
        return
    before, after = context.base.repository.settings, context.repository.settings
    for key, hint in _HINTS.items():
        old, new = _shown(before, key), _shown(after, key)
        if old != new:
            yield Hit(subject=REPO_FILE, pointer=(key,), message=f"{key} {old} -> {new}", hint=hint)
    if AUDIT_OUTSIDE_RULE in set(after.accept) - set(before.accept):
        yield Hit(
            subject=REPO_FILE,
            pointer=("accept", after.accept.index(AUDIT_OUTSIDE_RULE)),
            message=f"{AUDIT_OUTSIDE_RULE} is accepted from now on: the repo may name any place for the audit file",
            hint="let the operators agree, or let them name the file in FEEDCTL_AUDIT",
        )


def _shown(settings: RepoSettings, key: str) -> str:
    value: str | None = getattr(settings, key)
    return "none" if value is None else without_credentials(value)


CHECKS: Mapping[str, Check] = {
    "fixed-start": fixed_start,
    "renamed-entity": renamed_entity,
    "removed-entity-in-use": removed_entity_in_use,
    "cluster-endpoint-change": cluster_endpoint_change,
    "ledger-change": ledger_change,
}
