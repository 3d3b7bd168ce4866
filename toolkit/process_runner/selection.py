"""Selection of the processes and clusters of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.availability import NoRegistry
from toolkit.entities import Area, not_implemented
from toolkit.entities.errors import NotInEnvironment
from toolkit.errors import InvalidInput
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.prepare import unprepared_table
from toolkit.process_runner.staging_places import unvalidated_table

if TYPE_CHECKING:
    from toolkit.entities import Feed, Process, Repository
    from toolkit.errors import NotImplementedYet


class ProcessChoiceMissing(InvalidInput):
    """Neither a process was named, nor all of them asked for; or both."""

    def __init__(self) -> None:
        super().__init__("expected one of: --process NAME, or --all with --due")


class TriggerChoiceMissing(InvalidInput):
    """Neither a process was named, nor all with a trigger asked for; or both."""

    def __init__(self) -> None:
        super().__init__("expected one of: --due, for all processes that have a trigger, or --process NAME")


class ProcessClusterNeeded(InvalidInput):
    """A run could be about several clusters and none was named.

    Args:
        clusters: those that it could be about.
    """

    def __init__(self, *, clusters: Iterable[str]) -> None:
        self.clusters = tuple(clusters)
        super().__init__(f"found processes on the clusters {', '.join(self.clusters)}; name one with --cluster")


class NothingToRun(InvalidInput):
    """No process is on the cluster; a misspelt name must not look like a run with nothing to do.

    Args:
        cluster: as given.
    """

    def __init__(self, *, cluster: str) -> None:
        self.cluster = cluster
        super().__init__(f"no process is on the cluster {cluster}")


class NotAMirror(InvalidInput):
    """A process with steps was named as a mirror."""

    def __init__(self, *, name: str) -> None:
        super().__init__(f"{name} is a process and not a mirror; run it by entrypoints/process.py --process {name}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessSelection:
    """Selection of processes by the user.

    Attributes:
        name: of a process; None: all that are on the cluster.
        cluster: name; None: the only one that there is.
        must_mirror: the process is that of a mirror.
    """

    name: str | None
    cluster: str | None
    must_mirror: bool = False


def sites(repository: Repository, selection: ProcessSelection) -> tuple[ProcessSite, ...]:
    """The processes on the cluster that the user means, in the order of their names.

    Raises:
        UnknownName: no such process or cluster, or the process is not there.
        NotAMirror: the process is that of no mirror.
        NotInEnvironment: the environment does not act on the cluster.
        ProcessClusterNeeded: it could be more than one.
        NothingToRun: no process is there.
    """
    processes = _processes(repository, selection.name)
    if selection.must_mirror and any(each.workflow.mirror is None for each in processes):
        raise NotAMirror(name=processes[0].name)
    cluster = _cluster(repository, processes, selection)
    there = [each for each in processes if any(own.name == cluster for own in each.clusters)]
    if not there:
        raise NothingToRun(cluster=cluster)
    return tuple(
        ProcessSite(process=each, cluster=repository.cluster(cluster), feeds=repository.feeds) for each in there
    )


def _processes(repository: Repository, name: str | None) -> Sequence[Process]:
    if name is not None:
        return [repository.process(name)]
    return [repository.processes[each] for each in sorted(repository.processes)]


def _cluster(repository: Repository, processes: Sequence[Process], selection: ProcessSelection) -> str:
    environment = repository.environment
    if selection.cluster is not None:
        repository.cluster(selection.cluster)
        if selection.name is not None:
            processes[0].cluster(selection.cluster)
    on = dict.fromkeys(own.name for each in processes for own in each.clusters)
    allowed = [name for name in on if environment is None or environment.allows(name)]
    wanted = [name for name in allowed if selection.cluster in {None, name}]
    if len(wanted) > 1:
        raise ProcessClusterNeeded(clusters=wanted)
    if wanted:
        return wanted[0]
    if selection.cluster is not None and selection.cluster not in on:
        raise NothingToRun(cluster=selection.cluster)
    what = "the processes" if selection.name is None else f"process {selection.name}"
    raise NotInEnvironment(
        what=what, environment="" if environment is None else environment.name, clusters=tuple(allowed)
    )


def unsupported(site: ProcessSite) -> NotImplementedYet | NoRegistry | None:
    """Why a process cannot be run, here or by anybody yet."""
    for value in not_implemented(site.process, Area.PROCESS):
        return value.error(where=f"process {site.process.name}")
    if (unvalidated := unvalidated_table(site)) is not None:
        return unvalidated
    if (unprepared := unprepared_table(site)) is not None:
        return unprepared
    has_table = any(_is_in_metastore(site.feeds[name], site.cluster.name) for name in feeds_of(site))
    return NoRegistry(cluster=site.cluster.name) if has_table and site.cluster.interfaces.registry is None else None


def _is_in_metastore(feed: Feed, cluster: str) -> bool:
    return feed.table_on(cluster) is not None and feed.cluster(cluster).ingest is None


def feeds_of(site: ProcessSite) -> tuple[str, ...]:
    """The names of the feeds that a process reads and makes, each once."""
    read = [each.feed for each in site.process.inputs.values()]
    made = [each.feed for each in site.process.outputs.values()]
    return tuple(dict.fromkeys((*read, *made)))
