"""A retention run, wired."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.bootstrap.config import open_config
from toolkit.bootstrap.envelopes import Action, opened_envelope
from toolkit.bootstrap.ledger_use import LedgerHolds, LedgerUse, ledger_in_use
from toolkit.bootstrap.ledgers import audit_place
from toolkit.bootstrap.storages import Storages
from toolkit.config_source import Snapshot, require_age
from toolkit.el.zones import ZONE_DATA
from toolkit.entities.loader import load
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import REPO_FILE
from toolkit.ledger.registry.registration import entity_digest
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import (
    Chooser,
    FeedChoice,
    FeedRuns,
    Neighbourhood,
    Progress,
    Resolved,
    Resolver,
    RetentionRequest,
    RetentionResult,
    RetentionRun,
)
from toolkit.retention.result import ACTION
from toolkit.retention.spreading import SpreadMeans
from toolkit.runs.identity import origin_here
from toolkit.runs.lifeline import CurrentLifeline, Lifeline
from toolkit.runs.nominal_time import refuse_future
from toolkit.runs.submitted import gateway_port
from toolkit.storage import RealPlaces
from toolkit.transfer.executors import Executors, executors

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.runs.rows import Origin
    from toolkit.retention.targets import FeedTarget


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionOptions:
    """What the user asked of a retention run.

    Attributes:
        choice: which feeds on which cluster.
        config_repo: as for `open_config`.
        environment: name; None: the repo's default.
        nominal_time: for which the run acts.
        dry_run: plan only, with storage and ledger opened for reading.
        approve: digest of a plan that may exceed the limits.
        allow_dirty: act on a checkout with uncommitted changes.
        no_ledger: act without the ledger.
    """

    choice: FeedChoice
    config_repo: str | None
    environment: str | None
    nominal_time: datetime
    dry_run: bool
    approve: str | None
    allow_dirty: bool
    no_ledger: bool = False


def evict(options: RetentionOptions, clock: Clock, lifeline: Lifeline, progress: Progress) -> RetentionResult:
    """A retention run, from the options to the result.

    Args:
        options: what the user asked for.
        clock: tells the wall-clock time.
        lifeline: asked before each effect.
        progress: told how far the work is.

    Raises:
        InvalidInput: a future time, an unusable config repo, unknown names, values that do not exist yet, no ledger.
        Unavailable: the ledger or the audit file cannot be used.
    """
    refuse_future(options.nominal_time, clock.now())
    mutates = not options.dry_run
    snapshot = open_config(options.config_repo, for_mutation=mutates, allow_dirty=options.allow_dirty)
    repository = load(snapshot, options.environment)
    for value in not_implemented(repository.settings, Area.RETENTION):
        raise value.error(where=REPO_FILE)
    if mutates:
        require_age(snapshot.id, repository.settings.max_age, clock.now())
    wiring = _Wiring(options=options, snapshot=snapshot, repository=repository, clock=clock, process=lifeline)
    with (
        executors(os.environ, check=lifeline.check) as machines,
        ledger_in_use(snapshot, repository.settings, for_mutation=mutates, no_ledger=options.no_ledger) as use,
    ):
        return wiring.preview(use, progress) if options.dry_run else wiring.run(use, progress, machines)


@dataclass(frozen=True, kw_only=True)
class _Wiring:
    """What a run is put together from."""

    options: RetentionOptions
    snapshot: Snapshot
    repository: Repository
    clock: Clock
    process: Lifeline

    def preview(self, use: LedgerUse, progress: Progress) -> RetentionResult:
        current = CurrentLifeline(self.process)
        storages = self._storages(current, read_only=True)
        feeds = self._feeds(storages, use.holds())
        noted = replace(feeds, targets=tuple(_with_obstacle(target, use) for target in feeds.targets))
        return RetentionRun(storage=storages.of, lifeline=current, progress=progress).preview(self._request(use), noted)

    def run(self, use: LedgerUse, progress: Progress, machines: Executors) -> RetentionResult:
        current = CurrentLifeline(self.process)
        storages = self._storages(current, read_only=False)
        holds = use.holds()
        feeds = self._feeds(storages, holds)
        means = self._means(machines, storages)
        run = RetentionRun(
            storage=storages.of,
            lifeline=current,
            progress=progress,
            new_holds=holds,
            means=means,
            rate=self.repository.settings.delete_rate,
        )
        audit = audit_place(self.snapshot, self.repository.settings)
        action = Action(name=ACTION, ledger=use.ledger, audit=audit, process=self.process, clock=self.clock)
        with opened_envelope(action) as envelope:
            runs = FeedRuns(envelope=envelope, nominal_time=self.options.nominal_time, origin_of=self._origin)
            return run.run(self._request(use), feeds, runs)

    def _means(self, machines: Executors, storages: Storages) -> SpreadMeans | None:
        """A driver that spark-submit did not start has no executors."""
        if gateway_port(os.environ) is None:
            return None
        settings = self.repository.settings
        return SpreadMeans(
            opened=machines.open,
            above=settings.executors_above,
            rate=settings.delete_rate,
            spec_of=storages.spec_of,
        )

    def _storages(self, current: CurrentLifeline, *, read_only: bool) -> Storages:
        environment, clusters = self.repository.environment, self.repository.clusters.values()
        return Storages(
            read_only=read_only,
            before_effect=current.check,
            clusters=self._clusters,
            others=[each for each in clusters if environment is None or environment.allows(each.name)],
            pairs=[pair for pair in self._chosen if pair[0].cluster(pair[1].name).retention is not None],
            rate=None if read_only else self.repository.settings.delete_rate,
            trusted_links=self.repository.settings.trusted_links,
        )

    @cached_property
    def _chosen(self) -> tuple[tuple[Feed, Cluster], ...]:
        repository = self.repository
        chooser = Chooser(feeds=repository.feeds, clusters=repository.clusters, environment=repository.environment)
        return chooser.choose(self.options.choice)

    @property
    def _clusters(self) -> tuple[Cluster, ...]:
        """Those of the run, each once."""
        return tuple({cluster.name: cluster for _, cluster in self._chosen}.values())

    def _feeds(self, storages: Storages, holds: LedgerHolds) -> Resolved:
        repository, options = self.repository, self.options
        resolver = Resolver(
            nominal_time=options.nominal_time,
            keep_beyond_validity=repository.settings.keep_instances_beyond_validity,
            holds=(*repository.holds, *holds.as_entities),
            storage=storages.of,
            neighbourhood=Neighbourhood(
                feeds=tuple(repository.feeds.values()),
                clusters=tuple(repository.clusters.values()),
                real=RealPlaces().of,
            ),
        )
        return resolver.resolve(self._chosen, must_all_work=bool(options.choice.names))

    def _origin(self, feed: str) -> Origin:
        digest = entity_digest(self.repository, feed)
        return origin_here(os.environ, snapshot=str(self.snapshot.id), digest=digest)

    def _request(self, use: LedgerUse) -> RetentionRequest:
        limits, environment = self.repository.settings.max_delete, self.repository.environment
        return RetentionRequest(
            nominal_time=self.options.nominal_time,
            dry_run=self.options.dry_run,
            approve=self.options.approve,
            limits=DeleteLimits(instances=limits.instances, fraction=limits.fraction, bytes=limits.bytes),
            environment=None if environment is None else environment.name,
            snapshot=self.snapshot.id,
            tzdata=ZONE_DATA,
            ledger=use.place,
            notes=use.notes,
        )


def _with_obstacle(target: FeedTarget, use: LedgerUse) -> FeedTarget:
    obstacle = use.obstacle(target.feed, target.cluster)
    return target if obstacle is None else replace(target, notes=(*target.notes, f"would be skipped: {obstacle}"))
