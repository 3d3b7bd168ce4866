"""The partition of an input has no more parts than its feed has partitions."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Feed, Input
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for _, process in sorted(context.repository.processes.items()):
        for name, each in process.inputs.items():
            feed = context.repository.feeds.get(each.feed)
            found = _wrong(each, feed) if feed and each.partition else None
            if found is not None:
                message, hint = found
                pointer = ("inputs", name, "partition")
                yield Hit(subject=process.name, pointer=pointer, message=message, hint=hint, related=(each.feed,))


def _wrong(each: Input, feed: Feed) -> tuple[str, str] | None:
    parts = (each.partition or "").split("/")
    if feed.is_table:
        message = f"found the partition {each.partition!r}, and {feed.name} is a table: its partitions are in its URI"
        return message, "remove the partition"
    if not feed.partitions:
        message = f"found the partition {each.partition!r}, and {feed.name} has no partitions"
        return message, f"remove it, or name the sub-directories in partitions of {feed.name}"
    if len(parts) > len(feed.partitions):
        message = (
            f"found {len(parts)} parts in {each.partition!r}, expected at most {len(feed.partitions)}: "
            f"{feed.name} has the partitions {', '.join(feed.partitions)}"
        )
        return message, "leave out the last ones; a partition that is not given means all of it"
    return None


RULE = Rule(
    id="input-partition",
    name="The partition of an input has no more parts than its feed has partitions",
    severity=Severity.ERROR,
    rationale=(
        "The parts of an input's partition select sub-directories of an instance, one for each partition of the "
        "feed in its order. One part too many selects files below the partitions, or nothing: the run reads an "
        "empty input and succeeds."
    ),
    bad="""\
# processes/us_clicks.yaml; clicks has partitions: [country]
inputs:
  clicks: {feed: clicks, start: "now(-1,0)", end: "now(-1,0)", partition: "US/fra"}
""",
    good="""\
# processes/us_clicks.yaml; clicks has partitions: [country]
inputs:
  clicks: {feed: clicks, start: "now(-1,0)", end: "now(-1,0)", partition: "US"}
""",
    source="Falcon entity specification, Inputs: the components are a subset of the feed's partitions",
    check=_check,
)
