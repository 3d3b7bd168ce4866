"""Calls of steps for tests of engines."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from toolkit.entities import Cluster, Engine, Interface, Interfaces, Workflow
from toolkit.programs.port import StepCall

LOCAL = Cluster(
    name="primary",
    interfaces=Interfaces(write=Interface(endpoint="file:///tmp"), spark=Interface(endpoint="local[1]")),
)


def a_call(directory: Path, path: str | Path, *args: str, **changes: object) -> StepCall:
    call = StepCall(
        step="count",
        engine=Engine.COMMAND,
        path=str(path),
        workflow=Workflow(),
        cluster=LOCAL,
        args=args,
        environment=dict(os.environ),
        variables=dict(os.environ),
        directory=directory,
        log=directory / "logs" / "count.log",
        grace_seconds=1.0,
    )
    return replace(call, **changes)  # type: ignore[arg-type]  # the fields' own names


def a_script(directory: Path, text: str, first_line: str = "#!/bin/sh") -> Path:
    path = directory / "step.sh"
    path.write_text(f"{first_line}\n{text}\n")
    path.chmod(0o755)
    return path


def never() -> None:
    """A check that lets all go on."""
