"""A property that looks like one with a meaning is spelt like it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from functools import cache, lru_cache

from toolkit.entities import Feed, Process, SchemaName, schema
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule

_ALIKE = 0.86
"""`queuName` and `queueName` are 0.94 alike, `order` and `border` 0.91 but too short, `user` and `queue` 0.44."""
_SHORTEST = 6
_CACHED = 4096


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        yield from _hits(feed)
    for process in context.repository.processes.values():
        yield from _hits(process)


def _hits(entity: Feed | Process) -> Iterator[Hit]:
    for name in entity.properties:
        meant = _meant(name, SchemaName(entity.KIND))
        if meant is not None and meant not in entity.properties and not _is_variable(name, entity):
            yield Hit(
                subject=entity.name,
                pointer=("properties", name),
                message=f"the property {name!r} has no meaning, but {meant!r} has",
                hint=f"did you mean {meant}? If not, suppress this finding with the reason",
                on_key=True,
            )


def _is_variable(name: str, entity: Feed | Process) -> bool:
    return isinstance(entity, Feed) and f"${{{name}}}" in _template_text(entity)


def _template_text(feed: Feed) -> str:
    """Everything in which a property of the feed may be used as a variable."""
    places = [feed.locations, *(each.locations for each in feed.clusters)]
    texts = [text for place in places if place is not None for _, text in place.by_type()]
    texts += [each for each in (feed.table, *(each.table for each in feed.clusters)) if each is not None]
    return " ".join([*texts, *(each.partition for each in feed.clusters if each.partition is not None)])


@cache
def _known(kind: SchemaName) -> Collection[str]:
    return tuple(schema(kind)["properties"]["properties"]["properties"])


@lru_cache(maxsize=_CACHED)
def _meant(name: str, kind: SchemaName) -> str | None:
    """The name with a meaning that a name without one looks like."""
    known = _known(kind)
    if name in known:
        return None
    plain = _plain(name)
    scored = [(_likeness(plain, _plain(each)), each) for each in known]
    score, best = max(scored)
    return best if score >= _ALIKE else None


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _likeness(left: str, right: str) -> float:
    if left == right:
        return 1.0
    if min(len(left), len(right)) < _SHORTEST:
        return 0.0
    return SequenceMatcher(None, left, right).ratio()


RULE = Rule(
    id="misspelt-property",
    name="A property that looks like one with a meaning is spelt like it",
    severity=Severity.WARNING,
    rationale="Properties have free names, so no schema catches `queuName`: the job would run in the default queue.",
    bad="""\
# processes/hourly_job.yaml
properties: {queuName: etl, job_priority: HIGH}
""",
    good="""\
# processes/hourly_job.yaml
properties: {queueName: etl, jobPriority: HIGH}
""",
    source="Falcon entity specification, Feed, Custom Properties, and Process, Properties; Falcon feature list",
    check=_check,
)
