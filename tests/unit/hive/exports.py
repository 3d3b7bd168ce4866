"""Exports and imports of a scene's tables, into and out of directories on this disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from tests.unit.hive.test_table_import import FROM, KEY, TO, URI, Life, Scene
from toolkit.actions.copy_limits import CopyLimits
from toolkit.actions.model import ItemResult, Problem
from toolkit.el import CanonicalPath, parse_instant
from toolkit.hive.action import TableAction
from toolkit.hive.batches import Mode
from toolkit.hive.sources import ExportSource, MetastoreSource
from toolkit.hive.table_context import TableContext
from toolkit.hive.table_export import TableExport
from toolkit.hive.table_import import TableImport
from toolkit.hive.targets import ImportRules, TableItem, TablePlan, TableTarget
from toolkit.ledger.vocabulary import LifeCycle


def exported(
    scene: Scene, directory: Path, meanwhile: Callable[[], None] = lambda: None, life: Life | None = None
) -> list[Problem]:
    """What fails of an export of the whole source, when something happens after each batch; dies with its life."""
    source = MetastoreSource(catalog=scene.catalog(scene.source), uri=lambda _: URI)

    def mode(context: TableContext) -> Mode:
        return TableExport(source=source, context=context)

    return _ran(scene, mode, replace(_target(directory), table=FROM, is_export=True), meanwhile, life)


def imported(scene: Scene, directory: Path, instant: datetime | None = None) -> list[Problem]:
    """Return what fails of an import into the target."""
    source, catalog = ExportSource(uri=lambda _: URI), scene.catalog(scene.target)

    def mode(context: TableContext) -> Mode:
        return TableImport(source=source, catalog=catalog, context=context)

    validation = scene.action()[1].validation
    return _ran(scene, mode, replace(_target(directory), instant=instant, validation=validation))


def _target(directory: Path) -> TableTarget:
    return TableTarget(
        feed="clicks",
        cluster="backup",
        instance_key=KEY,
        instant=None,
        table=TO,
        directory=CanonicalPath.parse(f"file://{directory}"),
        rules=ImportRules(at_once=1),
    )


def _ran(
    scene: Scene,
    mode: Callable[[TableContext], Mode],
    target: TableTarget,
    meanwhile: Callable[[], None] = lambda: None,
    life: Life | None = None,
) -> list[Problem]:
    scene.run += 1
    scene.hook = lambda: None
    work = scene.work(life or Life())
    action = TableAction(
        name="hive_export",
        life_cycle=LifeCycle.EXPORT,
        mode_of=mode,
        nominal=parse_instant(KEY),
        limits=CopyLimits(instances=100),
        address=lambda target: f"{target.table}@{target.instance_key}",
    )
    plan: TablePlan = action.plan(target, work)
    if plan.failed is not None:
        return [plan.failed]
    results: list[ItemResult[TableItem]] = []
    for batch in action.batches(plan, work):
        results += batch.apply(lambda _: None).results
        meanwhile()
    return [Problem(code=each.code, message=each.message) for each in results if each.code]
