"""Comparison of the documents that feedctl printed with its JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from toolkit.rendering.document_schemas import DocumentName, document_schema

_INSTANCE_FORMS = {
    **dict.fromkeys(("list", "status", "running"), "list"),
    **{each: each for each in ("summary", "logs", "dependencies", "params", "triage")},
}


def faults(document: object, name: DocumentName, form: str, *, strict: bool = False) -> list[str]:
    """What of a document is not as this form of its schema says; strictly, also a key that the schema does not name."""
    schema = {**document_schema(name), "anyOf": [{"$ref": f"#/$defs/{form}"}]}
    errors = Draft202012Validator(_closed(schema) if strict else schema).iter_errors(document)
    return [f"{name} {form} {error.json_path}: {leaf.message}" for error in errors for leaf in error.context or [error]]


def printed_faults(arguments: tuple[str, ...], printed: str, *, strict: bool = False) -> list[str]:
    """The same of what a command printed; of one whose document nobody describes there are none."""
    known = _form(arguments)
    if known is None or not printed.startswith('{\n  "schema_version"'):
        return []
    document = json.loads(printed)
    name, form = known
    if name is DocumentName.RUN and "error" in document:
        form = "error"
    elif name is DocumentName.INSTANCE and form == "list" and "life_cycle" not in document:
        form = "data" if "problems" in document else "places"
    return faults(document, name, form, strict=strict)


def _form(arguments: tuple[str, ...]) -> tuple[DocumentName, str] | None:
    command, sub, third = (*arguments, "", "", "")[:3]
    by_command: dict[str, tuple[DocumentName, str]] = {
        "lint": (DocumentName.LINT, "report"),
        "migrate": (DocumentName.MIGRATION, "report"),
        "status": (DocumentName.STATUS, "overview"),
        "table": (DocumentName.TABLE_DIFF, "diff"),
        "dataset": (DocumentName.DATASET, sub if sub in {"graph", "gc"} else "list"),
        "lineage": (DocumentName.LINEAGE, sub if sub in {"impact", "ship"} else "graph"),
        "alert": (DocumentName.ALERT, sub),
        "monitor": (DocumentName.MONITOR, "pass"),
        "sla": (DocumentName.SLA, sub),
        "event": (DocumentName.EVENT, "list" if sub == "list" else "answer"),
        "explain": (DocumentName.TRIGGER, "explanation"),
        "restore": (DocumentName.RETENTION, "restorable" if "--list" in arguments else "result"),
        "verify": (DocumentName.VERIFY, "verification"),
        "instance": (DocumentName.INSTANCE, _INSTANCE_FORMS.get(sub, "answer")),
        "run": (DocumentName.RUN, "step" if sub.endswith("-step") else f"log-{third}" if sub == "log" else sub),
    }
    if command == "quality" and "--dry-run" in arguments:
        return DocumentName.QUALITY, "dry_run"
    if command == "quality" and sub != "release":  # whose document is that of the action which publishes
        return DocumentName.QUALITY, sub
    return by_command.get(command)


def _closed(node: Any) -> Any:  # noqa: ANN401 - any part of a schema
    if isinstance(node, list):
        return [_closed(each) for each in node]
    if not isinstance(node, Mapping):
        return node
    closed = {key: _closed(each) for key, each in node.items()}
    if isinstance(node.get("properties"), Mapping):
        closed.setdefault("additionalProperties", False)
    return closed
