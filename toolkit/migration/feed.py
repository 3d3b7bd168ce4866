"""Feeds (Falcon entity specification, Feed; feature list)."""

from __future__ import annotations

from toolkit.entities import Pointer
from toolkit.entities.pointers import value_at
from toolkit.migration.conversions import retention_policy, role, table, template, whole_number, words
from toolkit.migration.draft import Converted, Draft, Names, as_is
from toolkit.migration.entity_parts import head, located, named_values, notification, validity
from toolkit.migration.xml_tree import Element, Fact

_SLA: Names = {"slaLow": ("low", as_is), "slaHigh": ("high", as_is)}
_CLUSTER: Names = {
    "name": ("name", as_is),
    "type": ("type", role),
    "partition": ("partition", as_is),
    "delay": ("delay", as_is),
    "version": ("version", whole_number),
}
_LIMIT = "retention.policy.agebaseddelete.limit"
_NULLS = frozenset({"--input-null-string", "--input-null-non-string"})
_NO_ARCHIVE = (
    "feedctl archives only to a place that is named, and Falcon names none; it never reads this as delete, so that "
    "nothing is evicted here"
)


def feed(draft: Draft, root: Element) -> None:
    """Read a feed."""
    head(draft, root)
    draft.copy_text(root.child("groups"), ("groups",), words)
    draft.copy_text(root.child("availabilityFlag"), ("availability_flag",))
    draft.copy_text(root.child("frequency"), ("frequency",))
    draft.copy_text(root.child("timezone"), ("timezone",))
    draft.add(("path_timezone",), "UTC", "its paths and partitions are named in UTC, whatever the time zone")
    late = root.child("late-arrival")
    draft.copy_attributes(late, ("late_arrival",), {"cut-off": ("cut_off", as_is)})
    draft.copy_attributes(root.child("sla"), ("sla",), _SLA)
    for each in root.within("partitions", "partition"):
        draft.copy(each.attribute("name"), draft.end_of(("partitions",)))
    _storage(draft, root, ())
    for each in root.within("clusters", "cluster"):
        _on_cluster(draft, each, draft.end_of(("clusters",)))
    _schema(draft, root.child("schema"))
    named_values(draft, root, ("properties",))
    notification(draft, root.child("notification"))
    _lifecycle(draft, root.child("lifecycle"), ())
    _agree_on_limits(draft, Fact(root.place, root.line, ""))


def _storage(draft: Draft, element: Element, around: Pointer) -> None:
    located(draft, element, (*around, "locations"), "type", template)
    uri = element.child("table")
    if uri is not None:
        draft.copy(uri.attribute("uri"), (*around, "table"), table)


def _on_cluster(draft: Draft, element: Element, pointer: Pointer) -> None:
    draft.copy_attributes(element, pointer, _CLUSTER)
    validity(draft, element.child("validity"), pointer)
    _retention(draft, element.child("retention"), (*pointer, "retention"))
    draft.copy_attributes(element.child("sla"), (*pointer, "sla"), _SLA)
    _import(draft, element.child("import"), (*pointer, "import"))
    _export(draft, element.child("export"), (*pointer, "export"))
    _storage(draft, element, pointer)
    _lifecycle(draft, element.child("lifecycle"), pointer)


def _retention(draft: Draft, element: Element | None, pointer: Pointer) -> None:
    if element is None:
        return
    action = element.attribute("action")
    if action is not None and action.text.lower() in {"archive", "chmod"}:
        draft.drop_all(element, _NO_ARCHIVE if action.text.lower() == "archive" else "feedctl has no such action")
        text = f"retention with action {action.text} is left out, and nothing is evicted here: say what is to happen"
        draft.todo(action, pointer[:-1], text)
        return
    draft.copy(element.attribute("type"), (*pointer, "type"))
    draft.copy(element.attribute("limit"), (*pointer, "limit"))
    draft.copy(action, (*pointer, "action"), lambda text: as_is(text.lower()))


