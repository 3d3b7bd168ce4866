"""Storage of a feed's instances: one kind, readable templates, dates where retention needs them."""

import re
from collections.abc import Iterator

from toolkit.el import CanonicalPath, ElError
from toolkit.entities.checks.context import Context
from toolkit.entities.cluster import Cluster
from toolkit.entities.feed import Feed
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.locations import Locations
from toolkit.entities.templates import path_template, table_uri
from toolkit.entities.value_hints import foreign_date
from toolkit.entities.violation import Violation
from toolkit.entities.yaml_location import Pointer


def check_storage(feed: Feed) -> Iterator[Violation]:
    """A feed has exactly one of locations and table, and so has each of its clusters, of the same kind."""
    if (feed.locations is None) == (feed.table is None):
        found = "neither" if feed.table is None else "both"
        yield Violation(
            pointer=(), rule="feed-storage", message=f"expected exactly one of locations and table, found {found}"
        )
        return
    for index, each in enumerate(feed.clusters):
        wrong = "locations" if feed.is_table else "table"
        if (each.locations if feed.is_table else each.table) is not None:
            kind = "table" if feed.is_table else "path"
            message = f"found {wrong} on the cluster {each.name} of a {kind} feed"
            hint = "storage is of one kind on all clusters"
            yield Violation(
                pointer=("clusters", index, wrong), rule="feed-storage", message=message, hint=hint, on_key=True
            )


def check_data(feed: Feed) -> Iterator[Violation]:
    """A path feed has data on each cluster, dated where retention acts."""
    for index, each in enumerate(() if feed.is_table else feed.clusters):
        yield from _data_findings(feed, each, index)


def _data_findings(feed: Feed, each: FeedCluster, index: int) -> Iterator[Violation]:
    own, base = each.locations or Locations(), feed.locations or Locations()
    text = own.data or base.data
    if text is None:
        message = f"no data location on the cluster {each.name}"
        yield Violation(pointer=("clusters", index), rule="feed-storage", message=message, hint="add locations: data")
    elif not path_template(text).dated and (each.retention is not None or foreign_date(text)):
        why = f"but the cluster {each.name} has a retention" if each.retention else "but names that look like one"
        remedy = "add ${YEAR} and what follows it down to the frequency, or remove the retention"
        yield Violation(
            pointer=(*(("clusters", index) if own.data else ()), "locations", "data"),
            rule="undated-data",
            message=f"the data location has no date field, {why}",
            hint=foreign_date(text) or remedy,
        )


def check_bound_templates(feed: Feed, context: Context) -> Iterator[Violation]:
    """Templates can be read with the values that are bound on each cluster, and are on a store that can be told."""
    for pointer, text, on_cluster in _templates(feed):
        is_plain = text.startswith("/") or pointer[-1] == "table"
        if is_plain and not _HAS_VARIABLES.search(text):
            continue
        for each in feed.clusters if on_cluster is None else [on_cluster]:
            cluster = context.clusters.get(each.name)
            if cluster is not None:
                yield from _binding_findings(feed, text, pointer, cluster)


def _binding_findings(feed: Feed, text: str, pointer: Pointer, cluster: Cluster) -> Iterator[Violation]:
    try:
        if pointer[-1] == "table":
            table_uri(text).bind(feed.variables_on(cluster))
        else:
            template = path_template(text).bind(feed.variables_on(cluster))
            CanonicalPath.parse(template.base, cluster.default_fs)
    except ElError as error:
        message = f"on the cluster {cluster.name}: {error}"
        yield Violation(pointer=pointer, rule="bad-template", message=message)


_HAS_VARIABLES = re.compile(r"\$\{(?!(?:YEAR|MONTH|DAY|HOUR|MINUTE)\})")


def _templates(feed: Feed) -> Iterator[tuple[Pointer, str, FeedCluster | None]]:
    """Every template with its place, and the feed's cluster that it is for; None: for all."""
    if feed.table is not None:
        yield ("table",), feed.table, None
    for location, text in (feed.locations or Locations()).by_type():
        yield ("locations", str(location)), text, None
    for index, each in enumerate(feed.clusters):
        if each.table is not None:
            yield ("clusters", index, "table"), each.table, each
        for location, text in (each.locations or Locations()).by_type():
            yield ("clusters", index, "locations", str(location)), text, each


OWN_CHECKS = (check_storage, check_data)
CROSS_CHECKS = (check_bound_templates,)
