"""The watermark of a table, and the files of its source that are too young to be read.

A file that still changes may have begun before the look that finds it. So a look that finds such files is no watermark
at once: it is remembered in the table with their names, and is one as soon as a later look finds none of them young.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.el import format_instant, parse_instant
from toolkit.ingest.port import WATERMARK_PROPERTY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime, timedelta

    from toolkit.ingest_job.instances import IngestInstances

AWAITED_PROPERTY = "feedctl.awaited"
"""Table property: a look that becomes the watermark, and what has to be read before: JSON; or empty."""
MOST_AWAITED = 1_000
"""So many files are remembered at most; while there are more young ones, no instance closes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WatermarkChange:
    """Table properties of a watermark.

    Attributes:
        watermark: the source had until then what is in the table once all is read; None: it stays as it is.
        awaited: see `AWAITED_PROPERTY`.
    """

    watermark: datetime | None
    awaited: str = ""

    @property
    def properties(self) -> dict[str, str]:
        """Return the table properties."""
        moved = {} if self.watermark is None else {WATERMARK_PROPERTY: format_instant(self.watermark)}
        return {**moved, AWAITED_PROPERTY: self.awaited}


def changed_watermark(
    properties: Mapping[str, str],
    looked: datetime,
    young: Collection[str],
    instances: IngestInstances,
    close_after: timedelta,
) -> WatermarkChange | None:
    """Return the change that lets another instance close, now or later; None: none does.

    Args:
        properties: of the table.
        looked: the source was looked at then.
        young: keys of the files that the look left to a later run.
        instances: of the feed.
        close_after: so long after its end an instance closes.
    """
    text = properties.get(WATERMARK_PROPERTY)
    old = None if text is None else parse_instant(text)
    at, awaited = _awaited(properties.get(AWAITED_PROPERTY, ""))
    candidate = looked if not young else at if at is not None and awaited.isdisjoint(young) else None

    def moves(instant: datetime) -> bool:
        if old is None:
            return True
        return instances.over_before(max(old, instant) - close_after) != instances.over_before(old - close_after)

    if candidate is not None and moves(candidate):
        return WatermarkChange(watermark=candidate if old is None else max(old, candidate))
    if not young or not moves(looked) or len(young) > MOST_AWAITED or (at is not None and candidate is None):
        return None
    document = {"at": format_instant(looked), "files": sorted(young)}
    return WatermarkChange(watermark=None, awaited=json.dumps(document))


def _awaited(text: str) -> tuple[datetime | None, frozenset[str]]:
    if not text:
        return None, frozenset()
    document = json.loads(text)
    return parse_instant(document["at"]), frozenset(document["files"])
