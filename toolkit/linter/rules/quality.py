"""Rules about the use of suites: unused ones, samples, and personal data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolkit.entities import ClusterRole, Feed, FeedCluster, Pointer, Repository
from toolkit.entities.pointers import value_at
from toolkit.entities.quality import Quality, Suite, is_pii
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.rules.pipelines import Pipelines

_ROWS = "unexpected_rows_expectation"
"""Its result is rows."""

_VALUES = frozenset({"value_set", "value_pairs_set"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteUse:
    """Suites that are referenced.

    Attributes:
        subject: the entity that names them.
        pointer: of what names them, a feed's `quality` or an output.
        feed: whose data is validated.
        quality: the feed's there; None: an output's feed has none of its own.
    """

    subject: str
    pointer: Pointer
    suites: tuple[str, ...]
    feed: Feed | None
    quality: Quality | None = None


def suite_uses(repository: Repository) -> Iterator[SuiteUse]:
    """Yield the uses of suites: by feeds, sorted, then by processes."""
    for _, feed in sorted(repository.feeds.items()):
        own: list[tuple[Pointer, Quality | None]] = [(("quality",), feed.quality)]
        own += [(("clusters", index, "quality"), each.quality) for index, each in enumerate(feed.clusters)]
        for pointer, quality in own:
            if quality is not None and quality.suites:
                yield SuiteUse(subject=feed.name, pointer=pointer, suites=quality.suites, feed=feed, quality=quality)
    for _, process in sorted(repository.processes.items()):
        for name, output in process.outputs.items():
            if output.suites:
                made = repository.feeds.get(output.feed)
                yield SuiteUse(subject=process.name, pointer=("outputs", name), suites=output.suites, feed=made)


def unused_suite(context: LintContext) -> Iterator[Hit]:
    """Find suites that are not used."""
    used = {name for use in suite_uses(context.repository) for name in use.suites}
    for name, suite in sorted(context.repository.suites.items()):
        if name not in used and not context.is_incomplete:
            message = f"the suite {name} is named by no feed and no output: it validates nothing"
            yield Hit(subject=suite.path, pointer=("expectations",), message=message, hint=_USE, on_key=True)


_USE = "name it in the quality of a feed or the suites of an output, or remove it"


def sampled_count(context: LintContext) -> Iterator[Hit]:
    """Find expectations that count all rows but get a sample."""
    for use in suite_uses(context.repository):
        sample = 1.0 if use.quality is None else use.quality.sample
        for name in use.suites if sample < 1 else ():
            counting = _counting(context.repository.suites.get(name))
            if counting:
                message = f"{counting} of the suite {name} counts rows, of which sample: {sample:g} reads a part"
                hint = "validate all rows, or leave the expectation out"
                yield Hit(subject=use.subject, pointer=(*use.pointer, "sample"), message=message, hint=hint)


def _counting(suite: Suite | None) -> str:
    types = [each.type for each in suite.expectations] if suite else []
    return next((each for each in types if each.startswith("expect_table_row_count_")), "")


def pii_values(context: LintContext) -> Iterator[Hit]:
    """Find suites about personal data that show or repeat its values."""
    about: dict[str, set[str]] = {}
    for use in suite_uses(context.repository):
        if use.feed is not None and is_pii(use.feed.tags):
            for name in use.suites:
                about.setdefault(name, set()).add(use.feed.name)
    for name, suite in sorted(context.repository.suites.items()):
        if name in about:
            yield from _shown_values(suite, " and ".join(sorted(about[name])))


def _shown_values(suite: Suite, feeds: str) -> Iterator[Hit]:
    for position, each in enumerate(suite.expectations):
        place: Pointer = ("expectations", position)
        if each.type == _ROWS:
            message = f"{each.type} shows rows of {feeds}, tagged pii"
            hint = "ask for a property of columns"
            yield Hit(subject=suite.path, pointer=(*place, "type"), message=message, hint=hint)
        for argument in sorted(_VALUES & each.kwargs.keys()):
            message = f"{argument} has values of {feeds}, tagged pii: they are in git, and in whatever shows the suite"
            pointer = (*place, "kwargs", argument)
            hint = "see that they are no person's, and accept this by a comment"
            yield Hit(
                subject=suite.path, pointer=pointer, message=message, hint=hint, severity=Severity.WARNING, on_key=True
            )


def table_format(context: LintContext) -> Iterator[Hit]:
    """Refuse a format of files for a table, which has its own."""
    for use in suite_uses(context.repository):
        if use.feed is None or use.quality is None or not use.feed.is_table:
            continue
        document = context.repository.merged(use.subject)
        for key in ("format", "options"):
            if value_at(document, (*use.pointer, key)) is not None:
                message = f"{key} has no effect: the files of {use.feed.name} are read as its table says"
                pointer = (*use.pointer, key)
                yield Hit(subject=use.subject, pointer=pointer, message=message, hint="remove it", on_key=True)


def idle_quality(context: LintContext) -> Iterator[Hit]:
    """Find quality of data that no process writes and nothing copies; a table may be imported."""
    pipelines = Pipelines.of(context)
    for use in suite_uses(context.repository):
        feed = use.feed
        if feed is None or use.quality is None or not pipelines.knows(feed):
            continue
        made = pipelines.made_on(feed)
        validated = [each for each in feed.clusters if feed.quality_on(each.name) is use.quality]
        if not any(_may_pass(feed, each, made) for each in validated):
            message = f"this quality validates nothing: nothing writes or copies {feed.name} where it counts"
            hint = "remove it; if it is for `validate` by hand alone, accept this by a comment"
            yield Hit(subject=use.subject, pointer=use.pointer, message=message, hint=hint, on_key=True)


def _may_pass(feed: Feed, there: FeedCluster, made: frozenset[str]) -> bool:
    return there.name in made or there.type is ClusterRole.TARGET or feed.table_on(there.name) is not None


CHECKS: Mapping[str, Check] = {
    "quality-format-of-table": table_format,
    "idle-quality": idle_quality,
    "unused-suite": unused_suite,
    "sampled-row-count": sampled_count,
    "pii-values": pii_values,
}
