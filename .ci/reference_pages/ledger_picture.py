"""docs/reference/ledger.svg: the tables of the ledger and what refers to what."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import sqlalchemy as sa

from reference_pages.ledger_layout import HEADER, ROW, WIDTH, Box, Layout, Line

_COLOURS = {
    "process": "#1b7f4b",
    "step": "#b8600b",
    "run": "#1f5fbf",
    "batch": "#8a3ab0",
    "server": "#8a6d00",
    "resource": "#b3261e",
}
_OTHER = "#5b6470"
_FONT = "DejaVu Sans, Verdana, sans-serif"
_STYLE = f"""text {{ font: 11px {_FONT}; fill: #1c2128; }}
.name {{ font-weight: bold; fill: #ffffff; font-size: 12px; }}
.key {{ font-weight: bold; }}
.absent {{ fill: #7a838e; font-style: italic; }}"""


def ledger_picture() -> str:
    """The picture; it says that it is generated."""
    layout = Layout()
    size = f'width="{layout.width:g}" height="{layout.height:g}" viewBox="0 0 {layout.width:g} {layout.height:g}"'
    return "\n".join(
        [
            "<!-- Written by `make docs` from the code; changes made here get lost. -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            "<title>The tables of the ledger</title>",
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *(_line(each) for each in layout.lines),
            *(part for box in layout.boxes.values() for part in _box(box)),
            "</svg>\n",
        ]
    )


def _colour(table: str) -> str:
    return _COLOURS.get(table, _OTHER)


def _line(line: Line) -> str:
    colour = _colour(line.target)
    (start_x, start_y), (end_x, end_y) = line.points[0], line.points[-1]
    way = " L".join(f"{x:g} {y:g}" for x, y in line.points)
    head = 7 if line.points[-2][0] < end_x else -7
    arrow = f"M{end_x:g} {end_y:g} l{-head} -4 v8 z"
    return (
        f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="1.4"/>'
        f'<path d="{arrow}" fill="{colour}"/><circle cx="{start_x:g}" cy="{start_y:g}" r="2.6" fill="{colour}"/>'
    )


def _box(box: Box) -> Iterator[str]:
    colour = _colour(box.table.name)
    place = f'x="{box.x:g}" y="{box.y:g}" width="{WIDTH}"'
    yield f"<g><title>{escape(box.table.comment or '')}</title>"
    yield f'<rect {place} height="{box.height:g}" rx="4" fill="#fbfcfd" stroke="{colour}"/>'
    yield f'<path d="{_cap(box)}" fill="{colour}"/>'
    yield f'<text class="name" x="{box.x + 8:g}" y="{box.y + 16:g}">{box.table.name}</text>'
    for each in box.table.columns:
        yield _row(box, each)
    yield "</g>"


def _cap(box: Box) -> str:
    """The heading, whose upper corners are round."""
    bottom = box.y + HEADER
    return f"M{box.x:g} {bottom:g} v{4 - HEADER} q0 -4 4 -4 h{WIDTH - 8} q4 0 4 4 v{HEADER - 4} z"


def _row(box: Box, column: sa.Column[object]) -> str:
    kind = "key" if column.primary_key else "absent" if column.nullable else ""
    y = box.row(column.name) + ROW / 4
    text = f'<text{f" class={chr(34)}{kind}{chr(34)}" if kind else ""} x="{box.x + 8:g}" y="{y:g}">{column.name}</text>'
    targets = [key.column.table.name for key in column.foreign_keys]
    marks = (
        f'<text x="{box.x + WIDTH - 8:g}" y="{y:g}" text-anchor="end" style="fill:{_colour(name)}">{name}</text>'
        for name in targets
    )
    return text + "".join(marks)
