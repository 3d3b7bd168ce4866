"""A site for tests of Spark's engines: calls of one process, whose steps may share an application."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from tests.unit.programs.calls import a_call, never
from toolkit.entities import Engine, SparkAttributes, Workflow
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark

SETTINGS: dict[str, str | int | float | bool] = {
    "spark.ui.enabled": False,
    "spark.sql.shuffle.partitions": 1,
    "spark.driver.extraJavaOptions": "-Dfile.encoding=ISO-8859-1",  # what a site may have
}


@dataclass(kw_only=True)
class SparkSite:
    """A directory with scripts and logs.

    Attributes:
        engines: that run them.
    """

    engines: Mapping[Engine, StepEngine]
    directory: Path
    java_home: Path
    numbers: count[int] = field(default_factory=count)

    def call(self, script: str, **changes: object) -> StepCall:
        """Return the call of a script of SQL, of an instance of its own."""
        number = next(self.numbers)
        path = self.directory / f"script{number}"
        path.write_text(script, encoding="utf-8")
        own = {name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        call = a_call(
            self.directory,
            path,
            engine=Engine.SPARK_SQL,
            environment={**own, "JAVA_HOME": str(self.java_home), "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONSAFEPATH": "1"},
            workflow=Workflow(spark=SparkAttributes(conf=SETTINGS)),
            log=self.directory / "logs" / "ledger" / "count" / "primary" / f"instance{number}" / "1" / "count.log",
        )
        return replace(call, **changes)  # type: ignore[arg-type]  # the fields' own names

    def run(self, call: StepCall) -> tuple[StepEnd, list[StepMark]]:
        """Run a call to its end."""
        marks: list[StepMark] = []
        return self.engines[call.engine].run(call, marks.append, never), marks
