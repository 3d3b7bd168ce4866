"""An archive of a feed's old instances: it is said where, and each instance has a place of its own there."""

from collections.abc import Iterator

from toolkit.el import CanonicalPath, ElError, PathTemplate, TableUri
from toolkit.el.segment import Segment
from toolkit.el.tokens import Glob
from toolkit.entities.checks.context import Context
from toolkit.entities.feed import Feed
from toolkit.entities.retention import Retention
from toolkit.entities.templates import path_template
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import ExpiryAction, LocationType
from toolkit.entities.yaml_location import Pointer


def check_archive(feed: Feed) -> Iterator[Violation]:
    """Check that an archive is given where one is needed, and nowhere else: no data to be archived is deleted."""
    for index, each in enumerate(feed.clusters):
        if each.retention is not None:
            yield from _target_findings(feed, each.retention, each.name, ("clusters", index, "retention"))


def _target_findings(feed: Feed, retention: Retention, cluster: str, pointer: Pointer) -> Iterator[Violation]:
    archive = retention.archive
    is_configured = retention.action is ExpiryAction.ARCHIVE
    if archive is not None and not is_configured:
        yield Violation(
            pointer=(*pointer, "archive"),
            rule="archive-target",
            message=f"there is an archive, but the action is {retention.action}, which archives nothing",
            hint="write action: archive, or remove the archive",
            on_key=True,
        )
    elif archive is None and is_configured:
        yield Violation(
            pointer=(*pointer, "action"),
            rule="archive-target",
            message="action: archive does not say where to",
            hint="add archive: {cluster: NAME, locations: {data: ...}}",
        )
    elif archive is not None and feed.cluster(cluster).ingest is not None:
        yield Violation(
            pointer=(*pointer, "archive"),
            rule="archive-target",
            message="an ingested feed is an Iceberg table, whose partitions are no directories that could be archived",
            hint="write action: delete, and let a process copy what has to stay",
            on_key=True,
        )
    elif archive is not None:
        if feed.table_on(cluster) is not None and archive.locations.data is None:
            yield Violation(
                pointer=(*pointer, "archive", "locations"),
                rule="archive-target",
                message="the archive of a table has no place for its exports",
                hint="add data: with the dates of the table's partitions",
            )
        for location, text in feed.locations_on(cluster).by_type():
            if path_template(text).dated and archive.locations.get(location) is None:
                yield Violation(
                    pointer=(*pointer, "archive", "locations"),
                    rule="archive-target",
                    message=f"the archive has no place for {location}, which has dates and is archived too",
                    hint=f"add {location}: with the dates of {text}",
                )


def check_quarantine(feed: Feed) -> Iterator[Violation]:
    """Check that a feed says how long its instances are in quarantine, if they go there, and only then."""
    for index, each in enumerate(feed.clusters):
        retention = each.retention
        pointer: Pointer = ("clusters", index, "retention")
        if retention is not None and retention.action is ExpiryAction.QUARANTINE and each.ingest is not None:
            yield Violation(
                pointer=(*pointer, "action"),
                rule="quarantine-time",
                message="an ingested feed is an Iceberg table, whose partitions are no directories to set aside",
                hint="write action: delete; expired snapshots of the table are the way back",
            )
        if retention is None or (retention.action is ExpiryAction.QUARANTINE) is (retention.quarantine is not None):
            continue
        is_missing = retention.quarantine is None
        yield Violation(
            pointer=(*pointer, "action" if is_missing else "quarantine"),
            rule="quarantine-time",
            message=(
                "action: quarantine does not say for how long"
                if is_missing
                else f"there is a time in quarantine, but the action is {retention.action}, which deletes at once"
            ),
            hint="add quarantine: days(3)" if is_missing else "write action: quarantine, or remove it",
            on_key=not is_missing,
        )


def check_names(feed: Feed, context: Context) -> Iterator[Violation]:
    """Two instances never have one place in the archive, and all of it can be told from an instance's own path."""
    for index, each in enumerate(feed.clusters):
        archived = feed.archive_on(each.name)
        here = context.clusters.get(each.name)
        there = None if archived is None else context.clusters.get(archived.clusters[0].name)
        if archived is None or here is None or there is None:
            continue
        for location, text in archived.locations_on(there.name).by_type():
            pointer: Pointer = ("clusters", index, "retention", "archive", "locations", str(location))
            try:
                place = path_template(text, feed.path_timezone).bind(feed.variables_on(there))
                CanonicalPath.parse(place.base, there.default_fs)
            except ElError as error:
                yield Violation(pointer=pointer, rule="bad-template", message=f"on the cluster {there.name}: {error}")
                continue
            own, table = feed.locations_on(each.name).get(location), feed.table_on(each.name)
            if table is not None:
                source = TableUri.parse(table, feed.path_timezone).bind(feed.variables_on(here))
                yield from _name_findings(source, place, location, pointer)
            elif own is not None:
                written = path_template(own, feed.path_timezone).bind(feed.variables_on(here))
                yield from _name_findings(written, place, location, pointer)


def _name_findings(
    source: PathTemplate | TableUri, place: PathTemplate, location: LocationType, pointer: Pointer
) -> Iterator[Violation]:
    missing = [f"${{{each}}}" for each in source.fields if each not in place.fields]
    # Partitions have directories of their names in the export of their instance.
    variables = source.variables if isinstance(source, PathTemplate) else frozenset()
    missing += [f"${{{each}}}" for each in sorted(variables - place.variables)]
    unknown = [f"${{{each}}}" for each in sorted(place.variables - source.variables)]
    if missing and source.dated:
        yield _names_finding(
            pointer, f"instances that differ in {', '.join(missing)} would have one place", f"add {', '.join(missing)}"
        )
    if unknown:
        yield _names_finding(
            pointer,
            f"{', '.join(unknown)} has no value: the {location} path does not have it, nor do the cluster's properties",
            "remove it, or give it a value",
        )
    if any(map(_has_glob, place.segments)):
        yield _names_finding(pointer, "a glob names no place", "write the name itself, or a variable")
    elif any(map(_has_glob, source.segments)):
        yield _names_finding(
            pointer,
            f"the {location} path has a glob, so that instances that differ in it would have one place",
            f"write a variable instead of the glob in {source.text}, and here",
        )


def _names_finding(pointer: Pointer, message: str, hint: str) -> Violation:
    return Violation(pointer=pointer, rule="archive-names", message=message, hint=hint)


def _has_glob(segment: Segment) -> bool:
    return any(isinstance(token, Glob) for token in segment.tokens)


OWN_CHECKS = (check_archive, check_quarantine)
CROSS_CHECKS = (check_names,)
