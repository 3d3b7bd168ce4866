"""A name that was merged does not change."""

from __future__ import annotations

import json
from collections.abc import Iterator

from toolkit.entities.documents import Document
from toolkit.entities.entity_loading import Entry
from toolkit.entities.vocabulary import Kind
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    if context.base is None:
        return
    old, new = context.base.repository.entries, context.repository.entries
    gone: dict[str, Entry] = {}
    for name in sorted(old.keys() - new.keys()):
        for trait in _traits(old[name]):
            gone.setdefault(trait, old[name])
    for name in sorted(new.keys() - old.keys()) if gone else ():
        found = next((trait for trait in _traits(new[name]) if trait in gone), None)
        if found is not None:
            yield _hit(gone[found], new[name], found.partition(":")[0])


def _hit(old: Entry, new: Entry, same: str) -> Hit:
    return Hit(
        subject=new.name,
        pointer=("name",),
        message=f"{old.kind} {new.name} has {same} of {old.name}, which is gone: expected the name that was merged",
        hint=f"keep the name {old.name}: runs, batches, events and holds are known by it; `description` is free",
        related=(old.name,),
    )


def _traits(entry: Entry) -> Iterator[str]:
    """What makes an entity known again under another name, the surest first."""
    document = {key: value for key, value in entry.document.items() if key not in {"name", "description"}}
    yield f"the content:{json.dumps(document, sort_keys=True)}"
    data = _data(entry.kind, document)
    if data is not None:
        yield f"the data:{entry.kind} {data}"


def _data(kind: Kind, document: Document) -> str | None:
    """Where an entity's data is, as written."""
    parts = {Kind.FEED: ("locations", "data"), Kind.CLUSTER: ("interfaces", "write", "endpoint")}
    if kind is Kind.FEED and isinstance(document.get("table"), str):
        return str(document["table"])
    if kind is Kind.PROCESS and document.get("outputs"):
        return json.dumps(document["outputs"], sort_keys=True)
    value: object = document
    for step in parts.get(kind, ("", "")):
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


RULE = Rule(
    id="renamed-entity",
    name="The name of an entity does not change once it is merged",
    severity=Severity.ERROR,
    rationale="Everything that was recorded is known by the name: runs, batches, events, fingerprints, holds. Under "
    "another name the entity starts from nothing, and its retention acts on data that it has no record of.",
    bad="""\
# feeds/web_clicks.yaml; the base has feeds/clicks.yaml with the same data, which is gone
kind: feed
name: web_clicks
locations: {data: "/data/clicks/${YEAR}/${MONTH}/${DAY}"}
""",
    good="""\
# feeds/clicks.yaml
kind: feed
name: clicks
description: clicks of the web shop
locations: {data: "/data/clicks/${YEAR}/${MONTH}/${DAY}"}
""",
    source="Falcon overview, Updating process and feed definition; DESIGN section 8",
    check=_check,
    needs_base=True,
)
