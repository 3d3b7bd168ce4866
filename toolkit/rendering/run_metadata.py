"""Answers of a workflow's calls, as JSON documents: their effect, or the error with its facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime

from toolkit.errors import FeedctlError
from toolkit.ledger.batches.files import Enqueued
from toolkit.ledger.batches.rows import BatchFile, Downstream
from toolkit.ledger.errors import moment
from toolkit.ledger.jobs.rows import HaltedJob, SourceBatch, StartedJob, StartedStep, StepRun
from toolkit.ledger.jobs.steps import LogLine
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.registry.sync import SyncReport
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import JobMode
from toolkit.rendering.columns import Columns, ResultColumn

Document = dict[str, object]


_JOB: Columns[Run] = Columns(
    *("run_id", "process=entity", "cluster"),
    ResultColumn("instance", lambda run: None if run.mode is JobMode.QUEUE else run.instance_key),
    *("mode", "attempt", "status", "reason", "forced=is_forced", "target_batch_id", "target_marking"),
    *("started_at", "ended_at"),
)
_BATCH: Columns[SourceBatch] = Columns("batch_id", "state", "marking", "producer", "producer_run_id")
_STARTED_STEP: Columns[StartedStep] = Columns(
    *("step=name", "due=is_due", "min_batch_id", "max_batch_id", "min_batch_date", "max_batch_date"),
    *("min_source_run_id", "max_source_run_id"),
    ResultColumn("batches", lambda step: _BATCH.documents(step.batches)),
)
_DOWNSTREAM: Columns[Downstream] = Columns("process", "cluster", "step", "queue_id")
_FILE: Columns[BatchFile] = Columns(
    "file_id", "batch_id", "server", "server_kind", "endpoint", "path", "size", "hash", "modified_at"
)
_STARTED: Columns[StartedJob] = Columns(
    ResultColumn("job", lambda started: _JOB.document(started.run)),
    *("target_batch_id", "target_marking", "rerun=is_rerun", "last_recoverable_step", "steps_to_run"),
    ResultColumn("steps", lambda started: _STARTED_STEP.documents(started.steps)),
    ResultColumn("files", lambda started: _FILE.documents(started.files)),
)
_HALTED: Columns[HaltedJob] = Columns(
    ResultColumn("job", lambda halted: _JOB.document(halted.run)),
    *("batch_id", "marking", "archived"),
    ResultColumn("downstream", lambda halted: _DOWNSTREAM.documents(halted.downstream)),
    "events",
)
_STEP_RUN: Columns[StepRun] = Columns(
    *("step_run_id", "run_id", "step", "attempt", "status", "application_id", "log=log_location"),
    *("started_at", "ended_at"),
)
_ENQUEUED: Columns[Enqueued] = Columns(
    "batch_id",
    "marking",
    ResultColumn("file", lambda enqueued: _FILE.document(enqueued.file)),
    ResultColumn("waiting", lambda enqueued: _DOWNSTREAM.documents(enqueued.waiting)),
)
_LINE: Columns[LogLine] = Columns("log_id", "run_id", "step", "category", "message", "logged_at")
_SITE: Columns[Site] = Columns("name", "cluster")

job_document = _JOB.document
started_document = _STARTED.document
"""Answer of init-job."""
halted_document = _HALTED.document
"""Answer of halt-job."""
step_document = _STEP_RUN.document
"""Answer of init-step, halt-step and term-step."""
enqueued_document = _ENQUEUED.document
"""Answer of enqueue."""
file_document = _FILE.document
files_documents = _FILE.documents
log_document = _LINE.document


def sync_document(report: SyncReport) -> Document:
    """Return the effect of a sync."""
    return {
        "added": _SITE.documents(report.added),
        "changed": _SITE.documents(report.changed),
        "removed": _SITE.documents(report.removed),
        "unchanged": len(report.unchanged),
    }


_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def error_document(error: FeedctlError) -> dict[str, object]:
    """The error: `code` is stable, `message` is for people, the rest are the facts."""
    facts = {name: _value(value) for name, value in vars(error).items() if not name.startswith("_")}
    return {
        **facts,
        "code": getattr(error, "code", None) or _named(type(error)),
        "message": str(error),
        "retriable": error.retriable,
    }


def _named(kind: type[FeedctlError]) -> str:
    """The code of an error that has none of its own: the name of its class, in words."""
    return _WORD.sub("_", kind.__name__).lower()


def _value(value: object) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Run):
        return job_document(value)
    if isinstance(value, datetime):
        return moment(value)
    return _compound(value)


def _compound(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [_value(each) for each in value]
    if is_dataclass(value):
        return {each.name: _value(getattr(value, each.name)) for each in fields(value)}
    return str(value)
