"""From a step of an instance to what its engine is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolkit.entities import LocationType
from toolkit.process_runner.engines.port import StepCall
from toolkit.process_runner.errors import FileChanged
from toolkit.process_runner.gate_places import as_written
from toolkit.process_runner.targets import libraries_of

if TYPE_CHECKING:
    from toolkit.planning.instance_storage import FeedStorage
    from toolkit.planning.process_io import PlannedOutput, ProcessSite
    from toolkit.process_runner.resolution import ResolvedInstance
    from toolkit.process_runner.targets import ProcessTarget, StepItem


class Workplace(Protocol):
    """Where the steps of a process run."""

    def is_as_read(self, path: str) -> bool:
        """Whether a file that a workflow names is what it was when the run read the config repo.

        What the config repo does not have is somebody else's to keep, and counts as unchanged.
        """
        ...

    def script(self, path: str) -> str:
        """Where the script of a step is: an absolute path of this machine, or a URI.

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

    def begin_log(self, log: Path) -> None:
        """Create the file of a log anew, for this user alone.

        Raises:
            InvalidInput: somebody else has put something in its way.
            OSError: it cannot be made.
        """
        ...

    @property
    def directory(self) -> Path:
        """That steps run in."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Of the steps, as a whole."""
        ...

    @property
    def variables(self) -> Mapping[str, str]:
        """Of this process."""
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
    """What the engine of a step is asked in a run.

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
    require_as_read(place, (item.path, *libraries_of(site.process.workflow)))
    log = place.log(target, run_id, item.name)
    place.begin_log(log)
    read = (_table(each.storage) or ",".join(map(site.qualified, each.paths())) for each in resolved.inputs)
    made = (_table(each.storage) or _path(site, each) for each in resolved.outputs)
    return StepCall(
        step=item.name if site.process.workflow.steps else site.process.name,
        engine=item.engine,
        path=place.script(item.path),
        args=item.args,
        workflow=site.process.workflow,
        cluster=site.cluster,
        paths=(*read, *made),
        properties=resolved.properties,
        environment=place.environment,
        variables=place.variables,
        directory=place.directory,
        log=log,
    )


def _path(site: ProcessSite, output: PlannedOutput) -> str:
    path = as_written(site, output).instance.paths.get(LocationType.DATA)
    return "" if path is None else site.qualified(path)


def _table(storage: FeedStorage) -> str:
    """The name of a feed's table, as Spark takes it; which partitions, the properties say."""
    return "" if storage.table is None else f"{storage.table.database}.{storage.table.table}"
