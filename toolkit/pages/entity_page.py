"""Page of a feed or process: its facts, actions, alerts, instances, newest runs and definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from toolkit.el import format_instant
from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository
from toolkit.ledger.entity_history import InstanceAttempt, InstanceEvent
from toolkit.ledger.errors import moment
from toolkit.ledger.open_alerts import OpenAlert
from toolkit.ledger.runs.queries import FAILURES, OPEN
from toolkit.ledger.validations import UNDECIDED, ValidationResult
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.management.situation import LATE_KINDS
from toolkit.pages.folder import page_name
from toolkit.pages.templating import GridCell, PageCell, PageSection, PageView
from toolkit.rendering.documents import leaf_rows
from toolkit.rendering.overview import OVERVIEW_COLUMNS, STATE_STYLES

CELLS = 500
"""Instances of an older page; the first page has up to twice as many, so that older pages stay as they are."""
MOST_DUE = 60
"""Newest due instances of which nothing may be recorded, on each cluster."""
_RUNS = 20
_NOT_OF_DATA = (LifeCycle.EVICTION, LifeCycle.EXPORT)
"""Actions whose failure says nothing about the data of the instance."""

Place = tuple[str, str]
"""Instance key and cluster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityHistory:
    """History of an entity, from the ledger, and the newest instances that are due."""

    attempts: Sequence[InstanceAttempt]
    events: Sequence[InstanceEvent]
    alerts: Sequence[OpenAlert]
    results: Sequence[ValidationResult]
    due: Sequence[Place]


def path_of(entity: Feed | Process) -> str:
    """Return the path of the page of an entity."""
    return f"{entity.KIND.folder}/{page_name(entity.name)}.html"


def older_path(entity: Feed | Process, number: int) -> str:
    """Return the path of a page of older instances, numbered from the oldest."""
    return f"{entity.KIND.folder}/{page_name(entity.name)}/instances-{number}.html"


def due_positions(entity: Feed | Process, cluster: str, at: datetime) -> range:
    """Return the positions of the newest instances that are due, in the sequence of the cluster."""
    return entity.instances_on(cluster).positions(entity.cluster(cluster).validity.start, at)[-MOST_DUE:]


def newest_due(entity: Feed | Process, clusters: Sequence[str], at: datetime) -> Iterator[Place]:
    """Yield the newest instances that are due on each cluster."""
    for cluster in clusters:
        sequence = entity.instances_on(cluster)
        yield from ((format_instant(sequence[each]), cluster) for each in due_positions(entity, cluster, at))


def instance_cells(history: EntityHistory) -> Mapping[Place, GridCell]:
    """Return the state of each instance, the newest first: of its data, and what is wrong with it or runs now."""
    found = dict.fromkeys(history.due, ("waiting", "nothing is recorded"))
    for event in history.events:
        run = f"by run {event.run_id}" if event.run_id else "from outside"
        found[event.instance_key, event.cluster] = (str(event.kind), run)
    for each in history.attempts:
        place, text = (each.instance_key, each.cluster), f"{each.life_cycle}, run {each.run_id}, attempt {each.attempt}"
        is_execution = each.life_cycle is LifeCycle.EXECUTION
        if is_execution or (each.status in {*FAILURES, *OPEN} and each.life_cycle not in _NOT_OF_DATA):
            found[place] = (str(each.status), text)
    for result in history.results:
        if result.state in UNDECIDED and not result.is_by_hand:
            found[result.instance_key, result.cluster] = ("blocked", f"validation result {result.verdict_id}")
    for alert in history.alerts:
        if alert.kind in LATE_KINDS and alert.instance_key:
            state = "missing" if alert.level == "high" else "late"
            found[alert.instance_key, alert.cluster] = (state, f"{alert.kind} alert {alert.alert_id}")
    return {
        place: GridCell(state, f"{place[0]} {state}, {text}")
        for place, (state, text) in sorted(found.items(), reverse=True)
    }


