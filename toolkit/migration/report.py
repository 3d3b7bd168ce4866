"""Report of a migration: the outcome of each text of the XML with lines on both sides, tasks, accepted findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolkit.migration.draft import Draft, TextOutcome
from toolkit.migration.plan import Plan
from toolkit.migration.trace import OutputPlace, Tracing
from toolkit.migration.xml_tree import Fact
from toolkit.migration.yaml_writing import with_comments


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A text of the XML, or one value that Falcon did not say.

    Attributes:
        entity: kind and name.
        source: None: it is added.
        target: None: nothing stands for it.
    """

    entity: str
    file: str
    outcome: TextOutcome
    source: Fact | None
    target: OutputPlace | None
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Task that is left to the owner of an entity; see `Row`."""

    entity: str
    file: str
    source: Fact
    target: OutputPlace
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Complaint:
    """Finding of lint about a line of the YAML.

    Attributes:
        rule: of lint.
        key: the value in words.
    """

    file: str
    line: int
    key: str
    rule: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """A complaint about what Falcon's entity says: a comment accepts it, and its owner looks at it; see `Row`."""

    entity: str
    file: str
    source: Fact
    target: OutputPlace
    rule: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Report of a migration.

    Attributes:
        files: that are written, by path in the config repo.
        left_alone: files of the named folders that are no entities of Falcon's.
        refused: what lint still says: no comment can accept it, or none may.
    """

    rows: tuple[Row, ...]
    tasks: tuple[Task, ...]
    accepted: tuple[Accepted, ...]
    files: tuple[str, ...]
    left_alone: tuple[str, ...]
    refused: tuple[Complaint, ...] = ()


def marked(plan: Plan) -> Plan:
    """The plan with a comment above each value that Falcon did not say."""
    tracing = plan.tracing()
    comments: dict[str, dict[int, list[str]]] = {}
    for draft in plan.drafts:
        for trace in draft.traces:
            if trace.outcome is TextOutcome.ADDED and trace.pointer is not None:
                place = tracing.place(draft, trace.pointer)
                lines = comments.setdefault(place.file, {})
                lines.setdefault(place.line, [f"not in Falcon: {trace.note}"])
    return _commented(plan, comments)


def accepting(plan: Plan, complaints: Iterable[Complaint]) -> tuple[Plan, tuple[Accepted, ...]]:
    """The plan with a comment above each line that lint complains about, and what these accept.

    Args:
        plan: see `Plan`.
        complaints: about files of the plan; what is about no line of an entity, and what no run survives, is left out.
    """
    tracing = plan.tracing()
    by_place: dict[tuple[str, int], list[Complaint]] = {}
    sources: dict[tuple[str, int], tuple[Draft, Fact]] = {}
    for each in complaints:
        source = tracing.source(each.file, each.line) if each.line and each.rule not in _LEFT_OPEN else None
        if source is not None:
            by_place.setdefault((each.file, each.line), []).append(each)
            sources[each.file, each.line] = source
    comments: dict[str, dict[int, list[str]]] = {}
    for (file, line), found in by_place.items():
        comments.setdefault(file, {})[line] = [_acceptance(found, *sources[file, line])]
    accepted = [
        _accepted(each, *sources[place], below=sum(line <= place[1] for line in comments[place[0]]))
        for place, found in by_place.items()
        for each in found
    ]
    return _commented(plan, comments), tuple(accepted)


_LEFT_OPEN = frozenset({"property-expression", "prepared-output"})
"""Rules whose findings stay findings: with a comment above it, lint would pass a process that can never run."""

_WHY: Mapping[str, str] = {
    "not-implemented": "feedctl does not do this yet",
    "missing-workflow": "copy the script to this path",
}
"""Reasons of comments on rules; of any other rule: Falcon did not mind."""


def _acceptance(found: Sequence[Complaint], draft: Draft, fact: Fact) -> str:
    rules = sorted({each.rule for each in found})
    why = "; ".join(dict.fromkeys(_WHY.get(rule, "Falcon took it") for rule in rules))
    return f"feedctl: ignore[{', '.join(rules)}] {why}, see {Path(draft.file).name}:{fact.line}"


def _accepted(complaint: Complaint, draft: Draft, fact: Fact, below: int) -> Accepted:
    target = OutputPlace(file=complaint.file, line=complaint.line + below, key=complaint.key)
    return Accepted(
        entity=_entity(draft),
        file=draft.file,
        source=fact,
        target=target,
        rule=complaint.rule,
        message=complaint.message,
    )


def _commented(plan: Plan, comments: Mapping[str, Mapping[int, list[str]]]) -> Plan:
    files = dict(plan.files)
    for file, lines in comments.items():
        files[file] = with_comments(files[file].decode(), lines).encode()
    return replace(plan, files=files)


def report(plan: Plan, accepted: Iterable[Accepted], refused: Iterable[Complaint]) -> Report:
    """The report of a plan.

    Args:
        plan: with all its comments.
        accepted: what its comments accept.
        refused: what lint says in spite of that.
    """
    tracing = plan.tracing()
    return Report(
        rows=tuple(row for draft in plan.drafts for row in _rows(draft, tracing)),
        tasks=tuple(task for draft in plan.drafts for task in _tasks(draft, tracing)),
        accepted=tuple(accepted),
        files=tuple(plan.files),
        left_alone=plan.left_alone,
        refused=tuple(refused),
    )


def _entity(draft: Draft) -> str:
    return f"{draft.kind} {draft.name}"


def _rows(draft: Draft, tracing: Tracing) -> Iterator[Row]:
    for each in draft.traces:
        yield Row(
            entity=_entity(draft),
            file=draft.file,
            outcome=each.outcome,
            source=each.source,
            target=None if each.pointer is None else tracing.place(draft, each.pointer),
            note=each.note,
        )


def _tasks(draft: Draft, tracing: Tracing) -> Iterator[Task]:
    for each in draft.todos:
        target = tracing.place(draft, each.pointer)
        yield Task(entity=_entity(draft), file=draft.file, source=each.source, target=target, text=each.text)
