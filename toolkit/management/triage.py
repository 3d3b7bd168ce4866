"""Why an instance is not there yet: what it waits for, down to the causes (Falcon feature list, triage).

A feed instance that is not ready waits for the run that makes or copies it; such a run that has not started waits for
its inputs, or for the instance at the source. What is ready, and what no instance waits for, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.availability import DATA_ERRORS, DataState, FeedInstances, FoundInstance, NoRegistry
from toolkit.el import format_instant, parse_expression, parse_instant
from toolkit.el.functions import Function
from toolkit.entities import Feed, Process
from toolkit.entities.vocabulary import Kind
from toolkit.errors import FeedctlError, InvalidInput, NotImplementedYet
from toolkit.ledger.runs.queries import FAILURES
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.dependencies import Dependency, Relation, brought_by
from toolkit.management.locations import clusters_having
from toolkit.management.triage_runs import BEGUN, blocked, triage_run, why_begun
from toolkit.planning.process_io import ProcessSite, depends_on_availability
from toolkit.result import ExitCode

if TYPE_CHECKING:
    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger

DEPTH = 30
"""So many steps down from the instance are looked at: a process that reads what it made goes back for ever."""
MOST = 300
"""So many instances and runs a tree has at most."""
SIDE_BY_SIDE = 10
"""So many of what one thing waits for are looked into; of the others there is only the number."""
UNKNOWN = "unknown"
"""The state of an instance that could not be looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TriageNode:
    """An instance that is waited for, or the run that should bring it.

    Attributes:
        what: which it is, and what it is to the one above it.
        state: of a feed instance its data, or `UNKNOWN`; of a run its status.
        notes: what else there is to say, in words.
        cause: why all above it wait, in words; None: what is below it says so.
        run: the newest attempt; None: there is none, or it is no run.
        log: where the log of the run is, else that of its newest step; None: unknown.
        needs: what it waits for itself.
    """

    what: Dependency
    state: str
    notes: tuple[str, ...] = ()
    cause: str | None = None
    run: Run | None = None
    log: str | None = None
    needs: tuple[TriageNode, ...] = ()

    def causes(self) -> Iterator[TriageNode]:
        """Itself and those below it that are a cause, in the order of the tree."""
        if self.cause is not None:
            yield self
        for each in self.needs:
            yield from each.causes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Triage:
    """Why an instance is not there, on each of its clusters."""

    name: str
    kind: Kind
    instance_key: str
    trees: tuple[TriageNode, ...]


def triage(
    ledger: Ledger,
    repository: Repository,
    entity: Feed | Process,
    clusters: Sequence[str],
    instant: datetime,
    now: datetime,
    look: Callable[[str, str], FeedInstances],
) -> Triage:
    """Return what an instance waits for, down to the causes.

    Args:
        ledger: knows the runs.
        repository: all entities.
        entity: whose instance it is.
        clusters: where; those that do not have this instance are left out.
        instant: the instance.
        now: what is later is not due.
        look: looks at the instances of a feed on a cluster, by their names.

    Raises:
        NotAnInstance: it is an instance on none of the clusters.
        ElError: an expression of a process cannot be resolved.
        LedgerUnavailable: the ledger cannot be read now.
    """
    having = clusters_having(entity, clusters, instant)
    key = format_instant(instant)
    life_cycle = LifeCycle.EXECUTION if isinstance(entity, Process) else None
    trees = []
    for cluster in having:
        root = Dependency(
            relation=Relation.OUTPUT,
            kind=entity.KIND,
            name=entity.name,
            cluster=cluster,
            through="",
            instance_key=key,
            life_cycle=life_cycle,
        )
        trees.append(_Triager(ledger=ledger, repository=repository, now=now, look=look).node(root))
    return Triage(name=entity.name, kind=entity.KIND, instance_key=key, trees=tuple(trees))