def _schema(draft: Draft, element: Element | None) -> None:
    if element is None:
        return
    location, provider = element.attribute("location"), element.attribute("provider")
    if location is not None and provider is not None and location.text and provider.text:
        draft.copy(location, ("schema", "location"))
        draft.copy(provider, ("schema", "provider"))
        return
    draft.drop_all(element, "a schema has a location and a provider")


def _lifecycle(draft: Draft, element: Element | None, around: Pointer) -> None:
    stage = None if element is None else element.child("retention-stage")
    if stage is None:
        return
    pointer = (*around, "lifecycle", "retention_stage")
    for name, convert in (
        ("policy", retention_policy),
        ("frequency", as_is),
        ("queue", as_is),
        ("priority", as_is),
    ):
        draft.copy(stage.attribute(name), (*pointer, name), convert)
        draft.copy_text(stage.child(name), (*pointer, name), convert)
    named_values(draft, stage, (*pointer, "properties"))


def _agree_on_limits(draft: Draft, root: Fact) -> None:
    """The limit of a stage is the one that Falcon goes by, and ours stands in the retention."""
    clusters = draft.document.get("clusters")
    for index, each in enumerate(clusters if isinstance(clusters, list) else ()):
        limit = _stage_limit(each.get("lifecycle") or draft.document.get("lifecycle"))
        own = each.get("retention", {}).get("limit")
        pointer: Pointer = ("clusters", index, "retention", "limit")
        if limit is None or limit == own:
            continue
        if own is None:
            draft.add(pointer, limit, "the limit of the retention stage")
        else:
            draft.change(pointer, limit, f"Falcon goes by the limit of the retention stage, {limit}, not by {own}")
            draft.todo(root, pointer, f"the retention stage says {limit}, the retention said {own}: which is meant?")


def _stage_limit(lifecycle: object) -> str | None:
    stage = lifecycle.get("retention_stage", {}) if isinstance(lifecycle, dict) else {}
    limit = stage.get("properties", {}).get(_LIMIT)
    return limit if isinstance(limit, str) else None


def _import(draft: Draft, element: Element | None, pointer: Pointer) -> None:
    if element is None:
        return
    source = element.child("source")
    if source is not None:
        there = (*pointer, "source")
        draft.copy_attributes(source, there, {"name": ("name", as_is), "tableName": ("table_name", as_is)})
        extract = source.child("extract")
        if extract is not None:
            draft.copy_attributes(extract, (*there, "extract"), {"type": ("type", as_is)})
            draft.copy_text(extract.child("deltacolumn"), (*there, "extract", "delta_column"))
            draft.copy_text(extract.child("mergepolicy"), (*there, "extract", "merge_policy"))
        fields = source.child("fields")
        for key in ("includes", "excludes"):
            chosen = None if fields is None else fields.child(key)
            for each in () if chosen is None else chosen.each("field"):
                draft.copy_text(each, draft.end_of((*there, "fields", key)))
    named_values(draft, element, (*pointer, "arguments"), wrapper="arguments", tag="argument")


def _export(draft: Draft, element: Element | None, pointer: Pointer) -> None:
    if element is None:
        return
    target = element.child("target")
    if target is not None:
        there = (*pointer, "target")
        draft.copy_attributes(target, there, {"name": ("name", as_is), "tableName": ("table_name", as_is)})
        load = target.child("load")
        draft.copy_attributes(load, (*there, "load"), {"type": ("type", _load_type)})
    named_values(draft, element, (*pointer, "arguments"), wrapper="arguments", tag="argument")
    given = value_at(draft.document, (*pointer, "arguments"))
    if isinstance(given, dict) and not _NULLS.isdisjoint(given):
        draft.add((*pointer, "format"), "csv", "a text that means null is one of files of text")


def _load_type(text: str) -> Converted:
    return Converted(text.lower())


def is_imported(draft: Draft) -> bool:
    """Return whether an import makes the feed's instances somewhere."""
    clusters = draft.document.get("clusters")
    return any("import" in each for each in clusters) if isinstance(clusters, list) else False
