"""What a change of the config repo does, as markdown for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from toolkit.linter.entity_diff import EntityChange, EntityDiff
from toolkit.planning.blast_radius import Effect, EffectKind, message_of
from toolkit.rendering.entity_diff_words import compared, counted, danger, headline, value_text
from toolkit.rendering.markdown import code, details, escaped, table

_MOST_CHARACTERS = 60_000
"""GitHub takes comments of 65,536 characters."""

_ROWS = (1000, 200, 50, 10, 0)
_SHOWN_AT_ONCE = 5
_DANGER = list(EffectKind)

Rows = list[tuple[str, ...]]


def entity_diff_markdown(diff: EntityDiff) -> str:
    """The change: a short summary first, the rest to unfold; as many rows as a comment can hold."""
    texts = ("\n".join(_lines(diff, rows)) + "\n" for rows in _ROWS)
    text = ""
    for text in texts:
        if len(text) <= _MOST_CHARACTERS:
            break
    return text


def _lines(diff: EntityDiff, most: int) -> Iterator[str]:
    yield f"### feedctl: {escaped(headline(diff))}"
    yield ""
    if danger(diff):
        yield f"**{escaped(danger(diff))}**"
        yield ""
    yield from _summary(diff.effects)
    yield from (f"Note: {escaped(note)}\n" for note in diff.notes)
    yield from _effects(diff, most)
    yield from _entities(diff, most)
    yield from _values(diff, most)
    yield from _holds(diff, most)
    yield from _downstream(diff, most)
    yield f"<sub>{escaped(compared(diff))}</sub>"


def _summary(effects: Sequence[Effect]) -> Iterator[str]:
    """The most dangerous effects, those on most instances first."""
    first = sorted(effects, key=lambda effect: (_DANGER.index(effect.kind), -effect.count))[:_SHOWN_AT_ONCE]
    yield from (f"- {escaped(message_of(effect))}" for effect in first)
    if len(effects) > len(first):
        yield f"- and {len(effects) - len(first):,} more, below"
    if effects:
        yield ""


def _effects(diff: EntityDiff, most: int) -> Iterator[str]:
    if len(diff.effects) > _SHOWN_AT_ONCE:
        rows: Rows = [
            (code(each.feed), code(each.cluster), f"{each.count:,}" if each.count else "", escaped(message_of(each)))
            for each in diff.effects
        ]
        title = f"Blast radius: {counted(len(rows), 'effect')}"
        yield from _unfolding(title, ("feed", "cluster", "instances", "what happens"), rows, most)


def _entities(diff: EntityDiff, most: int) -> Iterator[str]:
    comparison = diff.comparison
    kinds = (("added", comparison.added), ("removed", comparison.removed), ("changed", comparison.changed))
    rows: Rows = [_entity(what, each) for what, changes in kinds for each in changes]
    title = f"Entities: {counted(len(rows), 'difference')}"
    yield from _unfolding(title, ("", "kind", "name", "file", "downstream"), rows, most)


def _entity(what: str, change: EntityChange) -> tuple[str, ...]:
    return what, str(change.kind), code(change.name), code(change.file), f"{len(change.downstream):,}"


def _values(diff: EntityDiff, most: int) -> Iterator[str]:
    changed = ((each.name, value, "-") for each in diff.comparison.changed for value in each.values)
    settings = (("repo.yaml", value, "default") for value in diff.settings)
    rows: Rows = [
        (
            code(name),
            code(value.key),
            code(value_text(value.before, absent)),
            code(value_text(value.after, absent)),
            code(value.place or ""),
        )
        for name, value, absent in chain(changed, settings)
    ]
    title = f"Values: {counted(len(rows), 'difference')}"
    yield from _unfolding(title, ("entity", "value", "before", "after", "from"), rows, most)


def _holds(diff: EntityDiff, most: int) -> Iterator[str]:
    rows: Rows = [("added", code(each)) for each in diff.holds.added]
    rows += [("removed", code(each)) for each in diff.holds.removed]
    yield from _unfolding(f"Holds: {counted(len(rows), 'difference')}", ("", "hold"), rows, most)


def _downstream(diff: EntityDiff, most: int) -> Iterator[str]:
    names = diff.comparison.downstream
    rows: Rows = [(code(name),) for name in names]
    yield from _unfolding(f"Downstream: {counted(len(names), 'entity', 'entities')}", ("entity",), rows, most)


def _unfolding(title: str, columns: Sequence[str], rows: Rows, most: int) -> Iterator[str]:
    if not rows:
        return
    rest = len(rows) - most
    more = ["", f"and {rest:,} more: see `feedctl entity diff`"] if rest > 0 else []
    yield from details(title, chain(table(columns, rows[:most]), more))
