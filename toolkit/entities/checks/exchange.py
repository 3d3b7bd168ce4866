"""Imports and exports of a feed: their settings fit together, and the datasource has the end point they need."""

from collections.abc import Collection, Iterator, Mapping

from toolkit.entities.checks.context import Context
from toolkit.entities.exchange import EXPORT_ARGUMENTS, IMPORT_ARGUMENTS, Extract, FeedExport, Import
from toolkit.entities.feed import Feed
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.locations import Locations
from toolkit.entities.templates import path_template
from toolkit.entities.values import Properties
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import ClusterRole, DataFormat, ExtractType, LoadType, MergePolicy
from toolkit.entities.yaml_location import Pointer

_COUNTS = ("--num-mappers", "--fetch-size")
_OTHER_NULLS = "--input-null-non-string"


def check_exchange(feed: Feed) -> Iterator[Violation]:
    """Each import and export has the settings that its mode needs, and no others."""
    for index, each in enumerate(feed.clusters):
        if each.import_ is not None:
            pointer = ("clusters", index, "import")
            yield from _import_findings(each.import_, pointer)
            yield from _place_findings(feed, each, pointer)
        if each.export is not None:
            yield from _export_findings(each.export, ("clusters", index, "export"))


def check_end_points(feed: Feed, context: Context) -> Iterator[Violation]:
    """An export writes to a datasource that has an end point for that."""
    for index, each in enumerate(feed.clusters):
        name = each.export.target.name if each.export is not None else ""
        datasource = context.datasources.get(name)
        if datasource is not None and datasource.interfaces.write is None:
            message = f"the datasource {name} has no write interface, which an export needs"
            yield _violation(("clusters", index, "export", "target", "name"), message, "add interfaces: write to it")


def _import_findings(settings: Import, pointer: Pointer) -> Iterator[Violation]:
    source, fields = settings.source, settings.source.fields
    yield from _extract_findings(source.extract, (*pointer, "source", "extract"))
    if fields.includes and fields.excludes:
        message = "expected one of includes and excludes, found both"
        yield _violation((*pointer, "source", "fields"), message, "includes alone names the columns", on_key=True)
    given = {"num_mappers": settings.num_mappers != 1, "split_by": settings.split_by is not None}
    yield from _argument_findings(settings.arguments, IMPORT_ARGUMENTS, given, pointer)
    if _is_count(settings.arguments) and settings.connections > 1 and settings.split_column is None:
        message = f"{settings.connections} connections read the table, but nothing says which rows each of them reads"
        yield _violation(pointer, message, "add split_by, or remove num_mappers", on_key=True)
    read = [*fields.includes, *source.extract.merge_key] if fields.includes else []
    for name in settings.columns:
        if name in fields.excludes or (fields.includes and name not in read):
            message = f"columns gives a type to {name}, which is not imported"
            yield _violation((*pointer, "columns", name), message, "remove it", on_key=True)
    for name in source.extract.merge_key:
        if name in fields.excludes or (fields.includes and name not in fields.includes):
            message = f"the column {name} of merge_key is not imported"
            yield _violation((*pointer, "source", "extract", "merge_key"), message, "import it too")
    yield from _null_findings(settings.null_string, settings.format, pointer)


def _extract_findings(extract: Extract, pointer: Pointer) -> Iterator[Violation]:
    if extract.type is ExtractType.FULL:
        others = {"delta_column": extract.delta_column, "merge_key": extract.merge_key, "delta_lag": extract.delta_lag}
        for key in (key for key, value in others.items() if value):
            yield _violation((*pointer, key), f"{key} goes with type: incremental", f"remove {key}", on_key=True)
        if extract.merge_policy is MergePolicy.APPEND:
            message = "merge_policy: append goes with type: incremental; an instance of type: full has all rows"
            yield _violation((*pointer, "merge_policy"), message, "write snapshot")
        return
    if extract.delta_column is None:
        message = "type: incremental needs delta_column, by which new rows are found"
        yield _violation(pointer, message, "add delta_column, or write type: full")
    if extract.is_merge and not extract.merge_key:
        message = "type: incremental with merge_policy: snapshot needs merge_key, by which new rows replace old ones"
        yield _violation(pointer, message, "add merge_key, or write merge_policy: append")
    if not extract.is_merge and extract.merge_key:
        message = "merge_key goes with merge_policy: snapshot; append replaces no row"
        yield _violation((*pointer, "merge_key"), message, "remove merge_key", on_key=True)


