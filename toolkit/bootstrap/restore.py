"""A restore from quarantine, wired: the feeds that have something there, by the manifests and not by the ledger."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.runner import Targets
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, opened_context, run_action
from toolkit.bootstrap.retention import resolver_of
from toolkit.catalog.errors import NoSuchDatabase, NoSuchTable, UnsupportedTable
from toolkit.el import CanonicalPath
from toolkit.entities.not_implemented import Area
from toolkit.retention import FeedTarget, PlanItem, RetentionDetail
from toolkit.retention.restorable import NothingToRestore, RestorableInstance, RestoreChoice, chosen, described
from toolkit.retention.restore import RestoreAction, reader_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolkit.actions.progress import Progress
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.retention import RetentionResult
    from toolkit.retention.quarantine_reader import QuarantineEntry, QuarantineReader
    from toolkit.runs.stop import StopSignal


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoreOptions:
    """Options of a restore besides those of every action.

    Attributes:
        run: the run that evicted what comes back; empty: any.
        instance_key: the instance; empty: all.
        manifest: URI of the one manifest; None: all.
    """

    run: str = ""
    instance_key: str = ""
    manifest: str | None = None

    def __str__(self) -> str:
        named = {"run": self.run, "instance": self.instance_key, "manifest": self.manifest}
        return ", ".join(f"{name} {value}" for name, value in named.items() if value) or "the chosen feeds"


def restore(
    own: RestoreOptions, options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress
) -> RetentionResult:
    """Bring instances back; arguments and errors are those of `run_action`.

    Raises:
        NothingToRestore: nothing of what was asked for is in quarantine.
    """
    wire = partial(_wire, own)
    return run_action(options, clock, process, progress, wire, Area.RETENTION, affected=_pairs)


def restorable(
    own: RestoreOptions, options: ActionOptions, clock: Clock, process: StopSignal
) -> tuple[RestorableInstance, ...]:
    """Return all that can be restored; errors are those of `run_action`."""
    with ExitStack() as stack:
        context = opened_context(replace(options, dry_run=True), clock, process, Area.RETENTION, stack, _pairs)
        choice = _choice(own, context)
        readers = [_reader(target, context) for target in resolver_of(context).restorable(context.pairs)]
        found = (described(reader, entry) for reader in readers for entry in _chosen(reader, choice))
        return tuple(sorted((each for each in found if each is not None), key=lambda each: (each.feed, each.path)))


def _wire(own: RestoreOptions, context: ActionContext) -> Wired[FeedTarget, PlanItem, RetentionDetail]:
    choice = _choice(own, context)
    found = resolver_of(context).restorable(context.pairs)
    targets = tuple(target for target in found if next(_chosen(_reader(target, context), choice), None) is not None)
    if not targets:
        raise NothingToRestore(wanted=str(own))
    return Wired(action=RestoreAction(choice=choice), targets=Targets(to_do=targets))


def _choice(own: RestoreOptions, context: ActionContext) -> RestoreChoice:
    manifest = None if own.manifest is None else _place(own.manifest, context)
    return RestoreChoice(own.run, own.instance_key, manifest)


def _place(text: str, context: ActionContext) -> CanonicalPath:
    aliases = {name: to for _, cluster in context.pairs for name, to in cluster.name_services.items()}
    return CanonicalPath.parse(text, aliases=aliases)


def _pairs(context: ActionContext) -> Iterable[tuple[Feed, Cluster]]:
    return context.pairs


def _reader(target: FeedTarget, context: ActionContext) -> QuarantineReader:
    stores = context.look(context.process).stores
    return reader_of(target, stores, context.process.check)


def _chosen(reader: QuarantineReader, choice: RestoreChoice) -> Iterator[QuarantineEntry]:
    """Yield what is chosen; of a table that is not there, or is none of Hive's, nothing is in quarantine."""
    with suppress(NoSuchTable, NoSuchDatabase, UnsupportedTable):
        yield from chosen(reader, choice)
