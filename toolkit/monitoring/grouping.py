"""Groups of alerts that one message tells together; pure (issue 32).

Alerts of a group share a thread of messages, and what closes goes to the thread that told of its opening.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from toolkit.entities.monitoring import GroupAlerts

if TYPE_CHECKING:
    from toolkit.ledger.alert_rows import Alert
    from toolkit.notify.message import MessageEvent
    from toolkit.notify.routing import MessageRoute

K = TypeVar("K")


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertNews:
    """Event of an alert of which a message is due.

    Attributes:
        alert: the alert as it is now.
        event: what happened to it.
        domain: of its entity; empty: none.
        routes: who gets the message.
    """

    alert: Alert
    event: MessageEvent
    domain: str
    routes: tuple[MessageRoute, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertGroup:
    """Alerts that one message tells together.

    Attributes:
        event: what happened to them.
        thread: that the message belongs to.
        alerts: at least one, by number.
        of: so many alerts have the same event, those that other recipients are told of too.
        is_storm: they are of several groups, which were too many for a message each.
        routes: who gets the message.
    """

    event: MessageEvent
    thread: str
    alerts: tuple[Alert, ...]
    of: int
    is_storm: bool = False
    routes: tuple[MessageRoute, ...]


def grouped(
    news: Iterable[AlertNews],
    at: datetime,
    *,
    group_by: GroupAlerts,
    storm_limit: int,
    incident_channels: Collection[str] = (),
) -> list[AlertGroup]:
    """Return the groups of which a message each is sent; a recipient is told only of alerts that are routed to it.

    Args:
        news: of a pass.
        at: the time of the pass, in UTC.
        group_by: what alerts are grouped by.
        storm_limit: when more groups of a cluster have the same event, they become one message.
        incident_channels: channels whose receiver keeps an incident for each thread: they get a message for each
            thread that they know, however many these are, or an incident would never end.
    """
    found: list[AlertGroup] = []
    for (_, cluster), together in _by(news, lambda each: (each.event, each.alert.key.cluster)).items():
        buckets = _buckets(together, group_by)
        if len(buckets) > storm_limit:
            thread = f"storm/{cluster}/{at:%Y-%m-%dT%H:%MZ}"
            merged, separate = _split(together, incident_channels)
            found += _groups(thread, merged, is_storm=True)
            buckets = _buckets(separate, group_by)
        for thread, of_thread in buckets.items():
            found += _groups(thread, of_thread)
    return found


def _split(news: Sequence[AlertNews], incident_channels: Collection[str]) -> tuple[list[AlertNews], list[AlertNews]]:
    """Return the news that become one message, and those that incident channels get by thread nevertheless."""
    merged, separate = [], []
    for each in news:
        to_incidents = tuple(route for route in each.routes if route.channel in incident_channels)
        if each.alert.thread is None or not to_incidents:
            merged.append(each)
            continue
        merged.append(replace(each, routes=tuple(route for route in each.routes if route not in to_incidents)))
        separate.append(replace(each, routes=to_incidents))
    return merged, separate


def _buckets(news: Iterable[AlertNews], group_by: GroupAlerts) -> dict[str, list[AlertNews]]:
    """Return news by thread: the one that they have, or else that of their group or of their only instance."""
    found: dict[str, list[AlertNews]] = {}
    for thread, together in _by(news, lambda each: each.alert.thread or _group_name(each, group_by)).items():
        key = together[0].alert.key
        is_single = len(together) == 1 and together[0].alert.thread is None and group_by is GroupAlerts.FEED
        name = f"{thread}/{key.instance_key}" if is_single and key.instance_key else thread
        found.setdefault(name, []).extend(together)
    return found


def _group_name(news: AlertNews, group_by: GroupAlerts) -> str:
    key = news.alert.key
    if group_by is GroupAlerts.CLUSTER and key.cluster:
        return f"cluster/{key.cluster}"
    if group_by is GroupAlerts.DOMAIN and news.domain:
        return f"domain/{news.domain}/{key.cluster}"
    return f"{key.entity or key.kind}/{key.cluster}"


def _groups(thread: str, news: Sequence[AlertNews], *, is_storm: bool = False) -> Iterator[AlertGroup]:
    """Yield a group for each set of alerts that recipients get."""
    of_route: dict[MessageRoute, list[Alert]] = {}
    for each in news:
        for route in each.routes:
            of_route.setdefault(route, []).append(each.alert)
    by_alerts: dict[tuple[int, ...], list[MessageRoute]] = {}
    for route, alerts in sorted(of_route.items()):
        by_alerts.setdefault(tuple(sorted(alert.alert_id for alert in alerts)), []).append(route)
    known = {each.alert.alert_id: each.alert for each in news}
    for numbers, routes in by_alerts.items():
        yield AlertGroup(
            event=news[0].event,
            thread=thread,
            alerts=tuple(known[number] for number in numbers),
            of=len(news),
            is_storm=is_storm,
            routes=tuple(routes),
        )


def _by(news: Iterable[AlertNews], key: Callable[[AlertNews], K]) -> dict[K, list[AlertNews]]:
    found: dict[K, list[AlertNews]] = {}
    for each in news:
        found.setdefault(key(each), []).append(each)
    return found
