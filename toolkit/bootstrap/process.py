"""A process run, wired: one instance, all that are due, or a range of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.actions.hold_watch import NoNewHolds
from toolkit.actions.model import NoTarget, Problem, TargetPlan
from toolkit.actions.runner import Targets
from toolkit.availability import NoRegistry
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.catalogs import catalog_for_reading
from toolkit.bootstrap.ingested_data import ingested_instances
from toolkit.bootstrap.messages import MessageContent
from toolkit.bootstrap.mirrors import mirrors_of
from toolkit.bootstrap.process_place import LocalPlace
from toolkit.el import format_instant
from toolkit.entities.not_implemented import Area
from toolkit.ledger.identity import identity_of
from toolkit.ledger.registry import lookup
from toolkit.ledger.registry.registration import Site, UnknownProcess, entity_digest, registration_of
from toolkit.ledger.registry.sync import sync
from toolkit.ledger.runs.instances import newest_attempts, open_attempts
from toolkit.ledger.runs.queries import InstanceSpan
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.dataset_aliases import DatasetAliases
from toolkit.planning.nearby_feeds import nearby_feeds
from toolkit.planning.temporary_feeds import TemporaryFeeds
from toolkit.process_runner.action import ProcessAction
from toolkit.process_runner.backfill import Backfill
from toolkit.process_runner.due import queue_of_due, queue_of_one, queue_of_range
from toolkit.process_runner.history import DueHistory, due_history, subject_of
from toolkit.process_runner.prepare import PrepareRules
from toolkit.process_runner.selection import ProcessSelection, feeds_of, sites, unsupported
from toolkit.process_runner.slots import InstanceQueue, InstanceSlots
from toolkit.process_runner.targets import ProcessDetail, ProcessTarget, StepItem, files_of
from toolkit.programs.opening import end_left_over, opened_engines, shared_of
from toolkit.runs.recorder import current_user
from toolkit.storage import RealPlaces

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.bootstrap.ledger_use import FirstWrite
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Engine, Feed
    from toolkit.errors import NotImplementedYet
    from toolkit.ledger.database import Transaction
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.due import Known
    from toolkit.process_runner.targets import ProcessResult
    from toolkit.programs.port import StepEngine
    from toolkit.retention import SharedDataIndex
    from toolkit.runs.stop import StopSignal

_SUSPENDED = "suspended"
MOST_AT_ONCE = 32
"""So many instances of all processes of a cluster, unless the user says another number: each of them has a child."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessOptions:
    """Options of a process run besides those of all actions.

    Attributes:
        selection: which processes.
        due: all instances whose time has come; else the one of the nominal time.
        backfill: all instances of a range; None: none is asked for.
        waits: what is not there, or is to be tried again, is waited for.
        is_forced: the steps run from the first one on, whatever succeeded before.
        approve: digest of what a mirror may remove over its limits.
    """

    selection: ProcessSelection
    due: bool = False
    backfill: Backfill | None = None
    waits: bool = False
    is_forced: bool = False
    approve: str | None = None


def run_processes(
    own: ProcessOptions,
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    progress: Progress,
    engines: Mapping[Engine, StepEngine] | None = None,
) -> ProcessResult:
    """A process run, from the options to the result; arguments and errors are those of `run_action`."""
    with opened_engines() if engines is None else nullcontext(engines) as opened:
        return _run_processes(own, options, clock, process, progress, opened)


def _run_processes(
    own: ProcessOptions,
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    progress: Progress,
    engines: Mapping[Engine, StepEngine],
) -> ProcessResult:
    wired: list[ProcessWiring] = []

    def wire(context: ActionContext) -> Wired[ProcessTarget, StepItem, ProcessDetail]:
        wired.append(ProcessWiring(own=own, context=context, clock=clock, engines=engines))
        return wired[0].wired()

    affected, hosts = partial(affected_by, own), shared_of(engines)
    result = run_action(options, clock, process, progress, wire, Area.PROCESS, affected=affected, hosts=hosts)
    return result.with_notes(*(note for each in wired for note in each.slots.notes))


def affected_by(own: ProcessOptions, context: ActionContext) -> Iterator[tuple[Feed, Cluster]]:
    """The feeds of the chosen processes, on the cluster where they run."""
    for site in sites(context.repository, own.selection):
        yield from ((site.feeds[name], site.cluster) for name in feeds_of(site) if name in site.feeds)


