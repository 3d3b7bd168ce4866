"""The plan of an ingest: which units are read, which files are put away, and what is one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.actions.model import ItemResult
from toolkit.actions.progress import NOTHING, Volume
from toolkit.ingest.errors import UnitChanged
from toolkit.ingest_job.source import SourceUnit
from toolkit.ingest_job.targets import PUT_AWAY, READ, WATERMARK, IngestDetail, IngestItem, IngestPlan
from toolkit.ingest_job.watermark import WatermarkChange, changed_watermark

if TYPE_CHECKING:
    from toolkit.ingest.port import TableState
    from toolkit.ingest_job.source import IngestSource, Progress
    from toolkit.ingest_job.targets import IngestTarget

GROUP_UNITS = 500
"""So many units are one batch at most; each batch ends with a commit, and its files are put away."""
SPREAD_UNITS, SPREAD_BYTES = 5_000, 32 << 30
"""Units and bytes of a batch that executors read, in several commits when it is large."""


def planned(blank: IngestPlan, source: IngestSource, progress: Progress, state: TableState | None) -> IngestPlan:
    """Return the plan of a target: files that an earlier run left, then groups of units, each followed by its files.

    Args:
        blank: of the target.
        source: looked at now.
        progress: of the table.
        state: of the table; None: it does not exist yet.
    """
    target, kind = blank.target, PUT_AWAY.get(blank.target.after)
    units = source.units(progress)
    changed = [IngestItem(kind=READ, unit=unit) for unit in units if unit.change]
    items = [IngestItem(kind=kind, unit=unit) for unit in source.finished(progress)] if kind else []
    most = (SPREAD_UNITS, SPREAD_BYTES) if target.is_spread else (GROUP_UNITS, target.limits.bytes)
    for group in _grouped([unit for unit in units if not unit.change], *most):
        items.extend(IngestItem(kind=READ, unit=unit) for unit in group)
        items.extend(IngestItem(kind=kind, unit=unit) for unit in group if kind)
    reads = [item for item in items if item.kind == READ]
    new = (f"the table {target.table.name} is not there: the first commit creates it",) if state is None else ()
    watermark = None if changed or (state is None and not reads) else _watermark(target, state, source)
    if watermark is not None:
        items.append(IngestItem(kind=WATERMARK, unit=SourceUnit(name=target.table.name, start=0, end=None)))
    return replace(
        blank,
        detail=IngestDetail(source=source, progress=progress, watermark=watermark),
        items=tuple(items),
        unreadable=tuple(map(_changed, changed)),
        notes=(*source.notes, *new),
        volume=sum((Volume(files=1, bytes=item.bytes or 0) for item in reads), NOTHING),
    )


def _watermark(target: IngestTarget, state: TableState | None, source: IngestSource) -> WatermarkChange | None:
    """Return the new watermark of a source that is read to its end; None: no further instance may close with it."""
    looked = None if target.watermark is None else source.complete_at(target.watermark)
    if looked is None:
        return None
    properties = {} if state is None else state.properties
    return changed_watermark(properties, looked, source.young, target.instances, target.close_after)


def _changed(item: IngestItem) -> ItemResult[IngestItem]:
    return ItemResult.failed(item, UnitChanged.code, f"{item.uri}: {item.unit.change}")


def _grouped(units: Sequence[SourceUnit], most: int, most_bytes: int) -> Iterator[list[SourceUnit]]:
    """Yield units in groups of at most so many, and of about so many bytes."""
    group: list[SourceUnit] = []
    size = 0
    for unit in units:
        group.append(unit)
        size += most_bytes if unit.end is None else unit.end - unit.start
        if size >= most_bytes or len(group) == most:
            yield group
            group, size = [], 0
    if group:
        yield group


def batch_ranges(items: Sequence[IngestItem], most: int = GROUP_UNITS) -> Iterator[tuple[str, range]]:
    """Yield the ranges of items that are a batch; each has one kind, and a group ends where its files are put away."""
    start, size = 0, 0
    for at, item in enumerate(items):
        size += 1
        is_last = at + 1 == len(items)
        if is_last or items[at + 1].kind != item.kind or size == most:
            yield item.kind, range(start, at + 1)
            start, size = at + 1, 0


def last_read(items: Sequence[IngestItem]) -> int:
    """Return the position behind the last unit that is read."""
    return max((at + 1 for at, item in enumerate(items) if item.kind == READ), default=0)
