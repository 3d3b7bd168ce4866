"""From a step of an instance to what its engine is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolkit.entities import LocationType
from toolkit.planning.process_properties import FilterForm, partition_filter, partition_spec
from toolkit.process_runner.column_lineage import lineage_file
from toolkit.process_runner.errors import FileChanged
from toolkit.process_runner.staging_places import as_written
from toolkit.process_runner.targets import libraries_of
from toolkit.process_runner.updates import outlets_file
from toolkit.programs.port import LINEAGE, OUTLETS, StepCall

if TYPE_CHECKING:
    from toolkit.planning.process_io import PlannedInput, PlannedOutput, ProcessSite
    from toolkit.process_runner.resolution import ResolvedInstance
    from toolkit.process_runner.targets import ProcessTarget, StepItem


class Workplace(Protocol):
    """Folders and files with which the steps of a process run."""

    def is_as_read(self, path: str) -> bool:
        """Return whether a file that a workflow names is unchanged since the run read the config repo.

        A file outside of the config repo counts as unchanged.
        """
        ...

    def script(self, path: str) -> str:
        """Return the place of a step's script: an absolute path of this machine, or a URI.

        Raises:
            InvalidInput: it is not to be had here.
        """
        ...

    def log(self, target: ProcessTarget, run_id: int, step: str) -> Path:
        """Return the path of the file for what a step says in a run; nothing is made.

        Raises:
            InvalidInput: nothing says where logs go, or the name of the step is none.
        """
        ...

    def session_owner(self, process: str) -> str | None:
        """Return the process whose Spark applications the steps of SQL of a process may share; None: their own."""
        ...

    def begin_log(self, log: Path) -> None:
        """Create the file of a log anew, for this user alone.

        Raises:
            InvalidInput: another file is in its way.
            OSError: it cannot be made.
        """
        ...

    @property
    def directory(self) -> Path:
        """That steps run in."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """The whole environment of the steps."""
        ...

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment of this process."""
        ...


def require_as_read(place: Workplace, paths: Iterable[str]) -> None:
    """Return when all files are what they were when the run read the config repo.

    Raises:
        FileChanged: one is not.
    """
    for path in paths:
        if not place.is_as_read(path):
            raise FileChanged(path=path)


def step_call(
    item: StepItem, target: ProcessTarget, resolved: ResolvedInstance, place: Workplace, run_id: int
) -> StepCall:
    """Return the call of a step's engine in a run.

    Args:
        item: the step.
        target: the instance.
        resolved: what it reads and makes.
        place: where it runs.
        run_id: of the run.

    Raises:
        InvalidInput: something that it needs is not to be had here.
        FileChanged: something is not what the run has read.
    """
    if item.engine is None:
        message = "a step has an engine"
        raise AssertionError(message)
    site = target.site
    require_as_read(place, (*filter(None, [item.path]), *libraries_of(site.process.workflow)))
    log = place.log(target, run_id, item.name)
    place.begin_log(log)
    return StepCall(
        step=item.name if site.process.workflow.steps else site.process.name,
        engine=item.engine,
        path=place.script(item.path) if item.path else "",
        args=item.args,
        workflow=site.process.workflow,
        cluster=site.cluster,
        data=data_arguments(site, resolved),
        properties=resolved.properties,
        environment={**place.environment, OUTLETS: str(outlets_file(log)), LINEAGE: str(lineage_file(log))},
        variables=place.variables,
        directory=place.directory,
        log=log,
        session_owner=place.session_owner(site.process.name),
    )


def data_arguments(site: ProcessSite, resolved: ResolvedInstance) -> tuple[str, ...]:
    """Return how a Spark application is told its inputs and outputs, see `StepCall.data`."""
    read = (_read(site, each) for each in resolved.inputs)
    made = (_made(site, each) for each in resolved.outputs)
    return tuple(chain(*read, *made))


def _read(site: ProcessSite, planned: PlannedInput) -> tuple[str, ...]:
    """Return how a Spark application is told an input: its paths; of a table, the partition filter and the table."""
    table = planned.storage.table
    if table is None:
        return (",".join(map(site.qualified, planned.paths())),)
    return (partition_filter(planned.partitions, FilterForm.HIVE), table.table, table.database)


def _made(site: ProcessSite, output: PlannedOutput) -> tuple[str, ...]:
    """Return how a Spark application is told an output: its path; of a table, the partition and the table."""
    table, partition = output.storage.table, output.instance.partition
    if table is None or partition is None:
        path = as_written(site, output).instance.paths.get(LocationType.DATA)
        return ("" if path is None else site.qualified(path),)
    return (partition_spec(partition), table.table, table.database)
