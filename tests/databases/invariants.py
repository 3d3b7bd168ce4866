"""The rules that every ledger keeps, whatever happened to whoever used it; the SQL files beside this one state them."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa

_RULE = re.compile(r"^-- RULE (.+)\n((?:.+\n)+)", re.MULTILINE)


def _read(name: str) -> dict[str, str]:
    return dict(_RULE.findall(Path(__file__).with_name(name).read_text()))


INVARIANTS = _read("invariants.sql")
"""For each rule a query for what breaks it."""
DELIVERIES = _read("deliveries.sql")
"""Rules of the queue alone: each batch is there once for each step."""


def violations(connection: sa.Connection, *, deliveries: bool = False) -> list[str]:
    """The rules that a ledger breaks, each with what breaks it."""
    rules = INVARIANTS | DELIVERIES if deliveries else INVARIANTS
    found = ((rule, connection.exec_driver_sql(query).all()) for rule, query in rules.items())
    return [f"{rule}: broken by {', '.join(str(tuple(row)) for row in rows[:5])}" for rule, rows in found if rows]
