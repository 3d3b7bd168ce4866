"""Overview of an installation, and lists of its entities by kind, cluster and domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolkit.el import format_instant
from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository
from toolkit.ledger.errors import moment
from toolkit.ledger.open_alerts import OpenAlert
from toolkit.ledger.runs.rows import Run
from toolkit.management.entity_filter import EntityFilter
from toolkit.management.overview import OverviewRow
from toolkit.management.situation import Situation
from toolkit.pages.entity_page import ALERT_COLUMNS, alert_rows, entity_cell, path_of
from toolkit.pages.folder import page_name
from toolkit.pages.templating import PageCell, PageSection, PageView

ROWS = 500
"""Entities on a page of a list."""
_STATES = ("stale", "failed", "late", "suspended", "running", "ok", "submitted", "completed", "")
"""The worst first."""
_NUMBERS = ("actions", "running", "waiting", "late", "alerts", "failed", "stale", "suspended", "backlog", "holds")


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySummary:
    """State of a feed or process on all of its clusters.

    Attributes:
        rows: of its actions.
        alerts: that are open.
    """

    entity: Feed | Process
    rows: Sequence[OverviewRow]
    alerts: Sequence[OpenAlert]

    @property
    def state(self) -> str:
        """The worst state of its actions; empty: it has none."""
        return min((self._state(each) for each in self.rows), key=_STATES.index, default="late" if self.alerts else "")

    def _state(self, row: OverviewRow) -> str:
        if row.stale_since is not None:
            return "stale"
        if row.failed:
            return "failed"
        if self.alerts:
            return "late"
        return "ok" if row.status == "running" and not row.running else str(row.status)

    @property
    def last_success(self) -> str:
        """Time of the newest success; empty: there was none."""
        ended = [each.last_success.ended_at for each in self.rows if each.last_success and each.last_success.ended_at]
        return moment(max(ended)) if ended else ""


def overview_view(
    repository: Repository, found: Situation, snapshot: str, summaries: Sequence[EntitySummary]
) -> PageView:
    """Return the overview: numbers of each cluster and domain, alerts, and runs that failed, wait or run."""
    overview = found.overview
    at = format_instant(overview.at.replace(second=0, microsecond=0))
    monitored = "never" if found.monitored_at is None else moment(found.monitored_at)
    clusters = [
        [
            PageCell(each.cluster or "none", f"lists/cluster-{page_name(each.cluster)}.html" if each.cluster else ""),
            *(PageCell(getattr(each, name)) for name in _NUMBERS),
        ]
        for each in found.clusters
    ]
    runs = {
        "Failed in the last 24 hours": (found.failures.rows, found.failures.total),
        "Waiting": (found.waiting.rows, found.waiting.total),
        "Running": ([each.run for each in found.running.rows], found.running.total),
    }
    return PageView(
        title="Overview",
        lead=["Safe mode is on: nothing starts."] if overview.safe_mode.is_on else [],
        facts=[
            ("As of", [PageCell(at)]),
            ("Config repo", [PageCell(snapshot)]),
            ("Last pass of the monitor", [PageCell(monitored)]),
        ],
        sections=[
            PageSection(heading="Clusters", headings=("cluster", *_NUMBERS), rows=clusters),
            PageSection(heading="Domains", headings=_DOMAIN_COLUMNS, rows=list(_domain_rows(repository, summaries))),
            PageSection(
                heading=f"Alerts: {found.alerts.total:,}",
                headings=ALERT_COLUMNS,
                rows=alert_rows(repository, found.alerts.rows),
            ),
            *(_run_section(repository, heading, rows, total) for heading, (rows, total) in runs.items()),
        ],
    )


def _run_section(repository: Repository, heading: str, runs: Sequence[Run], total: int) -> PageSection:
    rows = [
        [
            entity_cell(repository, each.entity),
            PageCell(each.status, state=each.status),
            *map(PageCell, (each.life_cycle, each.cluster, each.instance_key, each.run_id)),
            PageCell(each.reason or ""),
        ]
        for each in runs
    ]
    headings = ("entity", "status", "action", "cluster", "instance", "run", "reason")
    return PageSection(heading=f"{heading}: {total:,}", headings=headings, rows=rows)


_DOMAIN_COLUMNS = ("domain", "entities", "stale", "failed", "late", "suspended", "running", "ok")


def _domain_rows(repository: Repository, summaries: Sequence[EntitySummary]) -> Iterator[list[PageCell]]:
    for domain, names in domains(repository).items():
        counts = Counter(each.state for each in summaries if each.entity.name in names)
        yield [
            PageCell(domain, f"lists/domain-{page_name(domain)}.html"),
            PageCell(counts.total()),
            *(PageCell(counts[state], state=state if counts[state] else "") for state in _DOMAIN_COLUMNS[2:]),
        ]


def domains(repository: Repository) -> Mapping[str, frozenset[str]]:
    """Return the processes of each business domain and the feeds that they write."""
    named = sorted({each.domain for each in repository.processes.values() if each.domain})
    return {name: EntityFilter(domains=(name,)).names(repository) for name in named}


def list_views(repository: Repository, summaries: Sequence[EntitySummary]) -> Iterator[tuple[str, PageView]]:
    """Yield path and content of the lists of feeds and processes, and of the entities of each cluster and domain."""
    of_domain = domains(repository)
    chosen = {
        "feeds": ("Feeds", [each for each in summaries if isinstance(each.entity, Feed)]),
        "processes": ("Processes", [each for each in summaries if isinstance(each.entity, Process)]),
        **{
            f"cluster-{page_name(name)}": (
                f"Cluster {name}",
                [each for each in summaries if any(one.name == name for one in each.entity.clusters)],
            )
            for name in repository.clusters
        },
        **{
            f"domain-{page_name(name)}": (f"Domain {name}", [each for each in summaries if each.entity.name in names])
            for name, names in of_domain.items()
        },
    }
    for file, (title, entities) in chosen.items():
        ordered = sorted(entities, key=lambda each: (_STATES.index(each.state), each.entity.name))
        paths = [
            f"lists/{file}{f'.{number + 1}' if number else ''}.html" for number in range((len(ordered) - 1) // ROWS + 1)
        ] or [f"lists/{file}.html"]
        links = [PageCell(f"page {number}", path) for number, path in enumerate(paths, 1)] if len(paths) > 1 else []
        for number, path in enumerate(paths):
            rows = [_list_row(each) for each in ordered[number * ROWS :][:ROWS]]
            section = PageSection(heading=f"{len(ordered):,} entities", headings=_LIST_COLUMNS, rows=rows, links=links)
            yield path, PageView(title=title, sections=[section])


_LIST_COLUMNS = ("name", "state", "kind", "owner", "clusters", "last success", "failed", "alerts")


def _list_row(summary: EntitySummary) -> list[PageCell]:
    entity = summary.entity
    return [
        PageCell(entity.name, path_of(entity)),
        PageCell(summary.state, state=summary.state),
        PageCell(entity.KIND),
        PageCell(entity.owner or ""),
        PageCell(", ".join(each.name for each in entity.clusters)),
        PageCell(summary.last_success),
        PageCell(sum(each.failed for each in summary.rows)),
        PageCell(len(summary.alerts)),
    ]
