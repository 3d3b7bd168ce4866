"""JSON Schemas of what feedctl prints and writes for programs, and what they promise (docs/reference/json.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolkit.entities.schema_store import Schema


class DocumentName(StrEnum):
    """Documents that one may build on."""

    RETENTION = "retention"
    """The result of the action, `--output json|jsonl` and `--result-file`."""
    REPLICATION = "replication"
    """The same of replication."""
    INGEST = "ingest"
    """The same of ingests."""
    COMPACT = "compact"
    """The same of the maintenance of ingested tables."""
    HIVE = "hive"
    """The same of exports, imports and replications of tables."""
    DB_IMPORT = "db_import"
    """The same of imports from databases."""
    DB_EXPORT = "db_export"
    """The same of exports to databases."""
    TABLE_DIFF = "table_diff"
    """`feedctl table diff --output json`."""
    VERIFY = "verify"
    """`feedctl verify --output json`."""
    PROCESS_RUN = "process_run"
    """The same of processes, of `late_check` and `trigger`, and of `feedctl backfill`."""
    LINT = "lint"
    """`feedctl lint --output json`."""
    MIGRATION = "migration"
    """`feedctl migrate falcon --report json`."""
    STATUS = "status"
    """`feedctl status --output json`."""
    INSTANCE = "instance"
    """`feedctl instance COMMAND --output json`."""
    RUN = "run"
    """`feedctl run COMMAND`."""
    QUALITY = "quality"
    """`feedctl quality COMMAND --output json`, and what `validate` prints."""
    DATASET = "dataset"
    """`feedctl dataset COMMAND --output json`, and `feedctl dataset graph --output json`."""
    LINEAGE = "lineage"
    """`feedctl lineage COMMAND --output json`."""
    EVENT = "event"
    """`feedctl event COMMAND --output json`."""
    TRIGGER = "trigger"
    """`feedctl explain trigger --output json`."""
    ALERT = "alert"
    """`feedctl alert COMMAND --output json`."""
    OUTBOX = "outbox"
    """`feedctl outbox COMMAND --output json`."""
    MONITOR = "monitor"
    """`feedctl monitor --output json`, and its result file."""
    SLA = "sla"
    """`feedctl sla COMMAND --output json`."""
    AUDIT = "audit"
    """A line of the audit file."""


def document_schema(name: DocumentName) -> Schema:
    """Return a schema as a document: `anyOf` names the forms, each of them in `$defs`; treat it as read-only."""
    schema: Schema = _with_shared(_stored(name), _stored("shared"))
    return schema


def _stored(name: str) -> Schema:
    file = resources.files("toolkit.rendering").joinpath("schemas", f"{name}.json")
    stored: Schema = json.loads(file.read_text("utf-8"))
    return stored


def _with_shared(node: Any, shared: Schema) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a part with what it shares with other documents, by its name in `$shared`; keys of its own win."""
    if isinstance(node, list):
        return [_with_shared(each, shared) for each in node]
    if not isinstance(node, Mapping):
        return node
    found: dict[str, Any] = {}
    for key, each in node.items():
        found.update(shared[each] if key == "$shared" else {key: each})
    return {key: _with_shared(each, shared) for key, each in found.items()}
