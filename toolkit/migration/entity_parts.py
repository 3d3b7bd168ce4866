"""Parts that several kinds of entities share: name, tags, ACL, properties, notification, validity."""

from __future__ import annotations

import re

from toolkit.entities import Kind, Pointer, SchemaName
from toolkit.migration.conversions import instant, permission, property_value, tags, whole_number, words
from toolkit.migration.draft import CannotConvert, Convert, Draft, Names, as_is
from toolkit.migration.expressions import leave_calls
from toolkit.migration.xml_tree import Element, Fact

_HEAD: Names = {
    "name": ("name", as_is),
    "description": ("description", as_is),
    "version": ("version", whole_number),
}
_ACL: Names = {"owner": ("owner", as_is), "group": ("group", as_is), "permission": ("permission", permission)}
_SECRET = re.compile(r"(?i)password|passwd|secret|token|credential")
_MASK = "***"


def head(draft: Draft, root: Element) -> None:
    """Name, description, version, tags and ACL; the kind is the root's tag."""
    draft.document["kind"] = str(draft.kind)
    draft.copy_attributes(root, (), _HEAD)
    draft.copy_text(root.child("tags"), ("tags",), tags)
    _acl(draft, root.child("ACL", "acl"))


def _acl(draft: Draft, acl: Element | None) -> None:
    owner = None if acl is None else acl.attribute("owner")
    if owner is not None and owner.text:
        draft.add(("owner",), owner.text, "who answers for it; this is the owner of its ACL")
    draft.copy_attributes(acl, ("acl",), _ACL)


def validity(draft: Draft, element: Element | None, pointer: Pointer) -> None:
    """Start and end; a time zone here is the whole entity's, as the specification's examples have it."""
    if element is None:
        return
    draft.copy_attributes(element, (*pointer, "validity"), {"start": ("start", instant), "end": ("end", instant)})
    draft.copy(element.attribute("timezone"), ("timezone",))


def named_values(
    draft: Draft, parent: Element, pointer: Pointer, *, wrapper: str = "properties", tag: str = "property"
) -> None:
    """Names and values, which are texts unless the name has a meaning of another type."""
    for each in parent.within(wrapper, tag):
        name, value = each.attribute("name"), each.exact_attribute("value")
        if name is None or value is None:
            message = f"found a {tag} without {'a name' if name is None else 'a value'}"
            draft.refuse(Fact(each.place, each.line, ""), "missing-attribute", message, f'<{tag} name="" value=""/>')
            continue
        draft.trace_name(name, (*pointer, name.text))
        _named_value(draft, (*pointer, name.text), value)
    _note_empty(draft, parent, wrapper)


def _named_value(draft: Draft, pointer: Pointer, value: Fact) -> None:
    name = str(pointer[-1])
    shown = Fact(value.place, value.line, _MASK) if _SECRET.search(name) and value.text else value
    try:
        kind = {Kind.FEED: SchemaName.FEED, Kind.PROCESS: SchemaName.PROCESS}.get(draft.kind)
        has_meaning = kind is not None and pointer[0] == "properties"
        converted = property_value(kind, name, value.text) if kind is not None and has_meaning else as_is(value.text)
    except CannotConvert as error:
        message = f"found {shown.text[:80]!r} for {name} in {value.place}, expected {error.expected}"
        draft.refuse(value, "bad-value", message)
        return
    draft.put(shown, pointer, converted.value, converted.note)
    if draft.kind in {Kind.PROCESS, Kind.CLUSTER} and pointer[0] == "properties":  # which workflows are told
        leave_calls(draft, value, pointer, f"the property {name!r}")


def _note_empty(draft: Draft, parent: Element, wrapper: str) -> None:
    """A wrapper without anything in it is a text of the XML, too."""
    element = parent.child(wrapper)
    if element is not None and not element.children and not element.attributes and not element.text().text:
        draft.drop(element.text(), "it is empty")


def located(draft: Draft, parent: Element, pointer: Pointer, key: str, convert: Convert = as_is) -> None:
    """``<location type= path=>``, each below its type."""
    for each in parent.within("locations", "location"):
        kind = each.attribute(key)
        path = each.attribute("path")
        if kind is None or not kind.text or path is None:
            message = f"found a location without {key} or path"
            draft.refuse(Fact(each.place, each.line, ""), "missing-attribute", message)
            continue
        draft.trace_name(kind, (*pointer, kind.text))
        draft.copy(path, (*pointer, kind.text), convert)


def notification(draft: Draft, element: Element | None) -> None:
    """Mail is what Falcon sends."""
    if element is None:
        return
    kind = element.attribute("type")
    if kind is not None and kind.text.lower() not in {"", "email"}:
        draft.refuse(kind, "bad-value", f"found {kind.text[:80]!r} as the type of a notification, expected email")
    draft.drop(kind, "mail is the only way; `email` says whom")
    draft.copy(element.attribute("to"), ("notification", "email"), words)
    draft.copy(element.attribute("level"), ("notification", "level"))
