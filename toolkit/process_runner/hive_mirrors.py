"""Mirrors of the tables of databases (`type: hive`), which work in the run of their process (ADR 0106)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.action import copy_counters
from toolkit.actions.model import Problem
from toolkit.catalog.errors import CatalogError
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.errors import Failed, InvalidInput
from toolkit.hive.mirror_drops import total
from toolkit.hive.mirror_events import ChangedTables, changed_tables, scope_of
from toolkit.hive.mirror_tables import DatabaseChanges, TableMirror, is_refusal
from toolkit.hive.targets import ImportRules, SchemaChange
from toolkit.mirror.model import MirrorRemoval, removal_digest
from toolkit.process_runner.mirrors import MirrorAction, failed, refuse_excess, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import TableName
    from toolkit.entities import Cluster
    from toolkit.entities.mirror_work import HiveMirror
    from toolkit.hive.mirror_recovery import EarlierRuns
    from toolkit.hive.sources import Catalog
    from toolkit.planning.delete_limits import DeleteLimits
    from toolkit.process_runner.targets import ProcessPlan, ProcessTarget

_MEGABYTE = 1024 * 1024
_TABLES = 8
"""So many tables at once, unless the mirror says another number: each of them asks both metastores."""
_NAMED = 5


class TablesFailed(CatalogError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Some tables of a mirror are not as the source has them; the others are."""

    code = "tables_failed"
    text = "not all tables could be mirrored; the next run begins with these"


