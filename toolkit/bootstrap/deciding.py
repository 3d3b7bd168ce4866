"""A person's decision about data that are blocked: released and published by the action that wrote them, or removed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from toolkit.actions.choosing import EntitySelection
from toolkit.actions.file_copies import FileCopies
from toolkit.actions.gate import Part, gate_top
from toolkit.actions.gated import GatedUnit
from toolkit.actions.output_leases import output_lease, table_leases
from toolkit.availability import is_there
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, opened_context, origin_of
from toolkit.bootstrap.catalogs import catalog_for_reading
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.decided_places import DecidedPlaces
from toolkit.bootstrap.envelopes import Enveloped, opened_envelope
from toolkit.bootstrap.ledgers import NoLedgerNamed, audit_place, quality_folder
from toolkit.el import parse_instant
from toolkit.entities import LocationType
from toolkit.entities.not_implemented import Area
from toolkit.hive.resolve import name_of
from toolkit.ledger import verdicts
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.runs.starting import StartRequest
from toolkit.ledger.state.commands import record
from toolkit.ledger.verdicts import UNDECIDED, CannotDecide, Verdict
from toolkit.ledger.vocabulary import LifeCycle, VerdictState
from toolkit.planning.instance_storage import FeedStorage, InstanceStorage
from toolkit.process_runner.targets import run_lease
from toolkit.quality.data import print_of_parts
from toolkit.quality.page import NoPage, write_decision
from toolkit.replication.targets import copy_lease
from toolkit.runs.recorder import current_user
from toolkit.storage import FileSystem, NotFound
from toolkit.threads import WorkerPool
from toolkit.transfer.publication import remove
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.actions.action import RunContext
    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.database import Ledger
    from toolkit.runs.run import ActiveRun
    from toolkit.runs.stop import StopSignal


_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionOptions:
    """What a person decides.

    Attributes:
        state: `VerdictState.RELEASED` or `VerdictState.REJECTED`.
        feed: name.
        instance_key: which instance.
        cluster: where; None: there is one alone.
        unit: the address; None: there is one alone.
        reason: for it.
        repo: the config repo, and the variables of the process.
    """

    state: VerdictState
    feed: str
    instance_key: str
    cluster: str | None
    unit: str | None
    reason: str
    repo: RepoRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """What was decided.

    Attributes:
        verdict: as it was before.
        run_key: of the run that wrote the data: its instance, or its nominal time; None: nobody knows.
        who: decided.
        is_table: the feed has a table.
    """

    verdict: Verdict
    run_key: str | None
    who: str
    is_table: bool


def decide(asked: DecisionOptions, clock: Clock, process: StopSignal) -> Decided:
    """Release or reject the data of an instance that lie at the gate, under the lease of whoever wrote them.

    Raises:
        CannotDecide: nothing is blocked there, or the data are others than were judged.
        Skipped: a run is at it.
        InvalidInput: an unusable config repo, or no ledger.
        Unavailable: the ledger or the audit file cannot be used.
        StorageError: the data cannot be listed, or removed.
    """
    with ExitStack() as stack:
        options = _options(asked, clock)
        context = opened_context(options, clock, process, Area.PROCESS, stack, _stakes)
        ledger = context.use.ledger
        if ledger is None:
            raise NoLedgerNamed
        found = ledger.read(partial(_chosen, asked))
        feed, cluster = context.repository.feed(found.feed), context.repository.cluster(found.cluster)
        own = DecidedPlaces(
            feed=feed,
            cluster=cluster,
            instance_key=found.instance_key,
            metastore=cache(partial(catalog_for_reading, cluster)),
        )
        places = own.named(found.unit, found.place)
        run_id = found.run_id
        run_key = None if run_id is None else ledger.read(lambda tx: verdicts.run_instance(tx, run_id))
        with _at_work(context, found, run_key or found.instance_key, clock) as (work, audit):
            removed = _removed(places, feed) if asked.state is VerdictState.REJECTED else []
            units = [_unit(work, context, place, found.instance_key, feed, cluster) for place in removed]
            digest = _digest(found, places, feed, work)
            _decide(ledger, found, asked, digest)
            audit(asked.state, asked.reason)
            _tell_page(context, found, asked, clock)
            for place, unit in zip(removed, units, strict=True):
                unit.clear()
                if unit.unit == place:  # of a store without renames, see `_unit`; what said that it is whole went first
                    remove(work.stores(place), place, unit.base)
            if units:
                audit("removed", asked.reason)
        return Decided(verdict=found, run_key=run_key, who=current_user(), is_table=feed.is_table)


def _chosen(asked: DecisionOptions, tx: Transaction) -> Verdict:
    """The verdict that is meant."""
    of_feed = verdicts.newest_of(tx, asked.feed, cluster=asked.cluster, instance_key=asked.instance_key)
    found = [each for each in of_feed if not each.is_by_hand and asked.unit in {None, each.unit}]
    name = asked.unit or f"{asked.feed} {asked.instance_key}"
    open_ones = [each for each in found if each.state in UNDECIDED] or found
    if not open_ones:
        raise CannotDecide(unit=name, why="the ledger has no verdict on it")
    if len(open_ones) > 1:
        units = ", ".join(f"{each.unit} on {each.cluster}" for each in open_ones)
        raise CannotDecide(unit=name, why=f"several are meant ({units}); say --cluster and --unit")
    return open_ones[0]


def _decide(ledger: Ledger, found: Verdict, asked: DecisionOptions, digest: str) -> None:
    """What a removal has left half done goes on."""
    if found.state is asked.state is VerdictState.REJECTED and found.data_digest == digest:
        return
    who, reason = current_user(), asked.reason
    verb = "release" if asked.state is VerdictState.RELEASED else "reject"
    detail = f"{found.cluster} {found.instance_key} {found.unit}, data {found.data_digest}, "
    detail += f"suites {found.suites_digest}: {reason}"

    def write(tx: Transaction) -> None:
        verdicts.decide(tx, found.verdict_id, asked.state, digest, who=who, reason=reason)
        record(tx, f"quality {verb}", found.feed, who, changed=True, detail=detail)

    ledger.write(write)


def _tell_page(context: ActionContext, found: Verdict, asked: DecisionOptions, clock: Clock) -> None:
    """What the page of the verdict says from now on, when it was written here; the ledger has it in any case."""
    folder = quality_folder(context.snapshot, context.repository.settings, context.variables)
    page = folder / PurePosixPath(found.page or "").name
    try:
        write_decision(page, asked.state, who=current_user(), at=clock.now(), reason=asked.reason)
    except NoPage as error:
        _LOG.warning('event=no_page unit=%s why="%s"', found.unit, error)


def _digest(found: Verdict, places: Sequence[CanonicalPath], feed: Feed, work: RunContext) -> str:
    """Of the data that lie there now."""
    parts = [Part(place=place, keys={}) for place in places]
    try:
        return print_of_parts(parts, feed.availability_flag, work.stores).data_digest
    except NotFound:
        why = f"nothing lies at {found.place} any more; run the action again"
        raise CannotDecide(unit=found.unit, why=why) from None


def _removed(places: list[CanonicalPath], feed: Feed) -> list[CanonicalPath]:
    """Of a table's instance only what waits: partitions of it that are there already were judged with it, and stay."""
    at_gate = [each for each in places if gate_top(each) is not None]
    return at_gate if feed.is_table and at_gate else places


