from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.rendering.columns import Columns, ResultColumn


@dataclass(frozen=True)
class _Owner:
    name: str


@dataclass(frozen=True)
class _Found:
    key: str
    source: str
    owner: _Owner
    at: datetime | None = None
    parts: tuple[str, ...] = ()


_COLUMNS: Columns[_Found] = Columns(
    ResultColumn("instance", "key", "instance"),
    ResultColumn("source", "source?", "from", lambda found: f"from {found.source}" if found.source else None),
    "owner=owner.name",
    ResultColumn("at", "at", "seen"),
    "parts",
    ResultColumn("", lambda found: len(found.parts), "parts"),
)
_ONE = _Found("a", "", _Owner("ann"), datetime(2026, 3, 1, 6, 40, 5, tzinfo=UTC), ("x", "y"))


def test_one_definition_gives_the_document_and_the_row() -> None:
    assert _COLUMNS.documents([_ONE]) == [
        {"instance": "a", "source": None, "owner": "ann", "at": "2026-03-01T06:40:05Z", "parts": ["x", "y"]}
    ]
    assert _COLUMNS.headings == ("instance", "from", "seen", "parts")
    assert list(_COLUMNS.rows([_ONE])) == [["a", "-", "2026-03-01T06:40:05Z", "2"]]


def test_a_column_can_be_left_out_of_the_table_and_what_is_not_printable_forges_no_line() -> None:
    columns = _COLUMNS.without("from", "seen")
    assert columns.headings == ("instance", "parts")
    assert columns.cells(_Found("a\nb", "c", _Owner(""))) == ["a\\nb", "0"]
