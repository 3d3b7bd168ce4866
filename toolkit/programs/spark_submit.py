"""The engine `spark_submit`: a Python file or a jar as a Spark application.

Its arguments are its inputs and outputs (`StepCall.data`), those of the entity's `spark`, then those of the step.
"""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import override

from toolkit.programs.child import Program, run_prepared
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark
from toolkit.programs.submission import submission, true_end
from toolkit.programs.substitution import filled


class SparkSubmitEngine(StepEngine):
    """Submits applications; see `StepEngine`."""

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        return true_end(run_prepared(_program, call, started, check), call.log)


def _program(call: StepCall) -> Program:
    spark = call.workflow.spark
    given = (*(spark.args if spark else ()), *call.args)
    arguments = (*call.data, *(filled(each, call.properties) for each in given))
    jar = spark.jar if spark else None
    if jar and ":" not in jar.partition("/")[0]:
        jar = str(call.directory / jar)
    return submission(call, jar or call.path, arguments)
