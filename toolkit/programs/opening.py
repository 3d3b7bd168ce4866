"""The engines by name, and the end of what one of them left."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from toolkit.entities import Cluster, Engine, Workflow
from toolkit.programs.command import CommandEngine
from toolkit.programs.left_over import end_processes
from toolkit.programs.log_folder import UnsafeLog, opened_log
from toolkit.programs.port import GRACE_SECONDS, StepEngine, StepMark
from toolkit.programs.session_folder import end_dead_sessions
from toolkit.programs.shared_sql import SharedSqlEngine
from toolkit.programs.spark_sql import SparkSqlEngine
from toolkit.programs.spark_submit import SparkSubmitEngine
from toolkit.programs.step_log import noted_session, session_tag, tag_of
from toolkit.programs.submission import APPLICATION, end_application, end_tagged, where

ENGINES: Mapping[Engine, StepEngine] = {
    Engine.COMMAND: CommandEngine(),
    Engine.SPARK_SUBMIT: SparkSubmitEngine(),
    Engine.SPARK_SQL: SparkSqlEngine(),
}
"""Engine of a step by the name in its entity; `not_implemented` refuses the others, which are Falcon's."""


@contextmanager
def opened_engines() -> Iterator[Mapping[Engine, StepEngine]]:
    """Yield the engines of one run, whose steps may share Spark applications; these end with it."""
    shared = SharedSqlEngine(ENGINES[Engine.SPARK_SQL])
    try:
        yield {**ENGINES, Engine.SPARK_SQL: shared}
    finally:
        shared.close()


def shared_of(engines: Mapping[Engine, StepEngine]) -> SharedSqlEngine | None:
    """Return the engine whose steps share applications; None: each has its own."""
    found = engines.get(Engine.SPARK_SQL)
    return found if isinstance(found, SharedSqlEngine) else None


def end_left_over(
    mark: StepMark,
    *,
    cluster: Cluster,
    workflow: Workflow,
    environment: Mapping[str, str],
    session_owner: str | None = None,
    grace_seconds: float = GRACE_SECONDS,
) -> frozenset[int]:
    """End what a dead runner left of a step on this machine, its application too; returns when it is gone.

    YARN is asked which applications carry the tag of the step, and only those are ended. A driver of a standalone
    master, which knows no tags, is ended when the step's own log has it. An application that the step shared is ended
    with all that it runs, since it lives without its runner.

    Args:
        mark: computed for the step; the application that the ledger has only says that there may be one.
        cluster: that the step ran on.
        workflow: that it belongs to.
        environment: as the step would get it.
        session_owner: see `StepCall`.
        grace_seconds: between asking its processes to end and ending them.

    Returns:
        processes that could not be ended: the step must not be tried again now.
    """
    left = end_processes(mark.log, grace_seconds=grace_seconds) | end_dead_sessions(grace_seconds=grace_seconds)
    if shared := noted_session(mark.log):
        left |= end_processes(shared, grace_seconds=grace_seconds)
    logged = _application(mark)
    named = mark.application or logged or ""
    if named.startswith("application_"):
        owners = dict.fromkeys((session_owner, None))  # the process may have joined the group since the step began
        shared_tags = [session_tag(mark.log, owner) for owner in owners]
        end_tagged(tag_of(mark.log), shared_tags, named=named, environment=environment)
    elif logged:
        master, _ = where(cluster, workflow)
        end_application(logged, master=master, environment=environment)
    return left


def _application(mark: StepMark) -> str | None:
    """Return the application that the step's own log has; the runner may have died before it wrote one down."""
    try:
        with os.fdopen(opened_log(mark.log), encoding="utf-8", errors="replace") as log:
            found = [each[1] for line in log if (each := re.search(APPLICATION, line))]
    except (OSError, UnsafeLog):
        return None
    return next(reversed(found), None)