_Seen = FoundInstance | FeedctlError
"""Result of a look at an instance's data, or the error of it."""
_Need = tuple[Dependency, _Seen | None]
"""Missing dependency; with None, its data was not looked at."""


@dataclass(kw_only=True)
class _Triager:
    """Makes one tree; what was in it before is not looked into again."""

    ledger: Ledger
    repository: Repository
    now: datetime
    look: Callable[[str, str], FeedInstances]
    _known: set[Dependency] = field(default_factory=set)

    def node(self, what: Dependency, depth: int = DEPTH, seen: _Seen | None = None) -> TriageNode:
        """The tree below one instance or run."""
        identity = replace(what, relation=Relation.PRODUCER, through="")
        if identity in self._known:
            return TriageNode(what=what, state=UNKNOWN, notes=("see above",))
        if depth == 0 or len(self._known) >= MOST:
            return TriageNode(what=what, state=UNKNOWN, notes=("not looked at: too far from the instance",))
        self._known.add(identity)
        return self._data(what, depth, seen) if what.life_cycle is None else self._run(what, depth)

    def _data(self, what: Dependency, depth: int, seen: _Seen | None) -> TriageNode:
        """A feed instance: it waits for what brings it, unless it is ready."""
        if seen is None:
            ((_, seen),) = self._looked(what, [_instant(what)])
        if isinstance(seen, FoundInstance):
            node = TriageNode(what=what, state=seen.state)
            return node if seen.is_ready else self._brought(node, depth)
        if isinstance(seen, NotImplementedYet | NoRegistry):  # what brings it can be looked at all the same
            return self._brought(TriageNode(what=what, state=UNKNOWN, notes=(str(seen),)), depth)
        return TriageNode(what=what, state=UNKNOWN, cause=str(seen))

    def _brought(self, node: TriageNode, depth: int) -> TriageNode:
        what, feed = node.what, self.repository.feed(node.what.name)
        needs: list[_Need] = [(each, None) for each in brought_by(self.repository, feed, what.cluster, _instant(what))]
        if reason := self.ledger.read(lambda tx: blocked(tx, what)):
            node = replace(node, notes=(*node.notes, reason))
        if needs:
            return self._waiting_for(node, needs, depth)
        if _instant(what) > self.now:
            return replace(node, cause=_NOT_DUE)
        if node.state == DataState.PARTIAL:
            found = f"it has no {feed.availability_flag}"
            return replace(node, cause=f"{found}: what writes it is not in this config repo, and has not finished")
        return replace(node, cause="nothing in this config repo makes it: it has to come from outside")

    def _run(self, what: Dependency, depth: int) -> TriageNode:
        """A run; one that has not started waits for what it reads, and so will the next attempt of one that failed.

        Who looked and found that something is not there yet has an attempt on record, too: it ended with exit code 75.
        """
        recorded = self.ledger.read(lambda tx: triage_run(tx, what))
        run, obstacle = recorded.run, recorded.obstacle
        state = RunStatus.WAITING if run is None else run.status
        node = TriageNode(what=what, state=state, run=run, log=recorded.log)
        if run is not None and run.status in BEGUN and run.exit_code != ExitCode.NOT_YET:
            node = replace(node, cause=why_begun(run, what, is_owned=recorded.is_owned))
            if run.status not in FAILURES:
                return node
            return self._reading(replace(node, notes=recorded.commands(what)), depth)
        if run is not None and run.reason:
            node = replace(node, notes=(run.reason,))
        if _instant(what) > self.now or obstacle is not None:
            return replace(node, cause=obstacle or _NOT_DUE)
        node = self._reading(node, depth)
        is_cause = not node.needs
        return replace(node, cause="all that it reads is there, and nothing has started it") if is_cause else node

    def _reading(self, node: TriageNode, depth: int) -> TriageNode:
        """With what a run reads that is not ready."""
        what = node.what
        if what.life_cycle is LifeCycle.EXECUTION:
            notes, needs = self._inputs(what)
            return self._waiting_for(replace(node, notes=(*node.notes, *notes)), needs, depth)
        if what.life_cycle is not LifeCycle.REPLICATION:
            return node
        source = _feed_instance(what.name, what.counterpart, "source")
        return self._waiting_for(node, _not_ready(self._looked(source, [_instant(what)])), depth)

    def _inputs(self, what: Dependency) -> tuple[list[str], list[_Need]]:
        """Return how many instances of each input that is not optional are there, and those that are not."""
        process, nominal = self.repository.process(what.name), _instant(what)
        site = ProcessSite(process=process, cluster=self.repository.cluster(what.cluster), feeds=self.repository.feeds)
        notes: list[str] = []
        needs: list[_Need] = []
        for name, each in process.inputs.items():
            if each.optional:
                continue
            base = _feed_instance(each.feed, what.cluster, name)
            if depends_on_availability(each):
                note, missing = self._counted(site, base, nominal)
            else:
                looked = self._looked(base, [one.instant for one in site.input(name, nominal).instances])
                missing = _not_ready(looked)
                note = _how_many(name, looked, len(missing))
            notes.append(note)
            needs += missing
        return notes, needs

    def _counted(self, site: ProcessSite, base: Dependency, nominal: datetime) -> tuple[str, list[_Need]]:
        """An input by `latest` or `future`: when it waits, the nearest instance is the one to look into."""
        name, grid = base.through, site.feeds[base.name].instances_on(base.cluster)
        ahead = parse_expression(site.process.inputs[name].start).function is Function.FUTURE
        nearest = grid.at_or_after(nominal) if ahead else grid.at_or_before(nominal)
        try:
            waiting = site.input(name, nominal, self.look(base.name, base.cluster).counted()).waiting
        except (NotImplementedYet, NoRegistry, *DATA_ERRORS) as error:
            return f"{name}: {error}", [] if nearest is None else [(_at(base, nearest), error)]
        if waiting is None:
            return f"{name}: there", []
        return f"{name}: {waiting.reason}", [] if nearest is None else _not_ready(self._looked(base, [nearest]))

    def _looked(self, base: Dependency, instants: Sequence[datetime]) -> list[tuple[Dependency, _Seen]]:
        """Return the data of instances of one feed; when the store fails, the last instance stands for all."""
        try:
            found = self.look(base.name, base.cluster).look_at(instants)
            return [(_at(base, each.instant), each) for each in found]
        except (InvalidInput, *DATA_ERRORS) as error:
            return [(_at(base, each), error) for each in instants[-1:]]

    def _waiting_for(self, node: TriageNode, needs: Sequence[_Need], depth: int) -> TriageNode:
        below = tuple(self.node(what, depth - 1, seen) for what, seen in needs[:SIDE_BY_SIDE])
        more = len(needs) - len(below)
        notes = (*node.notes, f"{more} more are not ready, and not shown") if more else node.notes
        return replace(node, notes=notes, needs=(*node.needs, *below))


_NOT_DUE = "its time has not come"


def _how_many(name: str, looked: Sequence[tuple[Dependency, _Seen]], missing: int) -> str:
    if any(not isinstance(seen, FoundInstance) for _, seen in looked):
        return f"{name}: it is not known how many of its instances are there"
    return f"{name}: {len(looked) - missing} of {len(looked)} instances are there"


def _not_ready(looked: Sequence[tuple[Dependency, _Seen]]) -> list[_Need]:
    return [(what, seen) for what, seen in looked if not (isinstance(seen, FoundInstance) and seen.is_ready)]


def _feed_instance(feed: str, cluster: str, through: str) -> Dependency:
    return Dependency(relation=Relation.INPUT, kind=Kind.FEED, name=feed, cluster=cluster, through=through)


def _at(base: Dependency, instant: datetime) -> Dependency:
    return replace(base, instance_key=format_instant(instant))


def _instant(what: Dependency) -> datetime:
    return parse_instant(what.instance_key or "")