@dataclass(kw_only=True)
class ProcessWiring:
    """Puts a run together.

    Attributes:
        own: what the user asked.
        context: of the run.
        clock: tells the wall-clock time.
        engines: what runs steps.
    """

    own: ProcessOptions
    context: ActionContext
    clock: Clock
    engines: Mapping[Engine, StepEngine]

    def wired(self) -> Wired[ProcessTarget, StepItem, ProcessDetail]:
        """The action, and whose turn it is."""
        ledger = self.context.use.ledger
        here = LocalPlace(
            root=Path(self.context.snapshot.root).absolute(),
            variables=self.context.variables,
            ledger="" if ledger is None else identity_of(ledger),
            settings=self.context.repository.settings,
        )
        place = here.reading(path for site in self.sites for path in files_of(site.process))
        candidates = [each.target for queue in self.slots.queues for each in queue.candidates]
        has_outlets = any(site.process.outlets or site.process.workflow.mirror for site in self.sites)
        action = ProcessAction(
            ledger=ledger,
            clock=self.clock,
            engines=self.engines,
            metastores=catalog_for_reading,
            ingested=partial(ingested_instances, self.context.variables),
            workplace=place,
            prepare=self._prepare,
            mirrors=mirrors_of(self.context, self.clock.now, self.own.approve),
            aliases=DatasetAliases.of(self.context.repository) if has_outlets else None,
            temporary=TemporaryFeeds(repository=self.context.repository),
            keeps_columns=self.context.repository.settings.lineage.columns,
            end_left_over=lambda mark, target: end_left_over(
                mark,
                cluster=target.site.cluster,
                workflow=target.site.process.workflow,
                environment=place.variables,
                session_owner=place.session_owner(target.entity),
            ),
        )
        return Wired(
            action=action,
            targets=Targets(to_do=tuple(candidates), settled=tuple(self.settled)),
            parallel=max(1, min(self.slots.at_once, MOST_AT_ONCE)),
            content=MessageContent(data=_outputs),
            slots=self.slots,
            first_writes=self.first_writes,
        )

    @property
    def _prepare(self) -> PrepareRules:
        context, has_holds = self.context, bool(self._prepared)
        return PrepareRules(
            holds=(*context.repository.holds, *(context.holds.as_entities if has_holds else ())),
            new_holds=context.holds if has_holds and not context.options.dry_run else NoNewHolds(),
            losing=self._losing,
        )

    @cached_property
    def _prepared(self) -> Mapping[str, Feed]:
        outputs = ((site, each) for site in self.sites for each in site.process.outputs.values())
        return {each.feed: site.feeds[each.feed] for site, each in outputs if each.prepare}

    def _losing(self, feed: Feed, cluster: Cluster) -> Sequence[tuple[str, str]]:
        return self._shared_data.losing(feed, cluster)

    @cached_property
    def _shared_data(self) -> SharedDataIndex:
        from toolkit.retention import SharedDataIndex  # noqa: PLC0415 - large, and few processes remove their outputs

        repository, places = self.context.repository, RealPlaces()
        feeds = nearby_feeds(repository, self._prepared.values(), places.of_all)
        return SharedDataIndex(feeds=feeds, clusters=tuple(repository.clusters.values()), real=places.of)

    @cached_property
    def sites(self) -> Sequence[ProcessSite]:
        """The chosen processes that can be run."""
        found = sites(self.context.repository, self.own.selection)
        if self.own.selection.name is not None:
            for site in found:
                error = unsupported(site)
                if error is not None:
                    raise error
        return [site for site in found if unsupported(site) is None]

    @cached_property
    def slots(self) -> InstanceSlots:
        """Return the queues of the instances that are to run."""
        return InstanceSlots(
            queues=[queue for queue in self._queues.values() if queue.candidates],
            clock=self.clock,
            check=self.context.process.check,
            waits=self.own.waits,
        )

    @property
    def settled(self) -> Iterator[TargetPlan[NoTarget, StepItem, ProcessDetail]]:
        """Yield the results of processes without a run on this cluster."""
        for site in sites(self.context.repository, self.own.selection):
            error = unsupported(site)
            if error is not None:
                yield _settled(site, skipped=Problem(code=_code_of(error), message=str(error)))
            elif site.process.name in self._obstacles:
                obstacle = self._obstacles[site.process.name]
                yield _settled(site, skipped=Problem(code=_SUSPENDED, message=obstacle))
            elif not self._queues[site.process.name].candidates:
                yield _settled(site, note=self.nothing(site))

    def nothing(self, site: ProcessSite) -> str:
        """Why no instance of a process runs."""
        if self.own.due or self.own.backfill is not None:
            return "no instance is to run"
        key = format_instant(self.context.options.nominal_time)
        return f"{key} has succeeded already (run {self.known(site)[key].run_id}); --force runs it again"

    @cached_property
    def _obstacles(self) -> Mapping[str, str]:
        """The obstacles to the start of processes, by name; a process named by the user reports its own."""
        if not self.own.due:
            return {}
        found = {
            each.process.name: self.context.use.obstacle(each.process.name, each.cluster.name) for each in self.sites
        }
        return {name: why for name, why in found.items() if why is not None}

    @cached_property
    def _queues(self) -> Mapping[str, InstanceQueue]:
        """The queue of each process that may start, by name."""
        may_start = (site for site in self.sites if site.process.name not in self._obstacles)
        return {site.process.name: self.queue(site) for site in may_start}

    def queue(self, site: ProcessSite) -> InstanceQueue:
        """Return which instances of a process are to run."""
        nominal, now = self.context.options.nominal_time, self.clock.now()
        if self.own.due:
            history = self._history(site)
            return queue_of_due(site, nominal, history.known, now, unrecorded=history.unrecorded)
        known = self.known(site)
        if self.own.backfill is not None:
            return queue_of_range(site, self.own.backfill, known, now)
        if format_instant(nominal) not in known:  # an attempt that data caused may be of any time
            site.process.instances_on(site.cluster.name).index(nominal)
        return queue_of_one(site, nominal, known, now, is_forced=self.own.is_forced)

    def known(self, site: ProcessSite) -> Known:
        """The newest attempt of each instance, in one statement for a process.

        Without a ledger, as in a dry run before the first run, nothing is known.
        """
        ledger = self.context.use.ledger
        if ledger is None:
            return {}
        first, end = self._keys
        span = InstanceSpan(subject=subject_of(site), start_key=first, end_key=end)
        return ledger.read(lambda tx: newest_attempts(tx, span))

    def _history(self, site: ProcessSite) -> DueHistory:
        """Return what decides about the due instances of a process."""
        ledger, nominal = self.context.use.ledger, self.context.options.nominal_time
        if ledger is None:
            return DueHistory(known={}, unrecorded=None)
        opened = self._open.get(site.process.name, {})
        return ledger.read(lambda tx: due_history(tx, site, nominal, opened))

    @cached_property
    def _open(self) -> Mapping[str, Known]:
        """Open attempts of all processes of the cluster, by name and key."""
        ledger, cluster = self.context.use.ledger, next((each.cluster.name for each in self.sites), "")
        if ledger is None:
            return {}
        return ledger.read(lambda tx: open_attempts(tx, LifeCycle.EXECUTION, cluster, self.clock.now()))

    @property
    def _keys(self) -> tuple[str, str]:
        backfill, nominal = self.own.backfill, format_instant(self.context.options.nominal_time)
        if backfill is not None:
            return format_instant(backfill.first), format_instant(backfill.end)
        return nominal, f"{nominal}~"

    def first_writes(self) -> Iterator[FirstWrite]:
        """Yield the registration of the processes as they are about to run, unless the ledger has it."""
        repository, ledger = self.context.repository, self.context.use.ledger
        if ledger is None:
            return
        wanted = {each.process.name: entity_digest(repository, each.process.name) for each in self.sites}
        cluster = next((each.cluster.name for each in self.sites), "")
        if ledger.read(
            lambda tx: all(_is_registered(tx, Site(name=name, cluster=cluster), wanted[name]) for name in wanted)
        ):
            return
        registration = registration_of(repository, str(self.context.snapshot.id))
        yield lambda tx: sync(tx, registration, current_user())


def _is_registered(tx: Transaction, site: Site, digest: str) -> bool:
    try:
        known = lookup.any_process(tx, site)
    except UnknownProcess:
        return False
    return known.digest == digest and not known.is_deleted


def _code_of(error: NotImplementedYet | NoRegistry) -> str:
    return "no_registry" if isinstance(error, NoRegistry) else "not_implemented"


def _settled(
    site: ProcessSite, *, note: str = "", skipped: Problem | None = None
) -> TargetPlan[NoTarget, StepItem, ProcessDetail]:
    could_start = skipped is not None and skipped.code == _SUSPENDED
    target = NoTarget(entity=site.process.name, cluster=site.cluster.name, could_start=could_start)
    return TargetPlan(target=target, detail=ProcessDetail(), notes=(note,) if note else (), skipped=skipped)


def _outputs(target: ProcessTarget) -> list[tuple[str, str]]:
    """Return the feeds that an instance makes, each with where its data is."""
    site = target.site
    planned = site.outputs(target.nominal_time)
    return [(site.process.outputs[each.name].feed, site.uri(each.storage, each.instance)) for each in planned]
