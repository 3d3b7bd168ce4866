"""The engines by name, and the end of what one of them left."""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolkit.entities import Cluster, Engine, Workflow
from toolkit.process_runner.engines.command import CommandEngine
from toolkit.process_runner.engines.left_over import end_processes
from toolkit.process_runner.engines.port import GRACE_SECONDS, StepEngine, StepMark
from toolkit.process_runner.engines.spark_sql import SparkSqlEngine
from toolkit.process_runner.engines.spark_submit import SparkSubmitEngine
from toolkit.process_runner.engines.submission import APPLICATION, end_application, where

ENGINES: Mapping[Engine, StepEngine] = {
    Engine.COMMAND: CommandEngine(),
    Engine.SPARK_SUBMIT: SparkSubmitEngine(),
    Engine.SPARK_SQL: SparkSqlEngine(),
}
"""What runs a step, by the name in its entity; the others are Falcon's, and `not_implemented` refuses them."""


def end_left_over(
    mark: StepMark,
    *,
    cluster: Cluster,
    workflow: Workflow,
    environment: Mapping[str, str],
    grace_seconds: float = GRACE_SECONDS,
) -> frozenset[int]:
    """End what a dead runner left of a step on this machine, its application too; returns when it is gone.

    Args:
        mark: what the dead runner told.
        cluster: that the step ran on.
        workflow: that it belongs to.
        environment: as the step would get it.
        grace_seconds: between asking its processes to end and ending them.

    Returns:
        processes that could not be ended: the step must not be tried again now.
    """
    left = end_processes(mark.log, grace_seconds=grace_seconds)
    application = mark.application or _application(mark)
    if application:
        master, _ = where(cluster, workflow)
        end_application(application, master=master, environment=environment)
    return left


def _application(mark: StepMark) -> str | None:
    """The runner may have died before it told: the log's beginning has it."""
    try:
        with mark.log.open(encoding="utf-8", errors="replace") as log:
            found = [each[1] for line in log if (each := re.search(APPLICATION, line))]
    except OSError:
        return None
    return next(reversed(found), None)
