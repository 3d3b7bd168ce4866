"""The validation process, started as steps of processes are: by spark-submit, ended with all that it started."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.entities import Engine, SparkAttributes, Workflow
from toolkit.entities.suite_code import code_in
from toolkit.errors import Failed
from toolkit.programs.log_folder import UnsafeLog, begin_log
from toolkit.programs.port import StepCall, StepEngine, ignore_mark
from toolkit.programs.spark_submit import SparkSubmitEngine
from toolkit.programs.step_environment import step_environment
from toolkit.programs.step_log import NoPlaceForLogs, log_directory
from toolkit.quality.documents import NotUnderstood, read_answer, write_question
from toolkit.quality.validator import NoValidatorAnswer

if TYPE_CHECKING:
    from toolkit.entities import Cluster
    from toolkit.quality.documents import Answer, Question

_AT_ONCE = threading.BoundedSemaphore(2)
"""Each is a JVM and a Python: more of them on the machine that submits would take each other's memory."""
_LOOK_SECONDS = 0.2
_CONF = {"spark.ui.enabled": False, "spark.ui.showConsoleProgress": False}


class _OverBudget(Failed):
    """The time is over; ends the process on its way through the engine."""


@dataclass(frozen=True, kw_only=True)
class SparkValidation:
    """The validation of a cluster: an application of its Spark, with its settings of Hadoop, in deploy mode `client`.

    Attributes:
        cluster: whose data are validated.
        variables: of this process; the child gets those of a step.
        engine: starts it and ends it.
        shared: does so on an application that others use; None: there is none.
    """

    cluster: Cluster
    variables: Mapping[str, str]
    engine: StepEngine = field(default_factory=SparkSubmitEngine)
    shared: StepEngine | None = None

    def ask(self, question: Question, budget_seconds: float, check: Callable[[], None]) -> Answer:
        """Return its answer; its output is kept only when it fails, and never when the suite hides values."""
        while not _AT_ONCE.acquire(timeout=_LOOK_SECONDS):
            check()
        folder = Path(tempfile.mkdtemp(prefix="feedctl-quality-"))  # for its owner alone
        try:
            return self._run(folder, question, budget_seconds, check)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            _AT_ONCE.release()

    def _run(self, folder: Path, question: Question, budget_seconds: float, check: Callable[[], None]) -> Answer:
        deadline = time.monotonic() + budget_seconds

        def check_time() -> None:
            check()
            if time.monotonic() > deadline:
                raise _OverBudget

        write_question(folder / "question.json", question)
        try:
            engine = self.shared if self.shared is not None and may_share(question) else self.engine
            with as_file(files("toolkit.quality") / "spark_job.py") as program:
                end = engine.run(self._call(folder, program), ignore_mark, check_time)
        except _OverBudget:
            why = f"it was not validated within its budget of {budget_seconds:g} seconds, and the process was ended"
            raise NoValidatorAnswer(why=why + self._kept(folder, question)) from None
        if not end.succeeded:
            with suppress(NotUnderstood, OSError):
                if (answer := read_answer(folder / "answer.json")).refused:  # an error has told what may be said of it
                    return answer
            how = end.message if question.shows_values or end.exit_code is None else f"exit code {end.exit_code}"
            raise NoValidatorAnswer(why=f"the validation process failed: {how}{self._kept(folder, question)}")
        try:
            return read_answer(folder / "answer.json")
        except (NotUnderstood, OSError) as error:
            raise NoValidatorAnswer(why=f"{error}{self._kept(folder, question)}") from error

    def _call(self, folder: Path, program: Path) -> StepCall:
        return StepCall(
            step="feedctl-quality",
            engine=Engine.SPARK_SUBMIT,
            path=str(program),
            workflow=Workflow(spark=SparkAttributes(mode="client", conf=dict(_CONF))),
            # Files are read, and no tables: a metastore that is away must not stand against a result.
            cluster=replace(self.cluster, interfaces=replace(self.cluster.interfaces, registry=None)),
            args=(str(folder / "question.json"), str(folder / "answer.json")),
            environment=_with_own_python(step_environment(self.variables)),
            variables=self.variables,
            directory=folder,
            log=_log(folder),
        )

    def _kept(self, folder: Path, question: Question) -> str:
        """Return the path where the log stays, for a message; empty: it is not kept."""
        if not question.shows_values:
            return ""
        with suppress(OSError, NoPlaceForLogs, UnsafeLog):
            base, moment = log_directory(self.variables), time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            log = base / "quality" / f"{moment}-{secrets.token_hex(4)}.log"
            begin_log(base, log)
            shutil.copyfile(_log(folder), log)
            return f" (log: {log})"
        return ""


def may_share(question: Question) -> bool:
    """Return whether the logs of a validation may have values of rows, and its suites have no SQL."""
    return question.shows_values and not any(any(code_in(each.type, each.kwargs)) for each in question.expectations)


def _with_own_python(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of a step, with this process's own Python for the driver; the program finds its own package."""
    beside = str(Path(sys.executable).parent)
    path = f"{variables.get('PATH', os.defpath)}{os.pathsep}{beside}"
    return {"PYSPARK_DRIVER_PYTHON": sys.executable, "PYSPARK_PYTHON": sys.executable, **variables, "PATH": path}


def _log(folder: Path) -> Path:
    return folder / "validation.log"
