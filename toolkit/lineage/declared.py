"""Lineage that a program declares itself: a file of feedctl's own form, or events of OpenLineage, such as Spark's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs

from toolkit.foreign_json import BadJson, parse_json
from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage
from toolkit.ledger.vocabulary import LineageRelationKind
from toolkit.lineage.columns import Schemas

_AGGREGATION = "AGGREGATION"
_FAILED = ("FAIL", "ABORT")
_Dataset = tuple[str, str]
"""Namespace and name."""


def declared_lineage(data: bytes, schemas: Schemas) -> tuple[list[StatementLineage], list[str]]:
    """Return the lineage of a declaration, or of the events of OpenLineage in a file, one a line.

    Events of a run that failed are left out: a program may catch the error of a statement, and go on.

    Returns:
        The lineage of columns, and the statements of SQL whose lineage is to be read.

    Raises:
        BadJson: it is neither.
    """
    try:
        documents = [parse_json(data)]
    except BadJson:
        documents = [parse_json(line) for line in data.splitlines() if line.strip()]
    if not all(isinstance(each, dict) and ("eventTime" in each or "eventType" in each) for each in documents):
        return _declared(documents, schemas)
    events = [each for each in documents if isinstance(each, dict)]
    failed = {_run_of(each) for each in events if each.get("eventType") in _FAILED} - {None}
    statements = [_of_event(each, schemas) for each in events if _run_of(each) not in failed]
    return list({each.digest: each for each in statements if each.relations}.values()), []


@cache
def _validator() -> jsonschema_rs.Validator:
    text = files(__package__).joinpath("declared.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text), mask="what is there")  # it may be a secret


def _declared(documents: Iterable[Any], schemas: Schemas) -> tuple[list[StatementLineage], list[str]]:
    relations, queries = list[ColumnRelation](), list[str]()
    for each in documents:
        error = next(_validator().iter_errors(each), None)
        if error is not None:
            message = f"at {'/'.join(map(str, error.instance_path)) or 'its top'}: {error.message[:200]}"
            raise BadJson(message)
        queries += each.get("queries", ())
        relations += [
            ColumnRelation(
                source=_node(source, schemas),
                target=_node(column["target"], schemas),
                kind=LineageRelationKind(source.get("kind", LineageRelationKind.DIRECT)),
            )
            for column in each.get("columns", ())
            for source in column["sources"]
        ]
    return [StatementLineage.of("DECLARED", "", relations)] if relations else [], queries


def _node(place: Mapping[str, str], schemas: Schemas) -> LineageNode:
    return LineageNode(table=_table(place["table"], schemas), column=place.get("column", "").lower())


def _table(name: str, schemas: Schemas) -> str:
    return schemas.table_at(name) if "/" in name else name.lower()


def _of_event(event: Mapping[str, Any], schemas: Schemas) -> StatementLineage:
    """Return the lineage of the facets `columnLineage` of an event (OpenLineage, ColumnLineageDatasetFacet).

    Raises:
        BadJson: a facet is not as the specification has it.
    """
    try:
        datasets = [*event.get("inputs", ()), *event.get("outputs", ())]
        tables = {(each["namespace"], each["name"]): _table_of(each, schemas) for each in datasets}
        relations = [each for output in event.get("outputs", ()) for each in _of_output(output, tables, schemas)]
    except (AttributeError, KeyError, TypeError) as error:
        message = f"an event of OpenLineage is not as its specification has it ({type(error).__name__}: {error})"
        raise BadJson(message) from error
    return StatementLineage.of("OPENLINEAGE", "", relations)


def _run_of(event: Mapping[str, Any]) -> str | None:
    """Return the run of an event; Spark has one for each statement, whose START already names the columns."""
    run = event.get("run")
    found = run.get("runId") if isinstance(run, dict) else None
    return found if isinstance(found, str) else None


def _table_of(dataset: Mapping[str, Any], schemas: Schemas) -> str:
    """Return the table that a dataset is, by a symlink of it if there is one, else by its name."""
    links = dataset.get("facets", {}).get("symlinks", {}).get("identifiers", ())
    names = [each["name"] for each in links if each.get("type") == "TABLE"]
    return _table(names[0] if names else dataset["name"], schemas)


def _of_output(output: Mapping[str, Any], tables: Mapping[_Dataset, str], schemas: Schemas) -> Iterator[ColumnRelation]:
    facet = output.get("facets", {}).get("columnLineage", {})
    table = tables[output["namespace"], output["name"]]
    rows = [(LineageNode(table=table), each) for each in facet.get("dataset", ())]
    columns = facet.get("fields", {}).items()
    of_columns = [
        (LineageNode(table=table, column=name.lower()), each)
        for name, found in columns
        for each in found["inputFields"]
    ]
    for target, field in (*rows, *of_columns):
        read = tables.get((field["namespace"], field["name"])) or _table(field["name"], schemas)
        source = LineageNode(table=read, column=field["field"].lower())
        for kind in _kinds(field) if target.column else {LineageRelationKind.CONDITION}:
            yield ColumnRelation(source=source, target=target, kind=kind)


def _kinds(field: Mapping[str, Any]) -> set[LineageRelationKind]:
    """Return what becomes of an input field; INDIRECT ones decide."""
    found = field.get("transformations") or [{"type": "DIRECT"}]
    return {
        LineageRelationKind.CONDITION
        if each.get("type") == "INDIRECT"
        else LineageRelationKind.AGGREGATE
        if each.get("subtype") == _AGGREGATION
        else LineageRelationKind.DIRECT
        for each in found
    }