def _place_findings(feed: Feed, each: FeedCluster, pointer: Pointer) -> Iterator[Violation]:
    if each.type is ClusterRole.TARGET:
        message = f"the cluster {each.name} is a target of replication, which makes the instances there"
        yield _violation(pointer, message, "import on a source cluster", on_key=True)
    data = (each.locations or Locations()).data or (feed.locations or Locations()).data
    if data is not None and not path_template(data).dated:
        message = "the data location of an import has no date field, so all instances would have one directory"
        yield _violation(pointer, message, "add ${YEAR} and what follows it down to the frequency", on_key=True)


def _export_findings(settings: FeedExport, pointer: Pointer) -> Iterator[Violation]:
    load, place = settings.target.load, (*pointer, "target", "load")
    given = {
        "num_mappers": settings.num_mappers != 1,
        "update_key": bool(settings.update_key),
        "null_string": settings.null_string is not None,
    }
    yield from _argument_findings(settings.arguments, EXPORT_ARGUMENTS, given, pointer)
    other = settings.arguments.get(_OTHER_NULLS)
    if other is not None and settings.null_string is None and str(other) != settings.null_text:
        message = f"{_OTHER_NULLS} is {str(other)!r}, and --input-null-string {settings.null_text or 'missing'!r}"
        hint = "CSV has one text for the nulls of all columns: give both the same"
        yield _violation((*pointer, "arguments", _OTHER_NULLS), message, hint)
    if load.type is LoadType.REPLACE and not load.slice:
        message = "type: replace needs slice, which says which rows of the table are those of the instance"
        yield _violation(place, message, 'add slice: {day: "${YEAR}-${MONTH}-${DAY}"}')
    if load.type is not LoadType.REPLACE and load.slice:
        yield _violation((*place, "slice"), "slice goes with type: replace", "remove slice", on_key=True)
    if load.type is LoadType.REPLACE and settings.key_columns:
        message = "update_key goes with updateonly and allowinsert; replace compares no keys"
        yield _violation(pointer, message, "remove update_key", on_key=True)
    yield from _null_findings(settings.null_text, settings.format, pointer)


def _argument_findings(
    arguments: Properties, known: Mapping[str, str], given: Mapping[str, bool], pointer: Pointer
) -> Iterator[Violation]:
    for name in arguments:
        place = (*pointer, "arguments", name)
        if name not in known:
            message = f"{name} is no argument of this action, expected {_words(known)}"
            yield _violation(place, message, "remove it", on_key=True)
        elif given.get(known[name]):
            message = f"{name} and {known[name]} say the same"
            yield _violation(place, message, f"remove {name}", on_key=True)
    if not _is_count(arguments):
        message = f"{' and '.join(name for name in _COUNTS if name in arguments)}: expected a number above 0"
        yield _violation((*pointer, "arguments"), message, "")


def _is_count(arguments: Properties) -> bool:
    values = [str(arguments[name]) for name in _COUNTS if name in arguments]
    return all(value.isascii() and value.isdigit() and int(value) > 0 for value in values)


def _null_findings(text: str | None, data_format: DataFormat, pointer: Pointer) -> Iterator[Violation]:
    if text is not None and data_format is not DataFormat.CSV:
        message = f"null_string goes with format: csv; {data_format} has nulls of its own"
        yield _violation(pointer, message, "remove null_string", on_key=True)


def _words(known: Collection[str]) -> str:
    return " or ".join(known)


def _violation(pointer: Pointer, message: str, hint: str, *, on_key: bool = False) -> Violation:
    return Violation(pointer=pointer, rule="exchange", message=message, hint=hint, on_key=on_key)


OWN_CHECKS = (check_exchange,)
CROSS_CHECKS = (check_end_points,)
