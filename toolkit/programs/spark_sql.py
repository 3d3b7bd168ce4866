"""The engine `spark_sql`: a script of statements on Spark SQL, with the properties of the instance in their places.

An application of its own by spark-submit, for `spark: {session: own}` and what cannot share one (`shared_sql`): its
memory, its log and its end are its own, and a cluster's driver can run elsewhere. The script is read, and refused,
before that.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from typing_extensions import override

from toolkit.errors import InvalidInput
from toolkit.foreign_json import parse_json
from toolkit.printable import on_one_line
from toolkit.programs.child import Program, masked, run_prepared
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark
from toolkit.programs.sql_text import statements
from toolkit.programs.step_log import private
from toolkit.programs.submission import submission

_MOST_BYTES = 1 << 20


class UnreadableScript(InvalidInput):
    """A script cannot be read."""

    def __init__(self, *, path: str, why: str) -> None:
        super().__init__(f"the script {path} cannot be read: {why}")


class SparkSqlEngine(StepEngine):
    """Runs scripts of SQL; see `StepEngine`."""

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        problem = _beside_log(call, "problem")
        problem.unlink(missing_ok=True)
        programs: list[Program] = []

        def prepare(each: StepCall) -> Program:
            programs.append(_program(each, runner, problem))
            return programs[-1]

        with as_file(files(__package__) / "sql_runner.py") as runner:
            end = run_prepared(prepare, call, started, check)
        if end.succeeded or not problem.exists():
            return end
        message, may_retry = problem_in(problem)
        problem.unlink(missing_ok=True)  # the program may have written a secret into it
        return replace(end, message=on_one_line(masked(message, programs[-1])), may_retry=may_retry)


def problem_in(problem: Path) -> tuple[str, bool | None]:
    """Read what went wrong and whether to try again; statements run in that process too, and may have written it."""
    try:
        with problem.open("rb") as file:
            facts: Any = parse_json(file.read(_MOST_BYTES + 1), most_bytes=_MOST_BYTES)
        return str(facts["message"]), False if facts["may_retry"] is False else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"failed, and {problem} did not say why ({type(error).__name__})", None


def script_statements(call: StepCall) -> list[dict[str, Any]]:
    """Return the statements of a step's script, with its properties in their places.

    Raises:
        InvalidInput: it cannot be read, has none, or a property does not fit.
    """
    if call.args:
        raise UnreadableScript(path=call.path, why="a script of SQL takes no args; ${name} stands for a property in it")
    try:
        script = Path(call.path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no text in UTF-8"
        raise UnreadableScript(path=call.path, why=why) from error
    read = statements(script, call.properties)
    found = [{"number": each.number, "line": each.line, "text": each.text} for each in read]
    if not found:
        raise UnreadableScript(path=call.path, why="it has no statement")
    return found


def with_own_python(program: Program, environment: Mapping[str, str]) -> Program:
    """Return a program of Python on Spark that runs by the Python of this process, unless the environment says."""
    python = {name: environment.get(name, sys.executable) for name in ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON")}
    return replace(program, variables={**program.variables, **python})


def _program(call: StepCall, runner: Path, problem: Path) -> Program:
    found = script_statements(call)
    given = private(_beside_log(call, "statements"))
    given.write_text(json.dumps(found), encoding="utf-8")
    program = submission(call, str(runner), (str(given), str(problem)), files=[given])
    return with_own_python(program, call.environment)


def _beside_log(call: StepCall, what: str) -> Path:
    return Path(os.fspath(call.log) + f".{what}.json")
