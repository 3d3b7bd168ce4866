"""An entity that others still use is not removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolkit.entities.documents import Document, Value
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import ENVIRONMENTS_FOLDER, HOLDS_FILE, SUFFIX
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.base.listing import listed


@dataclass(frozen=True, kw_only=True, slots=True)
class _Use:
    """One place that names a removed entity.

    Attributes:
        name: of what is used.
        user: the entity that uses it, or the file.
        place: in words.
    """

    name: str
    user: str
    place: str


def _check(context: LintContext) -> Iterator[Hit]:
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
    """Who names whom, in documents: an entity that names what is gone has a problem, and so no model."""
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


RULE = Rule(
    id="removed-entity-in-use",
    name="An entity that others still use is not removed",
    severity=Severity.ERROR,
    rationale="What uses it cannot be loaded any more. The unknown name is reported at each of the users; this finding "
    "tells in one place who they are, holds and environments included.",
    bad="""\
# processes/hourly_job.yaml; the base has feeds/clicks.yaml, which is gone
inputs:
  clicks: {feed: clicks, start: "now(-1,0)", end: "now(-1,0)"}
""",
    good="""\
# processes/hourly_job.yaml; changed together with the removal of feeds/clicks.yaml
inputs:
  visits: {feed: visits, start: "now(-1,0)", end: "now(-1,0)"}
""",
    source="Falcon overview, Entity management actions, Delete: only without dependent entities",
    check=_check,
    needs_base=True,
)
