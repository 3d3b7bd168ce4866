"""The verification of a feed at its targets, wired: reads the ledger and both stores, changes nothing."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING

from toolkit.actions.selection import NO_FEED, EntitySelection
from toolkit.actions.verification import VerifiedInstance
from toolkit.bootstrap.action_context import ActionOptions, opened_context
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.mirrors import mirrors_of
from toolkit.bootstrap.replication import ReplicationOptions, copied_keys, ends, evicted_of, recorded_of, routes_of
from toolkit.entities.not_implemented import Area
from toolkit.ledger import manifests
from toolkit.ledger.runs import queries
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.due_copies import CopyRecords
from toolkit.planning.replication import Range
from toolkit.process_runner.selection import ProcessSelection, sites
from toolkit.process_runner.targets import ProcessTarget
from toolkit.replication.resolve import ReplicationResolver
from toolkit.replication.verify import Verifier

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.clock import Clock
    from toolkit.ledger.database import Ledger
    from toolkit.replication.targets import ReplicationTarget
    from toolkit.runs.stop import StopSignal


@dataclass(frozen=True, kw_only=True, slots=True)
class MirrorVerifyOptions:
    """Options of the verification of a mirror.

    Attributes:
        mirror: name.
        cluster: that it runs on; None: the only one.
        repo: the config repo, and the variables of the process.
    """

    mirror: str
    cluster: str | None
    repo: RepoRequest


_ALWAYS = Range(first=datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyOptions:
    """Options of a verification.

    Attributes:
        feed: name.
        cluster: only at this target; None: at all.
        chosen: source and range, as of a replication; without a range all that the ledger has as copied.
        repo: the config repo, and the variables of the process.
    """

    feed: str
    cluster: str | None
    chosen: ReplicationOptions
    repo: RepoRequest


def verify(
    request: VerifyOptions, clock: Clock, process: StopSignal, progress: Progress
) -> tuple[VerifiedInstance, ...]:
    """Return the verification of each instance at a target.

    Args:
        request: by the user.
        clock: tells the wall-clock time.
        process: ends the reading.
        progress: is told how far it is.

    Raises:
        InvalidInput: as for `run_action`.
        LedgerUnavailable: the ledger cannot be read now.
    """
    wanted = request.chosen.wanted if request.chosen.start or request.chosen.end else _ALWAYS
    now = clock.now().replace(second=0, microsecond=0)
    with ExitStack() as stack:
        options = _options(request, now)
        context = opened_context(options, clock, process, Area.REPLICATION, stack, partial(ends, request.chosen))
        ledger = context.use.ledger
        copied = cache(partial(copied_keys, ledger))
        resolver = ReplicationResolver(
            nominal=now,
            clock=None,
            wanted=wanted,
            records=lambda feed, target, _: CopyRecords(evicted=partial(evicted_of, ledger, feed, target)),
            only=partial(_known_keys, ledger) if wanted is _ALWAYS and ledger is not None else lambda *_: None,
        )
        targets = resolver.resolve(list(routes_of(request.chosen, context)), must_all_work=True)
        work = context.look(process)
        verifier = Verifier(
            storage=work.stores,
            recorded=partial(recorded_of, ledger),
            was_copied=lambda target: target.instance_key in copied(target.feed, target.cluster, target.counterpart),
            is_being_copied=partial(_is_being_copied, ledger),
            check=process.check,
        )
        return verifier.verify_all(targets.to_do, progress)


def verify_mirror(request: MirrorVerifyOptions, clock: Clock, process: StopSignal) -> tuple[VerifiedInstance, ...]:
    """Return the verification of the target of a mirror; arguments and errors are those of `verify`."""
    now = clock.now().replace(second=0, microsecond=0)
    with ExitStack() as stack:
        options = _options(request, now)
        context = opened_context(options, clock, process, Area.PROCESS, stack, lambda _: ())
        selection = ProcessSelection(name=request.mirror, cluster=request.cluster, must_mirror=True)
        site = sites(context.repository, selection)[0]
        target = ProcessTarget(site=site, nominal_time=now, waits_until=now)
        return (mirrors_of(context, clock.now).verified(target, context.look(process)),)


def _options(request: VerifyOptions | MirrorVerifyOptions, now: datetime) -> ActionOptions:
    clusters = () if request.cluster is None else (request.cluster,)
    selection = NO_FEED
    if isinstance(request, VerifyOptions):
        selection = EntitySelection(names=(request.feed,), clusters=clusters, all_clusters=not clusters)
    return ActionOptions(
        selection=selection,
        repo=request.repo,
        nominal_time=now,
        dry_run=True,
        approve=None,
        allow_dirty=False,
    )


def _known_keys(ledger: Ledger, feed: str, target: str, source: str) -> frozenset[str]:
    return copied_keys(ledger, feed, target, source) | ledger.read(
        lambda tx: manifests.instance_keys(tx, feed, target, source)
    )


def _is_being_copied(ledger: Ledger | None, target: ReplicationTarget) -> bool:
    if ledger is None:
        return False
    key = (LifeCycle.REPLICATION, target.cluster, target.counterpart, target.instance_key)
    runs = ledger.read(lambda tx: queries.active(tx, target.feed))
    return any((run.life_cycle, run.cluster, run.counterpart, run.instance_key) == key for run in runs)
