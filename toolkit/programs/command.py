"""The engine `command`: any executable file, with the properties of the instance in its environment.

No shell is between: an argument is one argument, whatever a property in it looks like. A script says by its first line
what runs it. An application that it submits to YARN is known by the words of YARN's client, and ends with the step.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from typing_extensions import override

from toolkit.errors import InvalidInput
from toolkit.programs.child import Program, run_prepared
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark
from toolkit.programs.submission import APPLICATION, end_application
from toolkit.programs.substitution import filled
from toolkit.programs.variables import SecretUnavailable, property_variables, secret_variables


class NotExecutable(InvalidInput):
    """The file of a command is none that the system starts."""

    def __init__(self, *, path: str, why: str) -> None:
        super().__init__(f"the command {path} cannot be started: {why}")


class CommandEngine(StepEngine):
    """Runs executables; see `StepEngine`."""

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        return run_prepared(_program, call, started, check)


def _program(call: StepCall) -> Program:
    _require_executable(Path(call.path))
    for name, reference in call.workflow.secrets.items():
        if reference.alias is not None:
            place = f"the credential provider {reference.provider}"
            raise SecretUnavailable(name=name, place=place, why="which only engines of Spark read; use env or file")
    arguments = tuple(filled(each, call.properties) for each in call.args)
    return Program(
        path=call.path,
        arguments=(call.path, *arguments),
        variables=property_variables(call),
        secrets=secret_variables(call),
        application=APPLICATION,
        end_application=partial(end_application, master=None, environment=call.variables),
    )


def _require_executable(path: Path) -> None:
    if not path.is_absolute():
        raise NotExecutable(path=str(path), why="it is no path of this machine")
    if not path.is_file():
        raise NotExecutable(path=str(path), why="there is no such file")
    if not os.access(path, os.X_OK):
        raise NotExecutable(path=str(path), why="it is not executable; `git update-index --chmod=+x` makes it so")