def entity_pages(
    repository: Repository,
    entity: Feed | Process,
    history: EntityHistory,
    actions: Sequence[Sequence[str]],
    extra: Sequence[PageSection] = (),
) -> Iterator[tuple[str, PageView]]:
    """Yield path and content of the pages of an entity's older instances, and of its own page at the end.

    Args:
        repository: all entities.
        entity: the feed or process.
        history: of it.
        actions: rows of `feedctl status --entities`.
        extra: further sections, as of validation results and lineage.
    """
    cells = list(instance_cells(history).items())
    first = len(cells) if len(cells) < 2 * CELLS else CELLS + len(cells) % CELLS
    pages = (len(cells) - first) // CELLS
    for number in range(1, pages + 1):
        part = cells[first + (pages - number) * CELLS :][:CELLS]
        newer = PageCell("newer", older_path(entity, number + 1) if number < pages else path_of(entity))
        section = PageSection(heading="Instances", grids=_grids(part), links=[newer, *_links(entity, number - 1)])
        back = [(entity.KIND, [PageCell(entity.name, path_of(entity))])]
        view = PageView(title=f"{entity.name}: older instances {number}", facts=back, sections=[section])
        yield older_path(entity, number), view
    yield (
        path_of(entity),
        PageView(
            title=entity.name,
            lead=[entity.description] if entity.description else [],
            facts=list(_facts(entity)),
            sections=[
                PageSection(heading="Alerts", headings=ALERT_COLUMNS, rows=alert_rows(repository, history.alerts)),
                PageSection(heading="Actions", headings=OVERVIEW_COLUMNS, rows=[_action(each) for each in actions]),
                PageSection(heading="Instances", grids=_grids(cells[:first]), links=_links(entity, pages)),
                *extra,
                PageSection(heading="Runs", headings=_RUN_COLUMNS, rows=_runs(history.attempts)),
                _definition(repository, entity.name),
            ],
        ),
    )


def _links(entity: Feed | Process, number: int) -> list[PageCell]:
    """Return the link to a page of older instances; only to the next, or each new page would change them all."""
    return [PageCell("older", older_path(entity, number))] if number else []


def _grids(cells: Sequence[tuple[Place, GridCell]]) -> list[tuple[str, list[GridCell]]]:
    clusters: dict[str, list[tuple[str, GridCell]]] = {}
    for (key, cluster), cell in cells:
        clusters.setdefault(cluster, []).append((key, cell))
    return [
        (f"{cluster}: {own[0][0]} back to {own[-1][0]}", [cell for _, cell in own])
        for cluster, own in sorted(clusters.items())
    ]


def _facts(entity: Feed | Process) -> Iterator[tuple[str, list[PageCell]]]:
    yield "Kind", [PageCell(entity.KIND)]
    if entity.owner:
        yield "Owner", [PageCell(entity.owner)]
    yield "Every", [PageCell(f"{entity.frequency}, days in {entity.timezone}")]
    yield (
        "Clusters",
        [
            PageCell(f"{each.name} ({each.validity})", f"lists/cluster-{page_name(each.name)}.html")
            for each in entity.clusters
        ],
    )
    if entity.tags:
        yield "Tags", [PageCell(f"{key}={value}") for key, value in sorted(entity.tags.items())]
    if isinstance(entity, Process):
        if entity.domain:
            yield "Domain", [PageCell(entity.domain, f"lists/domain-{page_name(entity.domain)}.html")]
        named = {"Pipelines": entity.pipelines}
    else:
        named = {"Groups": entity.groups}
    yield from ((name, [PageCell(each) for each in values]) for name, values in named.items() if values)
    if entity.sla is not None:
        limits = ((name, value) for name, value in asdict(entity.sla).items() if value is not None)
        yield "SLA", [PageCell(f"{name} {getattr(entity.sla, name)}") for name, _ in limits]


def _action(row: Sequence[str]) -> list[PageCell]:
    return [PageCell(text, state=text if text in STATE_STYLES else "") for text in row]


ALERT_COLUMNS = ("entity", "level", "kind", "cluster", "instance", "since", "message")


def alert_rows(repository: Repository, alerts: Sequence[OpenAlert]) -> list[list[PageCell]]:
    """Return a row for each alert."""
    return [
        [
            entity_cell(repository, each.entity),
            PageCell(each.level, state="high" if each.level == "high" else "late"),
            *map(PageCell, (each.kind, each.cluster, each.instance_key, moment(each.opened_at), each.message)),
        ]
        for each in alerts
    ]


def entity_cell(repository: Repository, name: str) -> PageCell:
    """Return the name of an entity, with its page if it has one."""
    entity = repository.feeds.get(name) or repository.processes.get(name)
    return PageCell(name, "" if entity is None else path_of(entity))


_RUN_COLUMNS = ("instance", "status", "action", "cluster", "run", "attempt", "started", "ended", "reason")


def _runs(attempts: Sequence[InstanceAttempt]) -> list[list[PageCell]]:
    newest = sorted(attempts, key=lambda each: each.run_id, reverse=True)[:_RUNS]
    return [
        [
            PageCell(each.instance_key),
            PageCell(each.status, state=each.status),
            *map(PageCell, (each.life_cycle, each.cluster, each.run_id, each.attempt)),
            *(PageCell("" if at is None else moment(at)) for at in (each.started_at, each.ended_at)),
            PageCell(each.reason or ""),
        ]
        for each in newest
    ]


def _definition(repository: Repository, name: str) -> PageSection:
    origins = {pointer: str(origin) for pointer, origin in repository.origins(name).items()}
    rows = [[PageCell(text) for text in row] for row in leaf_rows(repository.merged(name), origins)]
    return PageSection(heading="Definition", headings=("key", "value", "from"), rows=rows, is_folded=True)
