"""The engines by name, and the end of what one of them left."""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolkit.entities import Engine
from toolkit.process_runner.engines.command import CommandEngine
from toolkit.process_runner.engines.left_over import end_processes
from toolkit.process_runner.engines.port import StepCall, StepEngine, StepMark
from toolkit.process_runner.engines.spark_sql import SparkSqlEngine
from toolkit.process_runner.engines.spark_submit import SparkSubmitEngine
from toolkit.process_runner.engines.submission import APPLICATION, end_application

ENGINES: Mapping[Engine, StepEngine] = {
    Engine.COMMAND: CommandEngine(),
    Engine.SPARK_SUBMIT: SparkSubmitEngine(),
    Engine.SPARK_SQL: SparkSqlEngine(),
}
"""What runs a step, by the name in its entity; the others are Falcon's, and `not_implemented` refuses them."""


def end_left_over(mark: StepMark, call: StepCall) -> frozenset[int]:
    """End what a dead runner left of a step on this machine, its Spark application too; returns when it is gone.

    Args:
        mark: what the dead runner told.
        call: as the step would be called again; of it the cluster, the environment and the grace count.

    Returns:
        processes that could not be ended: the step must not be tried again now.
    """
    left = end_processes(mark.log, grace_seconds=call.grace_seconds)
    application = mark.application or (_application(mark) if call.engine is not Engine.COMMAND else None)
    if application:
        end_application(call, application)
    return left


def _application(mark: StepMark) -> str | None:
    """The runner may have died before it told: the log's beginning has it."""
    try:
        with mark.log.open(encoding="utf-8", errors="replace") as log:
            found = (re.search(APPLICATION, line) for line in log)
            return next((each[1] for each in found if each), None)
    except OSError:
        return None
