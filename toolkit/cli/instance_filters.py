"""The options of `feedctl instance`, from text to values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.cli.filters import BadOption
from toolkit.cli.instance_options import OrderBy, SortOrder
from toolkit.el import parse_instant
from toolkit.entities.nearest import suggestion
from toolkit.ledger.runs.finding import RunOrder
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.locations import AskedRange, managed_entity
from toolkit.management.rows import View

if TYPE_CHECKING:
    from toolkit.cli.instance_given import Given
    from toolkit.entities.repository import Repository
    from toolkit.management.locations import ManagedEntity

_ORDERS = {
    OrderBy.STATUS: RunOrder.STATUS,
    OrderBy.START: RunOrder.START,
    OrderBy.END: RunOrder.END,
    OrderBy.CLUSTER: RunOrder.CLUSTER,
    OrderBy.INSTANCE: RunOrder.INSTANCE,
}
_KEYS = ("STATUS", "CLUSTER", "STARTEDAFTER")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """What `--filter-by` says."""

    statuses: tuple[RunStatus, ...] = ()
    clusters: tuple[str, ...] = ()
    started_after: datetime | None = None


def view_of(given: Given) -> View:
    """Which rows are wanted, in which order.

    Raises:
        BadOption: `--filter-by` has an unknown key, or a value that the key cannot have.
    """
    filters = filters_of(given.filter_by)
    return View(
        statuses=filters.statuses,
        started_after=filters.started_after,
        order=_ORDERS[given.order_by],
        is_descending=None if given.sort_order is None else given.sort_order is SortOrder.DESC,
        offset=given.offset,
        limit=given.limit,
        all_attempts=given.all_attempts,
    )


def asked_range(start: str | None, end: str | None) -> AskedRange:
    """What `--start` and `--end` say.

    Raises:
        ElError: a text is no instant.
        EndWithoutStart, EmptyRange: see `AskedRange`.
    """
    return AskedRange(
        start=None if start is None else parse_instant(start), end=None if end is None else parse_instant(end)
    )


def managed_by(
    repository: Repository, name: str, life_cycle: LifeCycle | None, cluster: str | None, filters: Iterable[str] = ()
) -> ManagedEntity:
    """The entity of a command, on the clusters that `--cluster` and `--filter-by CLUSTER:` leave.

    Raises:
        BadOption: they leave none.
        InvalidInput: see `managed_entity`.
    """
    return managed_entity(repository, name, life_cycle, wanted_clusters(cluster, tuple(filters)))


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


def filters_of(texts: Iterable[str]) -> Filters:
    """What `--filter-by` says, several conditions in a text or in several; two of one key mean either.

    Raises:
        BadOption: an unknown key, or a value that the key cannot have.
    """
    found = list(_pairs(texts))
    after = [_instant(value) for key, value in found if key == "STARTEDAFTER"]
    return Filters(
        statuses=tuple(_status(value) for key, value in found if key == "STATUS"),
        clusters=tuple(value for key, value in found if key == "CLUSTER"),
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


def _status(text: str) -> RunStatus:
    try:
        return RunStatus(text.lower())
    except ValueError as error:
        expected = f"one of {', '.join(RunStatus)}; {suggestion(text.lower(), list(RunStatus))}"
        raise BadOption(option="--filter-by STATUS", found=text, expected=expected) from error


def _instant(text: str) -> datetime:
    try:
        return parse_instant(text)
    except ValueError as error:
        expected = "an instant such as 2026-03-01T06:40Z"
        raise BadOption(option="--filter-by STARTEDAFTER", found=text, expected=expected) from error
