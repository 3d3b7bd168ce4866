"""Effects of a config change: as text for people, as markdown for a comment, as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from toolkit.config_source import SnapshotId
from toolkit.el import format_instant
from toolkit.entities.documents import Value
from toolkit.linter.entity_diff import EntityChange, EntityDiff, ValueChange
from toolkit.planning.blast_radius import Effect, EffectKind, message_of
from toolkit.printable import on_one_line
from toolkit.rendering.markdown import code, details, escaped, prose, table
from toolkit.result import SCHEMA_VERSION


def _counted(number: int, noun: str, plural: str = "") -> str:
    """``1 entity``, ``2 entities``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _headline(diff: EntityDiff) -> str:
    """The figures in one line."""
    comparison = diff.comparison
    if diff.is_empty:
        return "no difference"
    kinds = (("added", comparison.added), ("changed", comparison.changed), ("removed", comparison.removed))
    parts = [(len(changes), what) for what, changes in kinds if changes]
    entities = ", ".join(
        f"{_counted(number, 'entity', 'entities')} {what}" if first else f"{number:,} {what}"
        for first, (number, what) in zip((True, False, False), parts, strict=False)
    )
    downstream = f", {len(comparison.downstream):,} downstream" if comparison.downstream else ""
    suites = f", {_counted(len(diff.suites), 'suite')} changed" if diff.suites else ""
    return (entities or "no entity is different") + downstream + suites


def _danger(diff: EntityDiff) -> str:
    """Return how much more the next run of retention deletes; empty for nothing."""
    if not diff.more_evictable:
        return ""
    verb = "becomes" if diff.more_evictable == 1 else "become"
    return f"{_counted(diff.more_evictable, 'more instance')} {verb} evictable at the next run of retention"


def _compared(diff: EntityDiff) -> str:
    """Return the two states that were compared."""
    environment = "no environment" if diff.environment is None else f"environment {diff.environment}"
    dirty = " with uncommitted changes" if diff.snapshot.dirty else ""
    base, now = _short(diff.base.value), _short(diff.snapshot.value)
    return f"{diff.ref} ({base}) compared with {now}{dirty}, {environment}, at {format_instant(diff.time)}"


def _value_text(value: Value, absent: str = "-") -> str:
    """A value of a document on one line."""
    if value is None:
        return absent
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(snapshot: str) -> str:
    return snapshot[: len("sha256:") + 12] if snapshot.startswith("sha256:") else snapshot[:12]


_CHANGED = "~"


def entity_diff_text(diff: EntityDiff) -> str:
    """The change: what was compared, the entities with their values, and what happens to data."""
    return "\n".join(map(on_one_line, _text_lines(diff))) + "\n"


def _text_lines(diff: EntityDiff) -> Iterator[str]:
    yield _compared(diff)
    yield _headline(diff)
    yield from (f"note: {note}" for note in diff.notes)
    yield from _entities(diff)
    for name, title in (("repo.yaml", "settings of repo.yaml"), ("calendars", "calendars")):
        yield from _section(title, (_value_line(each, "default") for each in diff.settings if _file_of(each) == name))
    holds = [f"+ {hold}" for hold in diff.holds.added] + [f"- {hold}" for hold in diff.holds.removed]
    yield from _section("holds", holds)
    yield from _section("suites", _suite_lines(diff))
    yield from _section("blast radius", map(message_of, diff.effects))
    if _danger(diff):
        yield ""
        yield _danger(diff)


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
    return f"{change.key}: {_value_text(change.before, absent)} -> {_value_text(change.after, absent)}{place}"


def _suite_lines(diff: EntityDiff) -> Iterator[str]:
    for suite in diff.suites:
        yield f"{suite.name}, which validates {', '.join(suite.feeds) or 'no feed'}:"
        yield from (f"    {_value_line(each)}" for each in suite.values)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield f"{title}:"
        yield from (f"    {line}" for line in found)


_MOST_CHARACTERS = 60_000
"""GitHub takes comments of 65,536 characters."""

_ROWS = (1000, 200, 50, 10, 0)
_SHOWN_AT_ONCE = 5
_DANGER = list(EffectKind)

Rows = list[tuple[str, ...]]


def entity_diff_markdown(diff: EntityDiff) -> str:
    """The change: a short summary first, the rest to unfold; as many rows as a comment can hold."""
    texts = ("\n".join(_markdown_lines(diff, rows)) + "\n" for rows in _ROWS)
    text = ""
    for text in texts:
        if len(text) <= _MOST_CHARACTERS:
            break
    return text


def _markdown_lines(diff: EntityDiff, most: int) -> Iterator[str]:
    yield f"### feedctl: {escaped(_headline(diff))}"
    yield ""
    if _danger(diff):
        yield f"**{escaped(_danger(diff))}**"
        yield ""
    yield from _summary(diff.effects)
    yield from (f"Note: {prose(note)}\n" for note in diff.notes)
    yield from _effects(diff, most)
    yield from _entity_tables(diff, most)
    yield from _values(diff, most)
    yield from _holds(diff, most)
    yield from _suites(diff, most)
    yield from _downstream(diff, most)
    yield f"<sub>{prose(_compared(diff))}</sub>"


def _summary(effects: Sequence[Effect]) -> Iterator[str]:
    """The most dangerous effects, those on most instances first."""
    first = sorted(effects, key=lambda effect: (_DANGER.index(effect.kind), -effect.count))[:_SHOWN_AT_ONCE]
    yield from (f"- {prose(message_of(effect))}" for effect in first)
    if len(effects) > len(first):
        yield f"- and {len(effects) - len(first):,} more, below"
    if effects:
        yield ""


