"""Draft of an entity between XML and YAML: its document, and what became of each text of the XML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from toolkit.entities import ConfigProblem, Kind, Pointer
from toolkit.entities.documents import Value
from toolkit.entities.pointers import value_at
from toolkit.entities.problems import FoundProblems
from toolkit.migration.xml_tree import Element, Fact


class TextOutcome(StrEnum):
    """Outcome of a text of the XML."""

    CARRIED = "carried"
    """It stands in the YAML with the same meaning, perhaps under another name."""
    CHANGED = "changed"
    """It stands in the YAML as something else; the note says how."""
    DROPPED = "without counterpart"
    """Nothing in the YAML stands for it; the note says why."""
    ADDED = "added"
    """The YAML says what Falcon did not; the note says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """A text of the XML, one place in the YAML, and how they belong together.

    Attributes:
        source: None: the XML has nothing of it.
        pointer: in the merged document; None: nothing stands for it.
    """

    outcome: TextOutcome
    source: Fact | None
    pointer: Pointer | None
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToDo:
    """Task that is left to the owner of an entity.

    Attributes:
        source: what it is about in the XML.
        pointer: the place in the merged document.
    """

    source: Fact
    pointer: Pointer
    text: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A value of the YAML; the note says how it differs from what the XML says, empty: not at all."""

    value: Value
    note: str = ""


class CannotConvert(ValueError):  # noqa: N818 - named for what it is about
    """A text has no meaning; `expected` says what would have one."""

    def __init__(self, expected: str) -> None:
        self.expected = expected
        super().__init__(expected)


Convert = Callable[[str], Converted]


def as_is(text: str) -> Converted:
    """The same text."""
    return Converted(text)


@dataclass(slots=True)
class Draft:
    """An entity that is being migrated.

    Attributes:
        file: of the XML.
        document: as the merged YAML is to be.
        scripts: files that its workflow needs, by path in the config repo.
    """

    kind: Kind
    file: str
    root: Fact
    document: dict[str, Value] = field(default_factory=dict)
    traces: list[Trace] = field(default_factory=list)
    todos: list[ToDo] = field(default_factory=list)
    problems: list[ConfigProblem] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)
    _written: dict[Pointer, Fact] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The entity's name; empty when the XML has none."""
        return str(self.document.get("name", ""))

    def put(self, source: Fact, pointer: Pointer, value: Value, note: str = "") -> None:
        """Write a value that the XML says; what says another one of the same thing is refused."""
        before = self._written.setdefault(pointer, source)
        if before is not source and value_at(self.document, pointer) != value:
            message = f"found {source.text[:80]!r} in {source.place}, but line {before.line} says {before.text[:80]!r}"
            self.refuse(source, "duplicate-value", message, "keep one of them")
            return
        _write(self.document, pointer, value)
        outcome = TextOutcome.CHANGED if note else TextOutcome.CARRIED
        self.traces.append(Trace(outcome=outcome, source=source, pointer=pointer, note=note))

    def move(self, pointer: Pointer, to: Pointer, note: str) -> None:
        """Write a value that is there elsewhere instead."""
        around = value_at(self.document, pointer[:-1])
        if not isinstance(around, dict):
            return
        _write(self.document, to, around.pop(pointer[-1]))
        if not around:
            self.document.pop(str(pointer[0]))
        self.traces = [
            replace(each, pointer=to, outcome=TextOutcome.CHANGED, note=note) if each.pointer == pointer else each
            for each in self.traces
        ]

    def trace_name(self, source: Fact, pointer: Pointer) -> None:
        """Say that a name of the XML is a key of the YAML."""
        self.traces.append(Trace(outcome=TextOutcome.CARRIED, source=source, pointer=pointer))

    def change(self, pointer: Pointer, value: Value, note: str) -> None:
        """Write another value over one that the XML says."""
        _write(self.document, pointer, value)
        self.traces = [
            replace(each, outcome=TextOutcome.CHANGED, note=note) if each.pointer == pointer else each
            for each in self.traces
        ]

    def add(self, pointer: Pointer, value: Value, why: str) -> None:
        """Write a value that the XML does not say."""
        _write(self.document, pointer, value)
        self.traces.append(Trace(outcome=TextOutcome.ADDED, source=None, pointer=pointer, note=why))

    def drop(self, source: Fact | None, why: str) -> None:
        """Write nothing for a text of the XML; None is no text."""
        if source is not None:
            self.traces.append(Trace(outcome=TextOutcome.DROPPED, source=source, pointer=None, note=why))

    def todo(self, source: Fact, pointer: Pointer, text: str) -> None:
        """Leave something to the owner."""
        self.todos.append(ToDo(source=source, pointer=pointer, text=text))

    def refuse(self, source: Fact, rule: str, message: str, hint: str = "") -> None:
        """Say what is wrong with a text of the XML."""
        self.problems.append(
            ConfigProblem(file=self.file, line=source.line, column=1, rule=rule, message=message, hint=hint)
        )

    def end_of(self, pointer: Pointer) -> Pointer:
        """Return the pointer of the next item of a list."""
        items = value_at(self.document, pointer)
        return (*pointer, len(items) if isinstance(items, list) else 0)

    def copy(self, source: Fact | None, pointer: Pointer, convert: Convert = as_is) -> None:
        """Write a text of the XML, converted; one that is missing, or empty, is nothing that could be written."""
        if source is None:
            return
        if not source.text:
            self.drop(source, "it is empty")
            return
        try:
            converted = convert(source.text)
        except CannotConvert as error:
            message = f"found {source.text[:80]!r} in {source.place}, expected {error.expected}"
            self.refuse(source, "bad-value", message)
            return
        self.put(source, pointer, converted.value, converted.note)

    def copy_attributes(self, element: Element | None, pointer: Pointer, names: Names) -> None:
        """Write attributes of an element below a pointer, each by its name in the YAML."""
        if element is not None:
            for name, (key, convert) in names.items():
                self.copy(element.attribute(name), (*pointer, key), convert)

    def copy_text(self, element: Element | None, pointer: Pointer, convert: Convert = as_is) -> None:
        """Write the text of an element."""
        if element is not None:
            self.copy(element.text(), pointer, convert)

    def drop_all(self, element: Element, why: str) -> None:
        """Write nothing for an element and all that is in it."""
        for name in element.attributes:
            self.drop(element.attribute(name), why)
        if (text := element.text()).text or not (element.attributes or element.children):
            self.drop(text, why)
        for child in element.children:
            element.each(child.tag)
            self.drop_all(child, why)


class MigrationRefused(FoundProblems):
    """Nothing was written: Falcon's entities cannot be migrated as they are."""

    title = "nothing was written, for"


Names = dict[str, tuple[str, Convert]]
"""Names of attributes, each with its key in the YAML and how its text is converted."""


def _write(document: dict[str, Value], pointer: Pointer, value: Value) -> None:
    """Write into nested mappings and lists, which are made on the way."""
    here: Value = document
    for step, following in zip(pointer, (*pointer[1:], None), strict=True):
        below: Value = value if following is None else ([] if isinstance(following, int) else {})
        if isinstance(here, dict) and isinstance(step, str):
            if following is None:
                here[step] = below
            here = here.setdefault(step, below)
        elif isinstance(here, list) and isinstance(step, int):
            if step == len(here):
                here.append(below)
            here = here[step]
