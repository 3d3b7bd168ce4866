"""Processes (Falcon entity specification, Process; feature list)."""

from __future__ import annotations

from toolkit.entities import Pointer
from toolkit.migration.conversions import boolean, late_policy, order, retry_policy, whole_number, words
from toolkit.migration.draft import Draft, Names, as_is
from toolkit.migration.entity_parts import head, named_values, notification, validity
from toolkit.migration.known import Known
from toolkit.migration.workflow import workflow
from toolkit.migration.xml_tree import Element, Fact

_SLA: Names = {"shouldStartIn": ("should_start_in", as_is), "shouldEndIn": ("should_end_in", as_is)}
_RETRY: Names = {
    "policy": ("policy", retry_policy),
    "delay": ("delay", as_is),
    "attempts": ("attempts", whole_number),
    "onTimeout": ("on_timeout", boolean),
}


def process(draft: Draft, root: Element, known: Known) -> None:
    """Read a process."""
    head(draft, root)
    draft.copy_text(root.child("pipelines"), ("pipelines",), words)
    around = root.child("validity")
    clusters = root.within("clusters", "cluster")
    for each in clusters:
        _on_cluster(draft, each, around, draft.end_of(("clusters",)))
    if not clusters and around is not None:
        draft.refuse(Fact(around.place, around.line, ""), "missing-element", "found a validity and no cluster")
    draft.copy_text(root.child("parallel", "concurrency"), ("parallel",), whole_number)
    draft.copy_text(root.child("order"), ("order",), order)
    draft.copy_text(root.child("timeout"), ("timeout",))
    draft.copy_text(root.child("frequency"), ("frequency",))
    draft.copy_text(root.child("timezone"), ("timezone",))
    draft.copy_attributes(root.child("sla"), ("sla",), _SLA)
    for each in root.within("inputs", "input"):
        _input(draft, each)
    for each in root.within("outputs", "output"):
        _named(draft, each, "outputs", {"feed": ("feed", as_is), "instance": ("instance", as_is)})
    named_values(draft, root, ("properties",))
    _retry(draft, root.child("retry"))
    late = root.child("late-process")
    draft.copy_attributes(late, ("late_process",), {"policy": ("policy", late_policy), "delay": ("delay", as_is)})
    workflow(draft, root, known)
    notification(draft, root.child("notification"))


def _on_cluster(draft: Draft, element: Element, around: Element | None, pointer: Pointer) -> None:
    draft.copy_attributes(element, pointer, {"name": ("name", as_is), "version": ("version", whole_number)})
    own = element.child("validity")
    validity(draft, around if own is None else own, pointer)
    draft.copy_attributes(element.child("sla"), (*pointer, "sla"), _SLA)


def _input(draft: Draft, element: Element) -> None:
    start = "start" if "start" in element.attributes else "start-instance"
    end = "end" if "end" in element.attributes else "end-instance"
    names: Names = {
        "feed": ("feed", as_is),
        start: ("start", as_is),
        end: ("end", as_is),
        "partition": ("partition", as_is),
        "optional": ("optional", boolean),
    }
    _named(draft, element, "inputs", names)


def _named(draft: Draft, element: Element, key: str, names: Names) -> None:
    """An input or output: the YAML has them by name, so that a second one of a name has no place."""
    name = element.attribute("name")
    if name is None or not name.text:
        draft.refuse(Fact(element.place, element.line, ""), "missing-attribute", f"found one of {key} without a name")
        return
    if name.text in names_of(draft, key):
        draft.refuse(name, "duplicate-name", f"found {name.text[:80]!r} in {key} again", "give each a name of its own")
        return
    draft.copy_attributes(element, (key, name.text), names)
    draft.trace_name(name, (key, name.text))


def names_of(draft: Draft, key: str) -> frozenset[str]:
    """The names that are in a mapping of the document."""
    found = draft.document.get(key)
    return frozenset(found) if isinstance(found, dict) else frozenset()


def _retry(draft: Draft, element: Element | None) -> None:
    if element is None:
        return
    policy, attempts = element.attribute("policy"), element.attribute("attempts")
    if policy is not None and policy.text.lower() == "final":
        draft.drop_all(element, "`final` has no retries, and without `retry` there are none")
    elif attempts is not None and attempts.text == "0":
        draft.drop_all(element, "no attempts: without `retry` there are none")
    else:
        draft.copy_attributes(element, ("retry",), _RETRY)