def _effects(diff: EntityDiff, most: int) -> Iterator[str]:
    if len(diff.effects) > _SHOWN_AT_ONCE:
        rows: Rows = [
            (
                code(each.feed),
                code(each.cluster),
                f"{each.count:,}" if each.count else "",
                prose(message_of(each), in_cell=True),
            )
            for each in diff.effects
        ]
        title = f"Blast radius: {_counted(len(rows), 'effect')}"
        yield from _unfolding(title, ("feed", "cluster", "instances", "what happens"), rows, most)


def _entity_tables(diff: EntityDiff, most: int) -> Iterator[str]:
    comparison = diff.comparison
    kinds = (("added", comparison.added), ("removed", comparison.removed), ("changed", comparison.changed))
    rows: Rows = [_entity_details(what, each) for what, changes in kinds for each in changes]
    title = f"Entities: {_counted(len(rows), 'difference')}"
    yield from _unfolding(title, ("", "kind", "name", "file", "downstream"), rows, most)


def _entity_details(what: str, change: EntityChange) -> tuple[str, ...]:
    return what, str(change.kind), code(change.name), code(change.file), f"{len(change.downstream):,}"


def _values(diff: EntityDiff, most: int) -> Iterator[str]:
    changed = ((each.name, value, "-") for each in diff.comparison.changed for value in each.values)
    settings = ((_file_of(value), value, "default") for value in diff.settings)
    rows: Rows = [
        (
            code(name),
            code(value.key),
            code(_value_text(value.before, absent)),
            code(_value_text(value.after, absent)),
            code(value.place or ""),
        )
        for name, value, absent in chain(changed, settings)
    ]
    title = f"Values: {_counted(len(rows), 'difference')}"
    yield from _unfolding(title, ("entity", "value", "before", "after", "from"), rows, most)


def _file_of(setting: ValueChange) -> str:
    return "calendars" if setting.key.startswith("calendars.") else "repo.yaml"


def _holds(diff: EntityDiff, most: int) -> Iterator[str]:
    rows: Rows = [("added", code(each)) for each in diff.holds.added]
    rows += [("removed", code(each)) for each in diff.holds.removed]
    yield from _unfolding(f"Holds: {_counted(len(rows), 'difference')}", ("", "hold"), rows, most)


def _suites(diff: EntityDiff, most: int) -> Iterator[str]:
    rows: Rows = [
        (
            code(suite.name),
            code(", ".join(suite.feeds)),
            code(each.key),
            code(_value_text(each.before)),
            code(_value_text(each.after)),
        )
        for suite in diff.suites
        for each in suite.values
    ]
    title = f"Suites: {_counted(len(rows), 'difference')}"
    yield from _unfolding(title, ("suite", "validates", "expectation", "before", "after"), rows, most)


def _downstream(diff: EntityDiff, most: int) -> Iterator[str]:
    names = diff.comparison.downstream
    rows: Rows = [(code(name),) for name in names]
    yield from _unfolding(f"Downstream: {_counted(len(names), 'entity', 'entities')}", ("entity",), rows, most)


def _unfolding(title: str, columns: Sequence[str], rows: Rows, most: int) -> Iterator[str]:
    if not rows:
        return
    rest = len(rows) - most
    more = ["", f"and {rest:,} more: see `feedctl entity diff`"] if rest > 0 else []
    yield from details(title, chain(table(columns, rows[:most]), more))


def entity_diff_json(diff: EntityDiff) -> str:
    """The change; entities are sorted by name, effects by feed and cluster."""
    comparison = diff.comparison
    document = {
        "schema_version": SCHEMA_VERSION,
        "ref": diff.ref,
        "base": _snapshot_document(diff.base),
        "snapshot": _snapshot_document(diff.snapshot),
        "environment": diff.environment,
        "time": format_instant(diff.time),
        "entities": {
            "added": [_entity_document(each) for each in comparison.added],
            "changed": [_entity_document(each) for each in comparison.changed],
            "removed": [_entity_document(each) for each in comparison.removed],
        },
        "downstream": list(comparison.downstream),
        "settings": [_value_document(each) for each in diff.settings],
        "holds": {"added": list(diff.holds.added), "removed": list(diff.holds.removed)},
        "suites": [
            {"name": each.name, "feeds": list(each.feeds), "values": [_value_document(one) for one in each.values]}
            for each in diff.suites
        ],
        "blast_radius": {
            "more_evictable": diff.more_evictable,
            "effects": [_effect_document(each) for each in diff.effects],
        },
        "notes": list(diff.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _snapshot_document(snapshot: SnapshotId) -> dict[str, object]:
    return {"kind": snapshot.kind.value, "id": snapshot.value, "dirty": snapshot.dirty}


def _entity_document(change: EntityChange) -> dict[str, object]:
    return {
        "name": change.name,
        "kind": change.kind.value,
        "file": change.file,
        "values": [_value_document(each) for each in change.values],
        "downstream": list(change.downstream),
    }


def _value_document(change: ValueChange) -> dict[str, object]:
    return {"key": change.key, "before": change.before, "after": change.after, "place": change.place}


def _effect_document(effect: Effect) -> dict[str, object]:
    found = effect.instances
    return {
        "kind": effect.kind.value,
        "feed": effect.feed or None,
        "was": effect.was or None,
        "cluster": effect.cluster,
        "before": effect.before or None,
        "after": effect.after or None,
        "instances": None
        if found is None
        else {
            "count": found.count,
            "first": format_instant(found.first),
            "end": format_instant(found.end),
            "has_gaps": found.has_gaps,
        },
        "message": message_of(effect),
    }
