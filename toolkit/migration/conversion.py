"""From the XML trees of all entities to drafts: places first, then feeds, then the processes that are told of both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from toolkit.entities import ConfigProblem, Document, Kind
from toolkit.entities.formats import FORMATS, allows
from toolkit.entities.pointers import value_at
from toolkit.migration.draft import Draft
from toolkit.migration.feed import feed, is_imported
from toolkit.migration.known import Known
from toolkit.migration.mirror import mirror
from toolkit.migration.places import cluster, datasource
from toolkit.migration.process import process
from toolkit.migration.sources import FalconEntity
from toolkit.migration.xml_tree import Fact

_READERS = {Kind.CLUSTER: cluster, Kind.DATASOURCE: datasource, Kind.FEED: feed, Kind.MIRROR: mirror}
_REMARK = "comments are not migrated; move what still matters by hand"


def convert(
    sources: Sequence[FalconEntity], existing: Mapping[str, Document]
) -> tuple[tuple[Draft, ...], tuple[ConfigProblem, ...]]:
    """The drafts of all entities, clusters first and processes last, and all that is wrong in the XML.

    Args:
        sources: in any order.
        existing: merged documents of the entities that the config repo has already, by name.
    """
    drafts = [_read(each) for kind in _READERS for each in sources if each.kind is kind]
    known = Known(clusters=_documents(drafts, Kind.CLUSTER, existing), feeds=_documents(drafts, Kind.FEED, existing))
    drafts += [_read_process(each, known) for each in sources if each.kind is Kind.PROCESS]
    problems = [problem for draft in drafts for problem in draft.problems]
    problems += _duplicates(drafts)
    _mark_external(drafts, existing)
    return tuple(drafts), tuple(problems)


def _documents(drafts: Iterable[Draft], kind: Kind, existing: Mapping[str, Document]) -> dict[str, Document]:
    there = {name: document for name, document in existing.items() if document.get("kind") == kind}
    return there | {each.name: each.document for each in drafts if each.kind is kind}


def _read(source: FalconEntity) -> Draft:
    draft = _draft(source)
    _READERS[source.kind](draft, source.root)
    return _finished(draft, source)


def _read_process(source: FalconEntity, known: Known) -> Draft:
    draft = _draft(source)
    process(draft, source.root, known)
    return _finished(draft, source)


def _draft(source: FalconEntity) -> Draft:
    return Draft(kind=source.kind, file=source.file, root=Fact(source.root.place, source.root.line, ""))


def _finished(draft: Draft, source: FalconEntity) -> Draft:
    if not allows(FORMATS["name"], draft.name):  # it becomes the name of a file
        expected = "a letter, then letters, digits, underscores and dashes"
        draft.refuse(draft.root, "bad-name", f"found the name {draft.name[:80]!r}, expected {expected}")
    draft.problems.extend(source.root.unread(source.file))
    for each in source.root.remarks:
        draft.drop(each, _REMARK)
    return draft


def _duplicates(drafts: Iterable[Draft]) -> Iterator[ConfigProblem]:
    """Names are unique over all kinds (ADR 0011); in Falcon they are so within a kind."""
    first: dict[str, Draft] = {}
    for each in drafts:
        before = first.setdefault(each.name, each)
        if before is not each and each.name:
            message = (
                f"found the {each.kind} {each.name[:80]!r}, a name that the {before.kind} in {before.file}:"
                f"{before.root.line} has already"
            )
            hint = "leave one of the files out, or give it another name"
            yield ConfigProblem(
                file=each.file, line=each.root.line, column=1, rule="duplicate-name", message=message, hint=hint
            )


def _mark_external(drafts: Sequence[Draft], existing: Mapping[str, Document]) -> None:
    """A feed that no process makes, and no import, comes from elsewhere; Falcon does not say so."""
    processes = [*existing.values(), *(each.document for each in drafts if each.kind is Kind.PROCESS)]
    made = set(_outputs(processes))
    for each in drafts:
        if each.kind is Kind.FEED and each.name not in made and not is_imported(each):
            each.add(("external",), value=True, why="no process that is migrated, or in the config repo, makes it")


def _outputs(documents: Collection[Document]) -> Iterator[str]:
    for document in documents:
        outputs = document.get("outputs")
        for name in outputs if isinstance(outputs, Mapping) else ():
            yield str(value_at(document, ("outputs", name, "feed")))
