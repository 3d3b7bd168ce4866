"""All pages of an installation: those whose inputs have changed are rendered, the others are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import entity_kind
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.entity_history import history_marks, instance_attempts, instance_events
from toolkit.ledger.open_alerts import OpenAlert, open_alerts
from toolkit.ledger.validations import ValidationResult, findings_of, newest_of, recent_results
from toolkit.lineage.columns import column_graph
from toolkit.lineage.entity_lineage import entity_graph
from toolkit.lineage.graph import LineageGraph
from toolkit.management.locations import chosen_clusters
from toolkit.management.overview import Overview, OverviewRow
from toolkit.management.situation import Situation, situation
from toolkit.pages.entity_page import EntityHistory, due_positions, entity_pages, newest_due, path_of
from toolkit.pages.folder import PageFolder, page_name
from toolkit.pages.lineage_page import (
    GRAPH_PATH,
    TABLES_PATH,
    drawn_part,
    graph_view,
    lineage_section,
    near_entity,
    table_views,
)
from toolkit.pages.overview_page import EntitySummary, list_views, overview_view
from toolkit.pages.templating import NavigationLink, PageTemplates, PageView, assets
from toolkit.pages.validation_page import result_path, result_values, results_section
from toolkit.rendering.overview import overview_rows

NAVIGATION = (
    NavigationLink("index.html", "Overview"),
    NavigationLink("lists/feeds.html", "Feeds"),
    NavigationLink("lists/processes.html", "Processes"),
    NavigationLink("lists/quality.html", "Quality"),
    NavigationLink(GRAPH_PATH, "Lineage"),
    NavigationLink(TABLES_PATH, "Tables"),
)
_WELL = {"ok", "submitted", "completed", ""}
_COLUMNS = 50_000
"""Columns of all tables whose lineage is shown."""
_LISTED = 50
"""Rows of each list of the overview."""
_RESULTS, _RECENT = 20, 200
"""Validation results with a page of each feed, and in the list of all."""
_INDEX = "search-index.js"


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltPages:
    """Number of pages that there are, were written and were removed."""

    pages: int
    written: int
    removed: int


def build_pages(
    ledger: Ledger, repository: Repository, files: Mapping[str, bytes], out: Path, *, site: str, snapshot: str
) -> BuiltPages:
    """Write the pages of an installation to a folder.

    Args:
        ledger: of the runs.
        repository: all entities.
        files: content of the configuration files that they were read from.
        out: the folder.
        site: name of the config repo.
        snapshot: that it was read from, in words.

    Raises:
        FolderTaken: the folder has files of others.
        PagesNotWritten: the folder cannot be written.
        NoTemplates: Jinja is not installed.
        LedgerUnavailable: the ledger cannot be read now.
    """
    templates = PageTemplates(site=site, navigation=NAVIGATION)
    with PageFolder.opened(out) as folder:
        builder = _Builder(ledger=ledger, repository=repository, files=files, templates=templates, folder=folder)
        builder.build(situation(ledger, repository, limit=_LISTED), snapshot)
    return BuiltPages(pages=folder.pages, written=folder.written, removed=folder.removed)


@dataclass(frozen=True, kw_only=True)
class _Builder:
    ledger: Ledger
    repository: Repository
    files: Mapping[str, bytes]
    templates: PageTemplates
    folder: PageFolder

    def build(self, found: Situation, snapshot: str) -> None:
        alerts = self.ledger.read(open_alerts)
        summaries = list(self._summaries(found.overview, alerts))
        for path, text in assets():
            self.folder.write(path, text)
        self.folder.write(_INDEX, self._search_index(summaries))
        marks = self.ledger.read(history_marks)
        graph = entity_graph(self.repository)
        flow = drawn_part(graph)
        for each in summaries:
            near = near_entity(flow, each.entity.KIND, each.entity.name)
            self._entity(each, found.overview, marks.get(each.entity.name, ""), near)
        self._lineage(graph, {each.entity.name: each.state for each in summaries if each.state not in _WELL})
        recent = results_section(self.ledger.read(lambda tx: recent_results(tx, _RECENT)), self.folder.has)
        self._write("lists/quality.html", PageView(title="Validation results", sections=[recent]))
        self._write("index.html", overview_view(self.repository, found, snapshot, summaries))
        for path, view in list_views(self.repository, summaries):
            self._write(path, view)

    def _summaries(self, overview: Overview, alerts: Sequence[OpenAlert]) -> Iterator[EntitySummary]:
        rows, open_of = dict[str, list[OverviewRow]](), dict[str, list[OpenAlert]]()
        for row in overview.rows:
            rows.setdefault(row.entity, []).append(row)
        for alert in alerts:
            open_of.setdefault(alert.entity, []).append(alert)
        for each in self.repository.entities():
            if isinstance(each, Feed | Process):
                yield EntitySummary(entity=each, rows=rows.get(each.name, ()), alerts=open_of.get(each.name, ()))

    def _lineage(self, graph: LineageGraph, states: Mapping[str, str]) -> None:
        """Write the graph of all entities, and the columns of tables; nothing is drawn that was drawn before."""
        flow = drawn_part(graph, states)
        columns = self.ledger.read(
            lambda tx: column_graph(tx, self.repository, None, up=False, depth=1, limit=_COLUMNS)
        )
        pages: list[tuple[str, object, Callable[[], PageView]]] = [(GRAPH_PATH, flow, lambda: graph_view(flow))]
        for path, made_from, view in [*pages, *table_views(drawn_part(columns))]:
            inputs = _digest((self.templates.digest, made_from))
            if not self.folder.keep(path, inputs):
                self._write(path, view(), inputs)

    def _entity(self, summary: EntitySummary, overview: Overview, mark: str, near: LineageGraph) -> None:
        """Write the pages of an entity, unless they were made from the same."""
        entity = summary.entity
        actions = list(overview_rows(replace(overview, rows=tuple(summary.rows))))
        clusters = chosen_clusters(self.repository, entity, ())
        due = [due_positions(entity, each, overview.at) for each in clusters]
        file = self.repository.file_of(entity.name)  # its path is in the page, as where values come from
        made_from = (self._shared, file, self.files[file], mark, actions, due, summary.alerts)
        drawn = [(key, each.name, each.facts) for key, each in near.vertices.items()]  # dataclasses are slow to repr
        lines = [(each.source, each.target, each.kind.value) for each in near.edges]
        inputs = _digest((*made_from, drawn, lines, near.cut_at))
        below = [f"{folder}/{page_name(entity.name)}/" for folder in (entity.KIND.folder, "quality")]
        if self.folder.keep(path_of(entity), inputs, *below):
            return
        results = self._results(entity) if isinstance(entity, Feed) else []
        history = self.ledger.read(
            lambda tx: EntityHistory(
                attempts=instance_attempts(tx, entity.name),
                events=instance_events(tx, entity.name) if isinstance(entity, Feed) else (),
                alerts=summary.alerts,
                results=results,
                due=tuple(newest_due(entity, clusters, overview.at)),
            )
        )
        extra = [lineage_section(near, entity.KIND, entity.name), results_section(results, self.folder.has)]
        for path, view in entity_pages(self.repository, entity, history, actions, extra):
            self._write(path, view, inputs if path == path_of(entity) else "")

    def _results(self, feed: Feed) -> list[ValidationResult]:
        """Write the pages of the newest validation results of a feed, and return these results."""

        def read(tx: Transaction) -> list[tuple[ValidationResult, dict[str, object]]]:
            found = newest_of(tx, feed.name, most=_RESULTS)
            findings = findings_of(tx, [each.verdict_id for each in found])
            return [(each, result_values(tx, each, findings[each.verdict_id], path_of(feed))) for each in found]

        found = self.ledger.read(read)
        for each, values in found:
            self._render(result_path(each), "validation.html", values)
        return [each for each, _ in found]

    @cached_property
    def _shared(self) -> str:
        """Digest of what each page is made from: templates and the files that are no entity, as of environments."""
        files = sorted((name, data) for name, data in self.files.items() if entity_kind(name) is None)
        return _digest((self.templates.digest, files))

    def _write(self, path: str, view: PageView, inputs: str = "") -> None:
        self._render(path, "sections.html", {"view": view}, inputs)

    def _render(self, path: str, template: str, values: Mapping[str, object], inputs: str = "") -> None:
        inputs = inputs or _digest((self.templates.digest, values))
        if not self.folder.keep(path, inputs):
            self.folder.write(path, self.templates.render(template, path, values), inputs)

    def _search_index(self, summaries: Sequence[EntitySummary]) -> str:
        rows = [
            [each.entity.KIND, each.entity.name, path_of(each.entity), _searched(each.entity)] for each in summaries
        ]
        return f"window.feedctlIndex = {json.dumps(rows)};\n"


def _searched(entity: Feed | Process) -> str:
    named = entity.groups if isinstance(entity, Feed) else (*entity.pipelines, entity.domain or "")
    tags = (f"{key}={value}" for key, value in entity.tags.items())
    return " ".join([entity.name, entity.owner or "", *named, *tags, entity.description or ""]).lower()


def _digest(values: object) -> str:
    return hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()
