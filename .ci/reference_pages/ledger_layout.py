"""Where the tables of the ledger stand in the picture, and how its lines run.

The tables stand in columns by hand, so that most keys refer to the column beside; a new table needs a place here. Lines
run in the gutters between the columns, all keys to one table along one lane.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from reference_pages.unexplained import UnexplainedError
from toolkit.ledger.tables import metadata

COLUMNS = (
    ("event", "event_counter", "consumer_cursor", "item", "request", "lease", "resource"),
    ("run", "step_run", "process_log"),
    ("process", "step", "upstream", "step_input", "process_property"),
    ("batch", "queue", "archive", "command"),
    ("batch_instance", "file", "server", "hold", "entity_state", "safe_mode"),
)
WIDTH = 190
ROW = 17
HEADER = 24

_LOOPS_RIGHT = frozenset({3, 4})
"""Columns whose keys to a table of the same column run on the right of it; those of the others run on the left."""
_GAP = 16
_LANE = 11
_MARGIN = 16
_CHANNEL = 14


@dataclass(frozen=True, kw_only=True)
class Box:
    """A table in the picture."""

    table: sa.Table
    column: int
    x: float
    y: float

    @property
    def height(self) -> float:
        """With its heading."""
        return HEADER + ROW * len(self.table.columns) + 5

    def row(self, name: str) -> float:
        """The middle of a column's row."""
        return self.y + HEADER + ROW * (list(self.table.columns.keys()).index(name) + 0.5) + 2

    def side(self, *, right: bool) -> float:
        """The left or the right edge."""
        return self.x + WIDTH if right else self.x


@dataclass(frozen=True, kw_only=True)
class Lane:
    """Where the keys to one table run up and down in one gutter; gutter 0 is left of the first column."""

    gutter: int
    target: str

    @property
    def order(self) -> tuple[int, int, int]:
        """From left to right: lanes to tables on the left first, so that no line runs over the end of another one."""
        column = _column_of(self.target)
        place = COLUMNS[column].index(self.target)
        return self.gutter, column, -place if column < self.gutter else place


@dataclass(frozen=True, kw_only=True)
class Line:
    """A foreign key: the points that it runs through, from the key to what it refers to."""

    source: str
    target: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class _Key:
    source: sa.Column[object]
    target: sa.Column[object]

    @property
    def columns(self) -> tuple[int, int]:
        return _column_of(self.source.table.name), _column_of(self.target.table.name)

    @property
    def leaves_right(self) -> bool:
        """Whether the line begins on the right of the key's table."""
        source, target = self.columns
        return target > source or (target == source and source in _LOOPS_RIGHT)

    @property
    def arrives_right(self) -> bool:
        """Whether it ends on the right of the other table."""
        source, target = self.columns
        return target < source or (target == source and source in _LOOPS_RIGHT)

    @property
    def first_lane(self) -> Lane:
        return Lane(gutter=self.columns[0] + self.leaves_right, target=self.target.table.name)

    @property
    def last_lane(self) -> Lane:
        return Lane(gutter=self.columns[1] + self.arrives_right, target=self.target.table.name)


class Layout:
    """The whole picture."""

    @cached_property
    def boxes(self) -> dict[str, Box]:
        """The tables by name."""
        missing = sorted(set(metadata.tables) - {name for column in COLUMNS for name in column})
        if missing:
            raise UnexplainedError(what=", ".join(missing), where="COLUMNS of .ci/reference_pages/ledger_layout.py")
        return {box.table.name: box for place, column in enumerate(COLUMNS) for box in self._column(place, column)}

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The keys."""
        return tuple(self._line(key) for key in _keys())

    @property
    def width(self) -> float:
        """Of the picture."""
        return self._column_x(len(COLUMNS) - 1) + WIDTH + self._gutter_width(len(COLUMNS)) + _MARGIN

    @property
    def height(self) -> float:
        """Of the picture."""
        return max(box.y + box.height for box in self.boxes.values()) + _MARGIN

    @cached_property
    def _lanes(self) -> tuple[Lane, ...]:
        keys = _keys()
        lanes = {lane for key in keys for lane in (key.first_lane, key.last_lane)}
        return tuple(sorted(lanes, key=lambda lane: lane.order))

    def _column(self, place: int, names: tuple[str, ...]) -> Iterator[Box]:
        y: float = _MARGIN + _CHANNEL
        for name in names:
            box = Box(table=metadata.tables[name], column=place, x=self._column_x(place), y=y)
            yield box
            y += box.height + _GAP

    def _gutter_width(self, gutter: int) -> float:
        lanes = sum(lane.gutter == gutter for lane in self._lanes)
        return _LANE * (lanes + 2) if lanes or 0 < gutter < len(COLUMNS) else 0

    def _column_x(self, column: int) -> float:
        return _MARGIN + column * WIDTH + sum(self._gutter_width(each) for each in range(column + 1))

    def _lane_x(self, lane: Lane) -> float:
        place = [each for each in self._lanes if each.gutter == lane.gutter].index(lane)
        left = self._column_x(lane.gutter) if lane.gutter < len(COLUMNS) else self.width - _MARGIN
        return left - self._gutter_width(lane.gutter) + _LANE * (place + 1.5)

    def _line(self, key: _Key) -> Line:
        source, target = self.boxes[key.source.table.name], self.boxes[key.target.table.name]
        start = (source.side(right=key.leaves_right), source.row(key.source.name))
        end = (target.side(right=key.arrives_right), target.row(key.target.name))
        first, last = self._lane_x(key.first_lane), self._lane_x(key.last_lane)
        above = float(_MARGIN)
        way = [(first, start[1])] if first == last else [(first, start[1]), (first, above), (last, above)]
        points = (start, *way, (last, end[1]), end)
        return Line(source=source.table.name, target=target.table.name, points=points)


def _keys() -> list[_Key]:
    return [
        _Key(source=key.parent, target=key.column)
        for column in COLUMNS
        for name in column
        for each in metadata.tables[name].columns
        for key in each.foreign_keys
    ]


def _column_of(table: str) -> int:
    return next(place for place, names in enumerate(COLUMNS) if table in names)
