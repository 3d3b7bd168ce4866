"""Answers of a workflow's calls, as JSON documents: their effect, or the error with its facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
from toolkit.rendering.tables import moment_value

Document = dict[str, object]


def job_document(run: Run) -> Document:
    """A job."""
    return {
        "run_id": run.run_id,
        "process": run.entity,
        "cluster": run.cluster,
        "instance": run.instance_key if run.mode is not JobMode.QUEUE else None,
        "mode": run.mode,
        "attempt": run.attempt,
        "status": run.status,
        "reason": run.reason,
        "forced": run.is_forced,
        "target_batch_id": run.target_batch_id,
        "target_marking": run.target_marking,
        "started_at": moment_value(run.started_at),
        "ended_at": moment_value(run.ended_at),
    }


def started_document(started: StartedJob) -> Document:
    """Return the answer of init-job."""
    return {
        "job": job_document(started.run),
        "target_batch_id": started.target_batch_id,
        "target_marking": started.target_marking,
        "rerun": started.is_rerun,
        "last_recoverable_step": started.last_recoverable_step,
        "steps_to_run": list(started.steps_to_run),
        "steps": [_step(each) for each in started.steps],
        "files": files_documents(started.files),
    }


def halted_document(halted: HaltedJob) -> Document:
    """Return the answer of halt-job."""
    return {
        "job": job_document(halted.run),
        "batch_id": halted.batch_id,
        "marking": halted.marking,
        "archived": halted.archived,
        "downstream": [_downstream(each) for each in halted.downstream],
        "events": list(halted.events),
    }


def step_document(step: StepRun) -> Document:
    """Return the answer of init-step, halt-step and term-step."""
    return {
        "step_run_id": step.step_run_id,
        "run_id": step.run_id,
        "step": step.step,
        "attempt": step.attempt,
        "status": step.status,
        "application_id": step.application_id,
        "log": step.log_location,
        "started_at": moment_value(step.started_at),
        "ended_at": moment_value(step.ended_at),
    }


def enqueued_document(enqueued: Enqueued) -> Document:
    """Return the answer of enqueue."""
    return {
        "batch_id": enqueued.batch_id,
        "marking": enqueued.marking,
        "file": file_document(enqueued.file),
        "waiting": [_downstream(each) for each in enqueued.waiting],
    }


def file_document(file: BatchFile) -> Document:
    """A file of a batch, with its server."""
    return {
        "file_id": file.file_id,
        "batch_id": file.batch_id,
        "server": file.server,
        "server_kind": file.server_kind,
        "endpoint": file.endpoint,
        "path": file.path,
        "size": file.size,
        "hash": file.hash,
        "modified_at": moment_value(file.modified_at),
    }


def files_documents(files: Iterable[BatchFile]) -> list[Document]:
    """Files of batches."""
    return [file_document(each) for each in files]


def log_document(line: LogLine) -> Document:
    """An entry of a process log."""
    return {
        "log_id": line.log_id,
        "run_id": line.run_id,
        "step": line.step,
        "category": line.category,
        "message": line.message,
        "logged_at": moment_value(line.logged_at),
    }


def sync_document(report: SyncReport) -> Document:
    """Return the effect of a sync."""
    return {
        "added": [_site(each) for each in report.added],
        "changed": [_site(each) for each in report.changed],
        "removed": [_site(each) for each in report.removed],
        "unchanged": len(report.unchanged),
    }


def _step(step: StartedStep) -> Document:
    return {
        "step": step.name,
        "due": step.is_due,
        "min_batch_id": step.min_batch_id,
        "max_batch_id": step.max_batch_id,
        "min_batch_date": step.min_batch_date,
        "max_batch_date": step.max_batch_date,
        "min_source_run_id": step.min_source_run_id,
        "max_source_run_id": step.max_source_run_id,
        "batches": [_batch(each) for each in step.batches],
    }


def _batch(batch: SourceBatch) -> Document:
    return {
        "batch_id": batch.batch_id,
        "state": batch.state,
        "marking": batch.marking,
        "producer": batch.producer,
        "producer_run_id": batch.producer_run_id,
    }


def _downstream(step: Downstream) -> Document:
    return {"process": step.process, "cluster": step.cluster, "step": step.step, "queue_id": step.queue_id}


def _site(site: Site) -> Document:
    return {"name": site.name, "cluster": site.cluster}


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
