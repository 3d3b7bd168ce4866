"""Steps of `feedctl instance` between its options and its output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from toolkit.cli.instance_options import InstanceFlags, OrderBy, SortOrder
from toolkit.cli.option_values import BadOption, MissingOption, instant_of
from toolkit.cli.options import OutputFormat, print_rows
from toolkit.cli.streams import say
from toolkit.el import parse_instant
from toolkit.entities.errors import UnknownName
from toolkit.entities.nearest import suggestion
from toolkit.ledger.runs.queries import RunOrder
from toolkit.ledger.vocabulary import RunStatus
from toolkit.management.locations import (
    ManagedEntity,
    RequestedRange,
    chosen_clusters,
    default_life_cycle,
    managed_entity,
    runnable,
)
from toolkit.management.questions import InstanceList, running_instances
from toolkit.management.rows import View
from toolkit.rendering.instances import answer_document, answer_table, instance_document, instance_table
from toolkit.rendering.tables import STATUS_STYLES

if TYPE_CHECKING:
    from toolkit.cli.flags import RepoFlags
    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger
    from toolkit.management.commands import CommandResult

_ORDERS = {
    OrderBy.STATUS: RunOrder.STATUS,
    OrderBy.START: RunOrder.START,
    OrderBy.END: RunOrder.END,
    OrderBy.CLUSTER: RunOrder.CLUSTER,
    OrderBy.INSTANCE: RunOrder.INSTANCE,
}
_Found = TypeVar("_Found")
_KEYS = ("STATUS", "CLUSTER", "SOURCECLUSTER", "STARTEDAFTER")


_Status = TypeVar("_Status", bound=StrEnum)


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters(Generic[_Status]):
    """Filters of `--filter-by`."""

    statuses: tuple[_Status, ...] = ()
    clusters: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    started_after: datetime | None = None


def answer(
    options: InstanceFlags, repo: RepoFlags, question: Callable[[Ledger, ManagedEntity, RequestedRange, View], _Found]
) -> _Found:
    """Return the ledger's answer to a question about the instances that the options choose.

    Raises:
        BadOption: an option has a value that it cannot have, or two leave no cluster.
        InvalidInput: no such entity or range, no usable config repo or ledger.
        LedgerUnavailable: the database cannot be used now.
    """
    requested, view = requested_range(options), _view(options)
    with repo.opened(writing=False) as (ledger, repository):
        managed = _managed(repository, options, is_question=True)
        if options.life_cycle is None and managed.life_cycle is not default_life_cycle(managed.entity):
            say(f"note: {managed.name} has only {managed.life_cycle} here, so that is shown")
        return question(ledger, managed, requested, view)


def answer_running(options: InstanceFlags, repo: RepoFlags) -> InstanceList:
    """Return the running instances of an entity; raises as `answer` does."""
    view, wanted = (
        _view(options),
        wanted_clusters(options.cluster, filters_of(options.filter_by or (), RunStatus).clusters),
    )
    with repo.opened(writing=False) as (ledger, repository):
        clusters = chosen_clusters(repository, runnable(repository, options.name), wanted)
        return running_instances(ledger, options.name, clusters, options.life_cycle, view)


def carry_out(verb: str, options: InstanceFlags, repo: RepoFlags) -> CommandResult:
    """Do to the instances that the options choose what the command says; raises as `answer` does."""
    from toolkit.management.commands import CommandRequest, command_instances
    from toolkit.management.decisions import InstanceCommand
    from toolkit.runs.recorder import current_user

    if options.first is None:
        raise MissingOption(option="--time", command=f"instance {verb}")
    requested, view = requested_range(options), _view(options)
    with repo.opened(writing=True) as (ledger, repository):
        request = CommandRequest(
            command=InstanceCommand(verb),
            managed=_managed(repository, options),
            requested=requested,
            view=view,
            who=current_user(),
            reason=options.reason,
            is_forced=options.force,
        )
        return command_instances(ledger, request)


def requested_range(options: InstanceFlags) -> RequestedRange:
    """The range that `--start` and `--end`, or `--time`, name.

    Raises:
        InvalidInput: they name none.
    """
    return RequestedRange(
        start=None if options.first is None else parse_instant(options.first),
        end=None if options.end is None else parse_instant(options.end),
    )


def _view(options: InstanceFlags) -> View:
    """Return which rows are wanted, in which order."""
    filters = filters_of(options.filter_by or (), RunStatus)
    return View(
        statuses=filters.statuses,
        sources=filters.sources,
        started_after=filters.started_after,
        order=_ORDERS[options.order_by],
        is_descending=None if options.sort_order is None else options.sort_order is SortOrder.DESC,
        offset=options.offset,
        limit=options.limit,
        all_attempts=options.all_attempts,
    )


def _managed(repository: Repository, options: InstanceFlags, *, is_question: bool = False) -> ManagedEntity:
    """The entity, on the clusters that `--cluster` and `--filter-by CLUSTER:` leave."""
    filters = filters_of(options.filter_by or (), RunStatus)
    clusters = wanted_clusters(options.cluster, filters.clusters)
    managed = managed_entity(repository, options.name, options.life_cycle, clusters, is_question=is_question)
    known = [each.counterpart for each in managed.locations if each.counterpart]
    for name in filters.sources:
        if name not in known:
            raise UnknownName(
                what="source cluster", name=name, known=known, where=f"{managed.life_cycle} of {managed.name}"
            )
    return managed


def wanted_clusters(cluster: str | None, filters: tuple[str, ...]) -> tuple[str, ...]:
    """The clusters that are named; empty: all.

    Raises:
        BadOption: the two options leave none.
    """
    if cluster is None or not filters:
        return filters if cluster is None else (cluster,)
    if cluster not in filters:
        raise BadOption(option="--filter-by", found=f"CLUSTER:{filters[0]}", expected=f"{cluster}, as --cluster says")
    return (cluster,)


def filters_of(texts: Iterable[str], statuses: type[_Status]) -> Filters[_Status]:
    """Return the filters of `--filter-by`, several conditions in a text or in several; two of one key mean either.

    Args:
        texts: as they were given.
        statuses: that instances can have.

    Raises:
        BadOption: an unknown key, or a value that the key cannot have.
    """
    found = list(_pairs(texts))
    after = [instant_of("--filter-by STARTEDAFTER", value) for key, value in found if key == "STARTEDAFTER"]
    return Filters(
        statuses=tuple(_status(value, statuses) for key, value in found if key == "STATUS"),
        clusters=tuple(value for key, value in found if key == "CLUSTER"),
        sources=tuple(value for key, value in found if key == "SOURCECLUSTER"),
        started_after=max(after, default=None),
    )


def _pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in ",".join(texts).split(","):
        if not text.strip():
            continue
        key, colon, value = text.strip().partition(":")
        if key.upper() not in _KEYS or not colon or not value:
            hint = suggestion(key.upper(), _KEYS)
            raise BadOption(option="--filter-by", found=text, expected=f"KEY:VALUE, for example STATUS:failed; {hint}")
        yield key.upper(), value


def _status(text: str, statuses: type[_Status]) -> _Status:
    try:
        return statuses(text.lower())
    except ValueError as error:
        expected = f"one of {', '.join(statuses)}; {suggestion(text.lower(), list(statuses))}"
        raise BadOption(option="--filter-by STATUS", found=text, expected=expected) from error


def print_instances(found: InstanceList, output: OutputFormat) -> None:
    """Print the rows that a question found."""
    columns, rows = instance_table(found)
    print_rows(output, lambda: instance_document(found), columns, rows, STATUS_STYLES, nothing="no such instances")
    if output is OutputFormat.TEXT and found.on_queue and any(row.run is None for row in found.rows):
        where = f"{found.name} works off the queue on {', '.join(found.on_queue)}, so its jobs stand for no instance"
        say(f"note: {where}; without --time and --start they are listed")


def print_answers(result: CommandResult, output: OutputFormat) -> None:
    """Print what a command did to each instance, and to how many."""
    columns, rows = answer_table(result)
    print_rows(output, lambda: answer_document(result), columns, rows, STATUS_STYLES, nothing="no such instances")
    if output is OutputFormat.TEXT:
        print(f"{result.changed} of {len(result.answers)} changed")