def _unit(
    work: RunContext, context: ActionContext, place: CanonicalPath, instance_key: str, feed: Feed, cluster: Cluster
) -> GatedUnit:
    """What is removed: what waits at the gate, and on a store without renames a copy without the flag in its place."""
    top = gate_top(place)
    unit = place if top is None else below(top, place.relative_to(top).partition("/")[2])
    storage = FeedStorage.of(feed, cluster)
    if unit == place:
        _require_unannounced(work.stores(place), place, storage.at(parse_instant(instance_key)), feed, cluster)
    bases = (cluster.place(each.base) for each in storage.templates.values())
    pool = WorkerPool(1, "feedctl-review")  # nothing is copied
    files = FileCopies(work=work, pool=pool, spec_of=context.choice.spec_of, executors_turn=threading.Lock())
    return GatedUnit(
        work=work,
        unit=unit,
        base=next((base for base in bases if place.is_within(base)), top or unit.parent),
        flag=feed.availability_flag or "",
        files=files,
        top=top,
    )


def _require_unannounced(
    system: FileSystem, place: CanonicalPath, stored: InstanceStorage, feed: Feed, cluster: Cluster
) -> None:
    flag, path = feed.availability_flag, stored.paths.get(LocationType.DATA)
    instance = None if path is None else cluster.place(path)
    has_renames = system.capabilities.atomic_rename
    if has_renames or instance is None or not (place == instance or place.is_within(instance)):
        raise CannotDecide(unit=str(place), why="it lies in no gate place, and only what waits there is removed")
    if not flag or is_there(system, instance.child(flag)):
        why = f"{flag} is there: it was announced" if flag else "no flag tells it from what was announced"
        raise CannotDecide(unit=str(place), why=f"{why}; see to it that nobody reads it, and remove it by hand")