@dataclass(frozen=True, kw_only=True)
class HiveMirrors(MirrorAction):
    """Mirrors of tables of a run, by the settings of their processes.

    Attributes:
        cluster: the cluster of a name; raises InvalidInput for one that is not there, or not of the environment.
        catalog: opens the metastore of a cluster; raises InvalidInput when it has none.
        earlier: runs of a mirror on a cluster, by the ledger.
        limits: of what one run of a mirror drops at its target.
        approve: digest of drops that may exceed the limits.
        is_dry_run: planning an instance compares all tables; else the run does.
    """

    cluster: Callable[[str], Cluster]
    catalog: Callable[[Cluster], Catalog]
    earlier: Callable[[str, str], EarlierRuns]
    limits: DeleteLimits
    approve: str | None = None
    is_dry_run: bool = False

    @override
    def planned(self, plan: ProcessPlan, work: RunContext) -> ProcessPlan:
        try:
            mirror = self._mirror(plan.target, work)
            changed = self._changed(plan.target, mirror)
            noted = replace(plan, notes=(*plan.notes, *([changed.note] if changed.note else ())))
            if not self.is_dry_run:
                return noted
            found = self._changes(plan.target, mirror, changed)
        except CatalogError as error:
            return failed(plan, Problem(code=error.code, message=str(error)))
        problems = [f"{each.name}: {each.problem.message}" for each in found.tables if each.problem is not None]
        noted = replace(noted, notes=(*noted.notes, *found.notes, *problems))
        return shown(noted, found, lambda: self.refuse(plan.target, mirror, found))

    @override
    def run(self, plan: ProcessPlan, work: RunContext) -> Counter[str] | Problem:
        """Mirror; see `TableMirror`.

        Raises:
            CatalogError: a metastore does not answer; or `TablesFailed`.
        """
        target = plan.target
        mirror = self._mirror(target, work)
        changed = self._changed(target, mirror)
        changes = self._changes(target, mirror, changed)
        self.refuse(target, mirror, changes)
        report = plan.detail.report
        report.say(f"mirror of {mirror.clusters[0]} to {mirror.clusters[1]}: {changes.basis}")
        for note in filter(None, (changed.note, *changes.notes)):
            report.say(note)
        outcome = mirror.apply(changes)
        counted, lasting = outcome.counters, {each for each, why in outcome.failed.items() if not is_refusal(why)}
        cursor = changed.reached(lasting) if outcome.called_off is None else None
        counted.update({} if cursor is None else cursor.counters)
        counted.update(EVENTS=changed.count)
        if not outcome.failed and outcome.called_off is None:
            return counted
        work.write_ledger(copy_counters(counted))
        if outcome.called_off is not None:
            raise outcome.called_off
        for name, why in outcome.failed.items():
            report.say(f"{name}: {why.message}")
        message = _named(outcome.failed, len(changes.tables))
        if lasting:
            raise TablesFailed(about=f"mirror {target.entity}", detail=message)
        return Problem(code=TablesFailed.code, message=message)

    def _mirror(self, target: ProcessTarget, work: RunContext) -> TableMirror:
        settings = _settings(target)
        clusters = [self.cluster(each) for each in (settings.source_cluster, settings.target_cluster)]
        source, into = map(self.catalog, clusters)
        ends = [each.interfaces.registry.endpoint for each in clusters if each.interfaces.registry is not None]
        if ends[0] == ends[-1]:
            message = f"the clusters {clusters[0].name} and {clusters[1].name} have one metastore, {ends[0]}"
            raise InvalidInput(message)
        most = settings.max_maps
        at_once = min(settings.replication_max_maps or _TABLES, most or _TABLES)
        rules = ImportRules(
            schema_change=SchemaChange.REPLACE,
            at_once=None if most is None else most // at_once,
            bandwidth=inf if settings.map_bandwidth is None else float(settings.map_bandwidth) * _MEGABYTE,
        )
        return TableMirror(
            name=target.entity,
            clusters=(clusters[0].name, clusters[1].name),
            nominal=target.nominal_time,
            instance_key=target.instance_key,
            source=source,
            target=into,
            rules=rules,
            drops=settings.on_source_delete is GoneAtSource.DELETE,
            at_once=at_once,
            work=work,
            earlier=self.earlier(target.entity, target.cluster),
        )

    def _changed(self, target: ProcessTarget, mirror: TableMirror) -> ChangedTables:
        """Return the tables that changed by the events of the source, if the mirror is to read them."""
        settings = _settings(target)
        if settings.max_events is None:
            return ChangedTables(first=None)
        ends = [str(self.cluster(each).interfaces.registry) for each in mirror.clusters]
        scope = scope_of(*ends, *settings.source_databases, "", *settings.source_tables, settings.on_source_delete)
        return changed_tables(mirror.source.metastore, mirror.earlier.cursor, scope, settings.max_events)

    def _changes(self, target: ProcessTarget, mirror: TableMirror, changed: ChangedTables) -> DatabaseChanges:
        """Compare the tables that events name, those that one side lacks, or all.

        Raises:
            InvalidInput: the source has none of the tables, and the target has some that would go.
        """
        settings = _settings(target)
        here, there = mirror.names(settings.source_databases, settings.source_tables)
        lost = there - here
        for database in {each.database for each in lost} - {each.database for each in here}:
            if mirror.drops:
                message = f"the source has no table of the mirror in {database}, and the target has; nothing is dropped"
                raise InvalidInput(message)
        wanted = here if changed.first is None else {*(here & changed.first.keys()), *(here - there)}
        return mirror.planned(wanted, lost if mirror.drops else ())

    def refuse(self, target: ProcessTarget, mirror: TableMirror, changes: DatabaseChanges) -> None:
        """Return when a plan is within the limits.

        Raises:
            MirrorRemovesTooMuch: it is not.
            CatalogError: the metastore of the target does not answer.
        """
        drops = changes.drops
        if not drops:
            return
        settings, metastore = _settings(target), mirror.target.metastore
        gone = sum(map(len, drops))
        kept = total(metastore, [each.lower() for each in settings.source_databases]) - gone
        root = mirror.target.policy.place(metastore.database_location(drops[0].name.database))
        digest = removal_digest([mirror.clusters, sorted([str(each.name), *sorted(each.places)] for each in drops)])
        size = sum(each.bytes for each in drops)
        found = MirrorRemoval(paths=gone, size=size, kept=max(kept, 0), digest=digest)
        refuse_excess(mirror.name, root, found, self.limits, self.approve, "partitions and tables without them")


def _settings(target: ProcessTarget) -> HiveMirror:
    mirror = target.site.process.workflow.mirror
    assert mirror is not None  # noqa: S101 - the callers have looked
    assert mirror.hive is not None  # noqa: S101
    return mirror.hive


def _named(problems: Mapping[TableName, Problem], compared: int) -> str:
    """Return the failures in words, refusals first, since only a person ends them."""
    order = sorted(problems.items(), key=lambda each: (not is_refusal(each[1]), each[0]))
    texts = [f"{name}: {why.message}" for name, why in order[:_NAMED]]
    more = f"; and {len(order) - _NAMED:,} more" if len(order) > _NAMED else ""
    return f"{len(order):,} of {compared:,} tables: {'; '.join(texts)}{more}"
