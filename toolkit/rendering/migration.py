"""The report of a migration: as text for people, as markdown for a page, as one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from toolkit.migration.draft import TextOutcome
from toolkit.migration.report import Accepted, Report, Row, Task
from toolkit.migration.trace import OutputPlace
from toolkit.migration.xml_tree import Fact
from toolkit.printable import on_one_line
from toolkit.rendering.markdown import code, escaped, prose, table

_MOST = 80
"""Characters of a value that are shown."""


def summary(found: Report, into: str, *, is_written: bool) -> str:
    """The figures in one line.

    Args:
        found: the report.
        into: the config repo.
        is_written: else it was a dry run.
    """
    counts = Counter(each.outcome for each in found.rows)
    entities = len({each.entity for each in found.rows})
    texts = ", ".join(f"{counts[each]:,} {each}" for each in TextOutcome)
    did = "wrote" if is_written else "would write"
    return (
        f"{entities:,} entities: {texts}; {did} {len(found.files):,} files into {into}; "
        f"{len(found.tasks):,} things to do, {len(found.accepted):,} findings of lint accepted"
    )


def report_document(found: Report, into: str, *, is_written: bool) -> Mapping[str, object]:
    """Return the whole report, for programs."""
    counts = Counter(each.outcome for each in found.rows)
    return {
        "into": into,
        "written": is_written,
        "counts": {each.name.lower(): counts[each] for each in TextOutcome},
        "files": list(found.files),
        "left_alone": list(found.left_alone),
        "tasks": [{**_sides(each), "text": each.text} for each in found.tasks],
        "accepted": [{**_sides(each), "rule": each.rule, "message": each.message} for each in found.accepted],
        "refused": [
            {"file": each.file, "line": each.line, "rule": each.rule, "message": each.message} for each in found.refused
        ],
        "rows": [_row(each) for each in found.rows],
    }


def _row(row: Row) -> Mapping[str, object]:
    return {**_sides(row), "outcome": row.outcome.name.lower(), "note": row.note}


def _sides(each: Row | Task | Accepted) -> dict[str, object]:
    source, target = each.source, each.target
    return {
        "entity": each.entity,
        "source": None
        if source is None
        else {"file": each.file, "line": source.line, "place": source.place, "text": source.text},
        "target": None if target is None else {"file": target.file, "line": target.line, "key": target.key},
    }


def report_lines(found: Report, into: str, *, is_written: bool) -> Iterator[str]:
    """Yield the tasks, then every text of the XML on a line of its own, by entity; the figures last."""
    yield from _section("to do:", (f"{_where(each)}: {each.text}" for each in found.tasks))
    yield from _section(
        "findings of lint that comments accept, look at each:",
        (f"{_where(each)}: {each.rule}: {each.message}" for each in found.accepted),
    )
    yield from _section(
        "findings of lint that are left:",
        (f"{each.file}:{each.line}: {each.rule}: {each.message}" for each in found.refused),
    )
    yield from _section("left alone, no entities of Falcon's:", found.left_alone)
    for entity, rows in groupby(found.rows, key=lambda row: row.entity):
        yield on_one_line(entity)
        yield from (f"  {on_one_line(_line(row))}" for row in rows)
    yield on_one_line(summary(found, into, is_written=is_written))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = [f"  {on_one_line(each)}" for each in lines]
    if listed:
        yield title
        yield from listed


def _line(row: Row) -> str:
    source = "-" if row.source is None else f"{row.file}:{row.source.line} {_inner(row.source)}"
    text = "" if row.source is None else f" {_cut(row.source.text)!r}"
    target = "-" if row.target is None else f"{_place(row.target)} {row.target.key}"
    note = f" ({row.note})" if row.note else ""
    return f"{row.outcome}: {source}{text} -> {target}{note}"


def _inner(fact: Fact) -> str:
    """The place below the entity, whose own tag says nothing new."""
    return fact.place.partition("/")[2] or fact.place


def _where(each: Task | Accepted) -> str:
    return f"{each.entity}, {each.file}:{each.source.line} -> {_place(each.target)}"


def _place(place: OutputPlace) -> str:
    return f"{place.file}:{place.line}" if place.line else place.file


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def report_markdown(found: Report, into: str, *, is_written: bool) -> Iterator[str]:
    """The same as tables, what needs a person first."""
    yield "# Migration from Falcon"
    yield ""
    yield escaped(summary(found, into, is_written=is_written))
    yield ""
    yield from _table("To do", ("entity", "Falcon", "YAML", "what"), [_task(each) for each in found.tasks])
    yield from _table(
        "Findings of lint that comments accept",
        ("entity", "Falcon", "YAML", "rule", "finding"),
        [_accepted(each) for each in found.accepted],
    )
    yield from _table(
        "Findings of lint that are left",
        ("YAML", "rule", "finding"),
        [(_code(f"{e.file}:{e.line}"), _code(e.rule), prose(e.message, in_cell=True)) for e in found.refused],
    )
    yield from _table("Left alone, no entities of Falcon's", ("file",), [(_code(each),) for each in found.left_alone])
    for entity, rows in groupby(found.rows, key=lambda row: row.entity):
        yield from _table(
            entity, ("what became of it", "Falcon", "text", "YAML", "why"), [_cells(each) for each in rows]
        )


def _code(text: str, most: int = 1000) -> str:
    """A text as code; two paths fit in it."""
    return code(text, most)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield f"## {escaped(title)}"
        yield ""
        yield from table(columns, rows)
        yield ""


def _task(each: Task) -> tuple[str, ...]:
    return (*_cells_of_sides(each), prose(each.text, in_cell=True))


def _accepted(each: Accepted) -> tuple[str, ...]:
    return (*_cells_of_sides(each), _code(each.rule), prose(each.message, in_cell=True))


def _cells_of_sides(each: Task | Accepted) -> tuple[str, str, str]:
    return _code(each.entity), _code(f"{each.file}:{each.source.line}"), _code(_place(each.target))


def _cells(row: Row) -> tuple[str, ...]:
    source = "" if row.source is None else _code(f"{row.file}:{row.source.line} {_inner(row.source)}")
    text = "" if row.source is None else _code(row.source.text, _MOST)
    target = "" if row.target is None else _code(f"{_place(row.target)} {row.target.key}")
    return str(row.outcome), source, text, target, prose(row.note, in_cell=True)