@contextmanager
def _at_work(
    context: ActionContext, found: Verdict, run_key: str, clock: Clock
) -> Iterator[tuple[RunContext, Callable[[str, str], None]]]:
    """A run that holds what the action would hold, and writes into the audit file."""
    enveloped = Enveloped(
        name="quality",
        ledger=context.use.ledger,
        audit=audit_place(context.snapshot, context.repository.settings, context.variables),
        process=context.process,
        clock=clock,
        variables=context.variables,
    )
    with (
        opened_envelope(enveloped) as envelope,
        envelope.start(_start(context, found, run_key, envelope.lease_seconds)) as run,
    ):
        work = context.open(run, ())
        try:
            yield work, lambda state, reason: envelope.audit.write([{**_line(run, state, found), "reason": reason}])
        finally:
            work.close()


def _start(context: ActionContext, found: Verdict, run_key: str, seconds: float) -> StartRequest:
    return StartRequest(
        key=RunKey(
            life_cycle=LifeCycle.REVIEW,
            entity=found.feed,
            cluster=found.cluster,
            instance_key=found.instance_key,
            counterpart=found.counterpart,
        ),
        origin=origin_of(context, found.feed),
        leases=_leases(context, found, run_key),
        lease_seconds=seconds,
    )


def _leases(context: ActionContext, found: Verdict, run_key: str) -> tuple[Wanted, ...]:
    """Those of the action that wrote the data."""
    own = output_lease(found.feed, found.cluster, found.instance_key)
    if found.life_cycle is LifeCycle.EXECUTION:
        return (own, run_lease(JobRef(process=found.entity, cluster=found.cluster, instance_key=run_key)))
    table = FeedStorage.of(context.repository.feed(found.feed), context.repository.cluster(found.cluster)).table
    if table is not None:
        return (own, *table_leases(found.cluster, name_of(table), found.instance_key))
    return (own, copy_lease(found.feed, found.cluster, found.instance_key, found.counterpart))


def _line(run: ActiveRun, state: str, found: Verdict) -> dict[str, object]:
    return {
        "what": "quality",
        "state": str(state),
        "run": run.recorded.run_id,
        "entity": found.feed,
        "cluster": found.cluster,
        "instance_key": found.instance_key,
        "path": found.unit,
        "verdict": found.verdict_id,
        "data": found.data_digest,
        "suites": found.suites_digest,
    }


def _options(asked: DecisionOptions, clock: Clock) -> ActionOptions:
    clusters = () if asked.cluster is None else (asked.cluster,)
    return ActionOptions(
        selection=EntitySelection(names=(asked.feed,), clusters=clusters, all_clusters=not clusters),
        repo=asked.repo,
        nominal_time=clock.now().replace(second=0, microsecond=0),
        dry_run=False,
        allow_dirty=False,
    )


def _stakes(context: ActionContext) -> Sequence[tuple[Feed, Cluster]]:
    return context.pairs
