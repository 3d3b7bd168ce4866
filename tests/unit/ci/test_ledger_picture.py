"""docs/reference/ledger.svg shows every table, column and key, and no two tables in one place."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from toolkit.ledger.tables import metadata

_PICTURE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "ledger.svg").read_text(encoding="utf-8")
_BOX = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def _boxes() -> list[tuple[float, ...]]:
    return [tuple(map(float, found)) for found in _BOX.findall(_PICTURE)]


def test_every_table_and_column_is_there() -> None:
    shown = {}
    for group in re.findall(r"<g>(.*?)</g>", _PICTURE, re.DOTALL):
        name, *rows = re.findall(r"<text(?! [^>]*text-anchor)[^>]*>([^<]*)</text>", group)
        shown[name] = rows
    assert shown == {name: list(table.columns.keys()) for name, table in metadata.tables.items()}


def test_every_key_has_a_line_with_one_arrow() -> None:
    keys = sum(len(column.foreign_keys) for table in metadata.tables.values() for column in table.columns)
    assert len(re.findall(r'fill="none" stroke=', _PICTURE)) == keys
    assert _PICTURE.count("<circle") == keys


def test_tables_stand_apart_and_within_the_picture() -> None:
    boxes = _boxes()
    assert len(boxes) == len(metadata.tables)
    for (x, y, width, height), (left, top, right, bottom) in combinations(boxes, 2):
        assert x + width < left or left + right < x or y + height < top or top + bottom < y
    (size,) = _SIZE.findall(_PICTURE)
    assert max(x + width for x, _, width, _ in boxes) < float(size[0])
    assert max(y + height for _, y, _, height in boxes) < float(size[1])
