"""Checks that references exist, by the entity's document, so that a mistake elsewhere in the file hides none."""

from collections.abc import Callable, Iterator, Mapping

from toolkit.entities.checks.context import Context
from toolkit.entities.documents import Document
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer

_EACH = None
"""In the place of a key: every key of a mapping, every index of a list."""

_REFERENCES: Mapping[Kind, tuple[tuple[tuple[str | None, ...], Kind], ...]] = {
    Kind.CLUSTER: (),
    Kind.FEED: (
        (("clusters", _EACH, "name"), Kind.CLUSTER),
        (("clusters", _EACH, "retention", "archive", "cluster"), Kind.CLUSTER),
        (("clusters", _EACH, "import", "source", "name"), Kind.DATASOURCE),
        (("clusters", _EACH, "export", "target", "name"), Kind.DATASOURCE),
        (("shares_data_with", _EACH), Kind.FEED),
    ),
    Kind.PROCESS: (
        (("clusters", _EACH, "name"), Kind.CLUSTER),
        (("inputs", _EACH, "feed"), Kind.FEED),
        (("outputs", _EACH, "feed"), Kind.FEED),
        (("workflow", "mirror", _EACH, "source_cluster"), Kind.CLUSTER),
        (("workflow", "mirror", _EACH, "target_cluster"), Kind.CLUSTER),
    ),
    Kind.DATASOURCE: (),
}

_Check = Callable[[Context, str, Pointer], Iterator[Violation]]

_OTHERS: Mapping[Kind, tuple[tuple[tuple[str | None, ...], _Check], ...]] = {
    Kind.FEED: (
        (("quality", "suites", _EACH), Context.suite),
        (("clusters", _EACH, "quality", "suites", _EACH), Context.suite),
        (("sla", "deadline", "calendar"), Context.calendar),
        (("clusters", _EACH, "sla", "deadline", "calendar"), Context.calendar),
        (("notification", "channels", _EACH), Context.channel),
    ),
    Kind.PROCESS: (
        (("outputs", _EACH, "suites", _EACH), Context.suite),
        (("notification", "channels", _EACH), Context.channel),
    ),
}
"""References to other things than entities: suites, calendars, channels."""


def reference_findings(kind: Kind, document: Document, context: Context) -> Iterator[Violation]:
    """A finding for each name in a merged document, valid or not, that nothing that is meant there has."""
    for keys, wanted in _REFERENCES[kind]:
        for pointer, name in _values(document, keys, ()):
            if isinstance(name, str):
                yield from context.reference(wanted, name, pointer)
    for keys, check in _OTHERS.get(kind, ()):
        for pointer, name in _values(document, keys, ()):
            if isinstance(name, str):
                yield from check(context, name, pointer)


def _values(value: object, keys: tuple[str | None, ...], pointer: Pointer) -> Iterator[tuple[Pointer, object]]:
    if not keys:
        yield pointer, value
    elif keys[0] is _EACH:
        for key, each in _children(value):
            yield from _values(each, keys[1:], (*pointer, key))
    elif isinstance(value, Mapping) and keys[0] in value:
        yield from _values(value[keys[0]], keys[1:], (*pointer, keys[0]))


def _children(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)
