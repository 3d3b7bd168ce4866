"""What a change of the config repo does, as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolkit.linter.entity_diff import EntityChange, EntityDiff, ValueChange
from toolkit.planning.blast_radius import message_of
from toolkit.printable import on_one_line
from toolkit.rendering.entity_diff_words import compared, danger, headline, value_text

_CHANGED = "~"


def entity_diff_text(diff: EntityDiff) -> str:
    """The change: what was compared, the entities with their values, and what happens to data."""
    return "\n".join(map(on_one_line, _lines(diff))) + "\n"


def _lines(diff: EntityDiff) -> Iterator[str]:
    yield compared(diff)
    yield headline(diff)
    yield from (f"note: {note}" for note in diff.notes)
    yield from _entities(diff)
    yield from _section("settings of repo.yaml", (_value_line(each, "default") for each in diff.settings))
    holds = [f"+ {hold}" for hold in diff.holds.added] + [f"- {hold}" for hold in diff.holds.removed]
    yield from _section("holds", holds)
    yield from _section("blast radius", map(message_of, diff.effects))
    if danger(diff):
        yield ""
        yield danger(diff)


def _entities(diff: EntityDiff) -> Iterator[str]:
    comparison = diff.comparison
    for mark, changes in (("+", comparison.added), ("-", comparison.removed), (_CHANGED, comparison.changed)):
        for change in changes:
            yield ""
            yield from _entity(mark, change)


def _entity(mark: str, change: EntityChange) -> Iterator[str]:
    yield f"{mark} {change.kind} {change.name} ({change.file})"
    shown = change.values if mark == _CHANGED else ()
    yield from (f"    {_value_line(value)}" for value in shown)
    if change.downstream:
        yield f"    downstream: {', '.join(change.downstream)}"


def _value_line(change: ValueChange, absent: str = "-") -> str:
    place = f"  [{change.place}]" if change.place else ""
    return f"{change.key}: {value_text(change.before, absent)} -> {value_text(change.after, absent)}{place}"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield f"{title}:"
        yield from (f"    {line}" for line in found)
