"""Port of an engine: run one step as a child process, and leave nothing of it behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from toolkit.entities import Cluster, Engine, Workflow

NOTHING_CHANGED = 99
"""Exit code of a step that succeeded and changed nothing: its outputs are not announced (Airflow, BashOperator)."""
OUTLETS = "FEEDCTL_OUTLETS"
"""Variable of a step's environment: the file in which it may list what it has updated, one name or URI a line."""
LINEAGE = "FEEDCTL_LINEAGE"
"""Variable of a step's environment: the file in which it may declare its column lineage; see `lineage.declared`."""
GRACE_SECONDS = 10.0
"""Between asking the processes of a step to end and ending them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepCall:
    """An attempt of one step, with everything resolved that does not depend on the engine.

    Attributes:
        step: its name; that of the process when the workflow has no steps.
        engine: what runs it.
        path: of its script, jar or program: an absolute path of this machine, or a URI.
        args: of the entity: the step's, or the workflow's own; ``${name}`` still stands for a property.
        workflow: that the step belongs to: settings of Spark, libraries, references to secrets.
        cluster: that it runs on: the Spark master, the metastore, Hadoop's settings.
        data: the inputs, then the outputs, in the order of the entity: the first arguments of a Spark application. Of
            paths, a list of paths for each input and the path of each output; of a table the partition filter, or the
            partition, then the table's name and its database (Falcon, spark-attributes).
        properties: names and texts of the instance, without secrets.
        environment: of the child, as a whole: nothing else is taken from this process.
        variables: of this process: what secrets are found in, and what programs that end an application get.
        directory: that it runs in: the root of the config repo's files; what the entity names relatively is below it.
        log: the file for all that it says. No two attempts have the same, so that it also names the attempt.
        quiet_seconds: so long the step goes on while nothing is heard of a runner that lives, but is frozen: less than
            its lease lasts. None: for ever.
        grace_seconds: between asking the step's processes to end and ending them.
        session_owner: name of the process whose shared Spark applications the step may use; None: those of its own.
    """

    step: str
    engine: Engine
    path: str
    workflow: Workflow
    cluster: Cluster
    args: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    directory: Path
    log: Path
    quiet_seconds: float | None = None
    grace_seconds: float = GRACE_SECONDS
    session_owner: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StepMark:
    """Mark by which a step is found after its runner died: `step_run` of the ledger has a column for each.

    Attributes:
        log: of the step's attempt; its processes carry it in their environment, whatever became of their parents.
        application: the number that YARN or the Spark master knows it by, as soon as that is known.
    """

    log: Path
    application: str | None = None


def ignore_mark(_mark: StepMark) -> None:
    """Ignore a mark: it is recorded elsewhere, or the step ends with this process."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEnd:
    """End of a step.

    Attributes:
        exit_code: of the child; negative: the signal that ended it. None: it never began.
        application: see `StepMark`.
        message: what failed, for a person, without secrets; empty: it succeeded.
        may_retry: whether another try can help; None: the engine cannot tell.
    """

    exit_code: int | None
    application: str | None = None
    message: str = ""
    may_retry: bool | None = None

    @property
    def succeeded(self) -> bool:
        """True if the step ended successfully."""
        return self.exit_code in {0, NOTHING_CHANGED} and not self.message

    @property
    def why(self) -> str:
        """Why a step that did not succeed has failed, in words."""
        return self.message or f"it ended with exit code {self.exit_code}"


class StepEngine(Protocol):
    """Runs steps as child processes of this one."""

    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        """Run a step to its end.

        What the step left in the background is ended with it. When this process dies, so does the step.

        Args:
            call: the step.
            started: told just before the child is made, and again when its application is known; what it raises ends
                the step as what `check` raises does.
            check: asked several times a second, so it must not block (`RunStop.check_without_rest`); when it raises,
                the child, all that it started and its Spark application are ended before the error goes on.

        Raises:
            Stopped: the run was told to end, or lost its lease; nothing of the step runs any more.
        """
        ...
