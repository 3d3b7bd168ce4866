"""A target in an object store has an availability flag."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import CanonicalPath, ElError
from toolkit.entities import Feed
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication.roles import Side, sources, targets


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        if feed.is_table or feed.availability_flag is not None or not sources(feed):
            continue
        for each in targets(feed):
            place = _data_place(context, feed, each)
            if place is not None and place.in_object_store:
                yield Hit(
                    subject=feed.name,
                    pointer=_pointer(each),
                    message=f"the target {each.name} is in an object store ({place}), "
                    "and the feed has no availability_flag",
                    hint="add availability_flag, for example _SUCCESS: it is written last",
                )


def _data_place(context: LintContext, feed: Feed, side: Side) -> CanonicalPath | None:
    cluster = side.cluster(context.repository)
    text = feed.locations_on(side.name).data
    if cluster is None or text is None:
        return None
    try:
        return CanonicalPath.parse(text.partition("$")[0].rpartition("/")[0] + "/", cluster.default_fs)
    except ElError:
        return None


def _pointer(side: Side) -> tuple[str | int, ...]:
    own = side.feed_cluster.locations
    return side.at("name") if own is None or own.data is None else side.at("locations", "data")


RULE = Rule(
    id="object-store-without-flag",
    name="A feed that is copied to an object store has an availability flag",
    severity=Severity.ERROR,
    rationale="An object store cannot rename a directory, so a copy appears file by file. Only a flag that is deleted "
    "first and written last tells readers whether an instance is whole; replication refuses such a target without it.",
    bad="""\
# feeds/clicks.yaml
clusters:
  - {name: primary, type: source}
  - name: cloud
    type: target
    locations: {data: "s3a://archive/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"}
""",
    good="""\
# feeds/clicks.yaml
availability_flag: _SUCCESS
clusters:
  - {name: primary, type: source}
  - name: cloud
    type: target
    locations: {data: "s3a://archive/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"}
""",
    source="DESIGN section 7, Replication; Falcon overview, Archival as Replication",
    check=_check,
)
