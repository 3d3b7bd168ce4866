"""Clusters and datasources: where data is (Falcon entity specification, Cluster; feature list, Import / export)."""

from __future__ import annotations

import re

from toolkit.entities import Pointer
from toolkit.migration.conversions import messaging_endpoint, readonly_endpoint
from toolkit.migration.draft import CannotConvert, Convert, Draft, as_is
from toolkit.migration.entity_parts import head, located, named_values
from toolkit.migration.xml_tree import Element, Fact

_ENDPOINTS: dict[str, Convert] = {"readonly": readonly_endpoint, "messaging": messaging_endpoint}
_HADOOP = re.compile(r"(?:dfs|fs|hadoop|hive\.metastore|yarn|mapreduce)\..+")
"""Names of Hadoop's settings, which Falcon keeps among the properties of a cluster."""


_LOGIN = re.compile(r"//[^/@,]*@")


def cluster(draft: Draft, root: Element) -> None:
    """Read a cluster."""
    head(draft, root)
    draft.copy(root.attribute("colo"), ("colo",))
    for each in root.within("interfaces", "interface"):
        _interface(draft, each)
    located(draft, root, ("locations",), "name")
    named_values(draft, root, ("properties",))
    _hadoop_settings(draft)


def _interface(draft: Draft, element: Element) -> None:
    kind, endpoint, version = (element.attribute(name) for name in ("type", "endpoint", "version"))
    if kind is None or endpoint is None or not kind.text or not endpoint.text:
        draft.refuse(_whole(element), "missing-attribute", "found an interface without type or endpoint")
        return
    pointer: Pointer = ("interfaces", kind.text)
    try:
        converted = _ENDPOINTS.get(kind.text, as_is)(endpoint.text)
    except CannotConvert as error:
        why = f"feedctl tells one broker by STOMP, and knows no other way ({error.expected})"
        endpoint = Fact(endpoint.place, endpoint.line, _LOGIN.sub("//***@", endpoint.text))
        draft.drop(kind, "its end point is left out")
        draft.drop(endpoint, why)
        draft.drop(version, "its interface is left out")
        draft.todo(endpoint, (), f"name the broker's STOMP connector in interfaces.messaging: {endpoint.text[:80]}")
        return
    draft.trace_name(kind, pointer)
    draft.put(endpoint, (*pointer, "endpoint"), converted.value, converted.note)
    if kind.text == "messaging" and converted.note:
        draft.todo(endpoint, (*pointer, "endpoint"), converted.note)
    draft.copy(version, (*pointer, "version"))


def _hadoop_settings(draft: Draft) -> None:
    """Settings of Hadoop have a place of their own, where the clients look for them."""
    properties = draft.document.get("properties")
    names = [name for name in properties if _HADOOP.fullmatch(name)] if isinstance(properties, dict) else []
    for name in names:
        note = "a setting of Hadoop is in hadoop_conf, where clients look; workflows are not told of it"
        draft.move(("properties", name), ("hadoop_conf", name), note)


def datasource(draft: Draft, root: Element) -> None:
    """Read a datasource."""
    head(draft, root)
    draft.copy(root.attribute("colo"), ("colo",))
    draft.copy(root.attribute("type"), ("type",), lambda text: as_is(text.lower()))
    interfaces = root.child("interfaces")
    for each in (*(interfaces.each("interface") if interfaces is not None else ()), *root.each("interface")):
        _database(draft, each)
    for around in (root, interfaces):
        if around is not None:
            _credential(draft, around.child("credential"), ())
    _driver(draft, root.child("driver"), ())
    named_values(draft, root, ("properties",))


def _database(draft: Draft, element: Element) -> None:
    kind, endpoint = element.attribute("type"), element.attribute("endpoint")
    if kind is None or endpoint is None or not kind.text:
        draft.refuse(_whole(element), "missing-attribute", "found an interface without type or endpoint")
        return
    pointer: Pointer = ("interfaces", kind.text)
    draft.trace_name(kind, pointer)
    draft.copy(endpoint, (*pointer, "endpoint"))
    draft.drop(element.attribute("version"), "a datasource has no version of its end points")
    _driver(draft, element.child("driver"), pointer)
    _credential(draft, element.child("credential"), pointer)
    named_values(draft, element, (*pointer, "properties"))


def _driver(draft: Draft, element: Element | None, around: Pointer) -> None:
    if element is None:
        return
    draft.copy_text(element.child("clazz"), (*around, "driver", "class"))
    for jar in element.each("jar"):
        draft.copy_text(jar, draft.end_of((*around, "driver", "jars")))


def _credential(draft: Draft, element: Element | None, around: Pointer) -> None:
    """Return the source of a password; a password in the XML is left there."""
    if element is None:
        return
    pointer = (*around, "credential")
    draft.drop(element.attribute("type"), "which of env, file and alias is there says it")
    draft.copy_text(element.child("userName"), (*pointer, "user"))
    draft.copy_text(element.child("passwordFile"), (*pointer, "file"))
    alias = element.child("passwordAlias")
    if alias is not None:
        for name, key in (("alias", "alias"), ("providerPath", "provider")):
            draft.copy(alias.attribute(name), (*pointer, key))
            draft.copy_text(alias.child(name), (*pointer, key))
    _password(draft, element.child("passwordText"), pointer)


def _password(draft: Draft, element: Element | None, pointer: Pointer) -> None:
    if element is None:
        return
    element.hide("***")
    which = "_".join(str(each) for each in pointer[1:-1])
    variable = re.sub(r"[^A-Z0-9]+", "_", f"FEEDCTL_DATASOURCE_{draft.name}_{which}_PASSWORD".upper())
    note = f"the password is not copied: put it into the variable {variable} of the runs' environment"
    draft.put(element.text(), (*pointer, "env"), variable, note)
    draft.todo(element.text(), (*pointer, "env"), note)


def _whole(element: Element) -> Fact:
    return Fact(element.place, element.line, "")
