"""Streaming ingest of a feed: its columns, its table, its catalog, and what cannot go together with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress

from toolkit.el import CanonicalPath, ElError
from toolkit.entities.checks.context import Context
from toolkit.entities.checks.processes import named_feeds
from toolkit.entities.cluster import Cluster
from toolkit.entities.feed import Feed
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.ingest import (
    AfterIngest,
    BadRecordRule,
    CatalogType,
    Ingest,
    KafkaProtocol,
    KafkaSecurity,
    RecordType,
    SaslMechanism,
)
from toolkit.entities.process import Process
from toolkit.entities.templates import path_template, table_uri
from toolkit.entities.violation import Violation
from toolkit.entities.yaml_location import Pointer

_DIGITS = 38
"""Most of a decimal, in Spark and Iceberg."""
_PLACES = ("source", "archive")
_OF_DELIMITED = ("separator", "quote", "escape", "header", "null", "fields")


def check_ingest(feed: Feed) -> Iterator[Violation]:
    """Columns are there once, the event time is one of them, and keys of a format go with its type."""
    for index, each in enumerate(feed.clusters):
        if each.ingest is not None:
            pointer = ("clusters", index, "ingest")
            yield from _column_findings(feed, each, each.ingest, pointer)
            yield from _format_findings(each.ingest, pointer)
            yield from _time_findings(each.ingest, pointer)
            yield from _file_findings(each.ingest, pointer)
            if each.ingest.topic is not None and each.ingest.topic.security is not None:
                yield from _security_findings(each.ingest.topic.security, (*pointer, "source", "security"))
            yield from _company_findings(feed, each, ("clusters", index))


def check_catalog(feed: Feed, context: Context) -> Iterator[Violation]:
    """Its cluster has a catalog and a place for rejects, and its directories are on a store and apart."""
    for index, each in enumerate(feed.clusters):
        cluster = context.clusters.get(each.name)
        if each.ingest is None or cluster is None:
            continue
        pointer = ("clusters", index, "ingest")
        if cluster.interfaces.iceberg is None:
            message = f"the cluster {cluster.name} has no interfaces.iceberg, the catalog of the table"
            yield _violation(pointer, message, "add interfaces: iceberg: {type: sql, uri: ..., warehouse: ...}")
        elif cluster.interfaces.iceberg.type is CatalogType.HIVE:
            yield from _case_findings(feed, each)
        if each.ingest.on_bad_record is BadRecordRule.REJECT and cluster.locations.working is None:
            message = f"on_bad_record: reject needs locations.working of the cluster {cluster.name}, which is missing"
            yield _violation((*pointer, "on_bad_record"), message, "add it, or write on_bad_record: fail")
        yield from _place_findings(each.ingest, cluster, pointer)
        yield from _feed_data_findings(each.ingest, cluster, context, pointer)


def check_process(process: Process, context: Context) -> Iterator[Violation]:
    """A process does not write the table of a feed with ingest: its commits would not be those of its writers."""
    here = {each.name for each in process.clusters}
    for pointer, feed_name in named_feeds(process):
        feed = context.feeds.get(feed_name)
        ingested = [] if feed is None else [each.name for each in feed.clusters if each.ingest and each.name in here]
        if ingested and pointer[0] == "outputs":
            message = f"the feed {feed_name} has an ingest on {ingested[0]}, which alone writes its table"
            yield _violation(pointer, message, "write another table, or pass the rows to the ingest")


def _column_findings(feed: Feed, each: FeedCluster, ingest: Ingest, pointer: Pointer) -> Iterator[Violation]:
    names = [column.name.lower() for column in ingest.columns]
    for at, column in enumerate(ingest.columns):
        place = (*pointer, "columns", at, "name")
        if Counter(names)[column.name.lower()] > 1:
            yield _violation(place, f"the column {column.name} is there twice; case does not tell columns apart", "")
        if found := re.fullmatch(r"decimal\((\d+),(\d+)\)", column.type):
            precision, scale = map(int, found.groups())
            if precision > _DIGITS or scale > precision:
                message = f"{column.type} is no decimal type, expected at most 38 digits, and no more behind the point"
                yield _violation((*pointer, "columns", at, "type"), message, "")
    types = {column.name: column.type for column in ingest.columns}
    if types.get(ingest.event_time) != "timestamp":
        found_type = types.get(ingest.event_time)
        found_text = "no column" if found_type is None else f"of type {found_type}"
        message = f"event_time {ingest.event_time} is {found_text}, expected a column of type timestamp"
        yield _violation((*pointer, "event_time"), message, "")
    table = feed.table_on(each.name)
    if table is None:
        message = "the feed has locations, and streaming ingest writes a table"
        yield _violation(pointer, message, "give the feed table: catalog:DB:TABLE#COLUMN=${YEAR}-...", on_key=True)
        return
    try:
        keys = table_uri(table, feed.path_timezone).partition_keys
    except ElError:
        return  # the check of templates reports it
    for key in keys:
        if key.lower() in names:
            message = f"the column {key} is a partition column of the table; ingest fills it from {ingest.event_time}"
            yield _violation((*pointer, "columns"), message, f"remove {key} from columns")


def _format_findings(ingest: Ingest, pointer: Pointer) -> Iterator[Violation]:
    given, default = ingest.format, type(ingest.format)(type=ingest.format.type)
    place, names = (*pointer, "format"), {column.name for column in ingest.columns}
    for key in _OF_DELIMITED if given.type is not RecordType.DELIMITED else ():
        if getattr(given, key) != getattr(default, key):
            message = f"{key} belongs to type: delimited, found {given.type}"
            yield _violation((*place, key), message, "", on_key=True)
    if (given.pattern is None) == (given.type is RecordType.REGEX):
        found = "no pattern" if given.pattern is None else f"a pattern with type: {given.type}"
        yield _violation(place, f"found {found}; a pattern goes with type: regex, and only with it", "")
    if given.pattern is not None:
        yield from _pattern_findings(given.pattern, names, (*place, "pattern"))
    for at, name in enumerate(given.fields):
        if name != "_" and name not in names:
            yield _violation((*place, "fields", at), f"the field {name} is no column", "write _ to drop a field")


def _pattern_findings(pattern: str, names: Collection[str], pointer: Pointer) -> Iterator[Violation]:
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        yield _violation(pointer, f"the pattern is no regular expression: {error}", "")
        return
    for name in sorted(set(groups) - set(names)):
        yield _violation(pointer, f"the group {name} is no column", "name groups after columns")
    if not groups:
        yield _violation(pointer, "the pattern has no named group", "write (?P<COLUMN>...)")


def _time_findings(ingest: Ingest, pointer: Pointer) -> Iterator[Violation]:
    times = {("commit", "every"): ingest.commit.every, ("close_after",): ingest.close_after}
    if ingest.files is not None:
        times["source", "settle"] = ingest.files.settle
    for key, value in times.items():
        if value.elapsed is None:
            message = f"{key[-1]} is {value}, expected minutes or hours, whose length does not depend on the date"
            yield _violation((*pointer, *key), message, "write minutes(N) or hours(N)")


def _file_findings(ingest: Ingest, pointer: Pointer) -> Iterator[Violation]:
    archives = ingest.after is AfterIngest.ARCHIVE
    if archives != (ingest.archive is not None):
        found = "no archive" if ingest.archive is None else f"an archive with after: {ingest.after}"
        yield _violation((*pointer, "after"), f"found {found}; it goes with after: archive, and only with it", "")
    if ingest.files is None and ingest.after is not AfterIngest.KEEP:
        yield _violation((*pointer, "after"), f"after: {ingest.after} without a source of files", "remove it")


def _security_findings(security: KafkaSecurity, pointer: Pointer) -> Iterator[Violation]:
    has_login = security.protocol is not KafkaProtocol.SSL
    for key in ("mechanism", "user", "env"):
        if (getattr(security, key) is not None) != has_login:
            found = f"no {key}" if has_login else key
            message = f"found {found} with protocol: {security.protocol}; it goes with SASL_SSL and SASL_PLAINTEXT"
            yield _violation(pointer if has_login else (*pointer, key), message, "")
    if security.protocol is KafkaProtocol.SASL_PLAINTEXT:
        if security.ca is not None:
            message = "found ca with protocol: SASL_PLAINTEXT, which encrypts nothing"
            yield _violation((*pointer, "ca"), message, "remove it, or write protocol: SASL_SSL")
        if security.mechanism is SaslMechanism.PLAIN:
            message = "mechanism: PLAIN with protocol: SASL_PLAINTEXT sends the password without encryption"
            yield _violation((*pointer, "mechanism"), message, "write protocol: SASL_SSL, or a SCRAM mechanism")


def _company_findings(feed: Feed, each: FeedCluster, pointer: Pointer) -> Iterator[Violation]:
    others: dict[str, object] = {
        "import": each.import_,
        "export": each.export,
        "poll": each.poll,
    }
    others |= {"quality": each.quality or feed.quality, "type": each.type}
    for key, value in others.items():
        if value is not None:
            message = f"{key} does not work on a feed with ingest: its table is not one of the Hive metastore"
            yield _violation((*pointer, "ingest"), message, f"remove {key}, or ingest", on_key=True)


def _case_findings(feed: Feed, each: FeedCluster) -> Iterator[Violation]:
    """A metastore tells no case apart; two names of one table would be two tables to the ledger."""
    with suppress(ElError):
        table = table_uri(feed.table_on(each.name) or "", feed.path_timezone)
        name = f"{table.database}.{table.table}"
        if name != name.lower():
            message = f"the table {name} is in a Hive metastore, which has names in lower case alone"
            yield _violation(("table",), message, f"write {name.lower()}")


def _place_findings(ingest: Ingest, cluster: Cluster, pointer: Pointer) -> Iterator[Violation]:
    texts: dict[Pointer, str] = {}
    if ingest.files is not None:
        texts[*pointer, "source", "directory"] = ingest.files.directory
    if ingest.archive is not None:
        texts[*pointer, "archive"] = ingest.archive
    places: list[CanonicalPath] = []
    for place, text in texts.items():
        try:
            places.append(CanonicalPath.parse(text, cluster.default_fs))
        except ElError as error:
            yield _violation(place, f"{text} is no path of a store: {error}", "")
    if len(places) == len(_PLACES) and places[0].meets(places[1]):
        message = f"the archive {places[1]} and the source {places[0]} are in each other"
        yield _violation((*pointer, "archive"), message, "name a directory beside it")


def _feed_data_findings(ingest: Ingest, cluster: Cluster, context: Context, pointer: Pointer) -> Iterator[Violation]:
    """Files that are moved or deleted are no data of a feed, which retention and holds decide about."""
    if ingest.files is None or ingest.after is AfterIngest.KEEP:
        return
    with suppress(ElError):
        directory = CanonicalPath.parse(ingest.files.directory, cluster.default_fs)
        for feed in context.feeds.values():
            for base in _bases(feed, context, but=ingest):
                if directory.meets(base):
                    message = f"after: {ingest.after} takes files from {directory}, where feed {feed.name} has files"
                    yield _violation((*pointer, "after"), message, "write after: keep, or use a directory of its own")


def _bases(feed: Feed, context: Context, *, but: Ingest) -> Iterator[CanonicalPath]:
    """Yield the directories that the data of a feed are below or come from, on all of its clusters."""
    for each in feed.clusters:
        cluster = context.clusters.get(each.name)
        if cluster is None:
            continue
        if each.ingest is not None and each.ingest is not but and each.ingest.files is not None:
            with suppress(ElError):
                yield CanonicalPath.parse(each.ingest.files.directory, cluster.default_fs)
        for _, text in feed.locations_on(each.name).by_type():
            with suppress(ElError):
                template = path_template(text, feed.path_timezone).bind(feed.variables_on(cluster))
                yield CanonicalPath.parse(template.base, cluster.default_fs)


def _violation(pointer: Pointer, message: str, hint: str, *, on_key: bool = False) -> Violation:
    return Violation(pointer=pointer, rule="ingest", message=message, hint=hint, on_key=on_key)


OWN_CHECKS = (check_ingest,)
CROSS_CHECKS = (check_catalog,)
PROCESS_CHECKS = (check_process,)
