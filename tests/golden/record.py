"""What a run told everybody, in a form that is the same at each place and time."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.described import faults
from toolkit.rendering.document_schemas import DocumentName

_TABLES: Mapping[str, Sequence[str]] = {
    "run": ("life_cycle", "entity", "cluster", "instance_key", "attempt", "status", "reason", "exit_code"),
    "item": ("run_id", "position", "kind", "instance_key", "path", "state", "code", "message"),
    "event": ("kind", "feed", "cluster", "instance_key", "uri"),
    "lease": ("resource", "mode"),
}
_OF_THE_MACHINE = ("at", "who", "host", "pid")


@dataclass(kw_only=True)
class Record:
    """Runs over one config repo.

    Attributes:
        ledger: the SQLite file; its audit file is beside it.
        words: what differs from place to place, with what is written instead.
    """

    ledger: Path
    words: Mapping[str, str]
    runs: list[object] = field(default_factory=list)

    def add(self, exit_code: int, printed: str) -> None:
        """A run has ended."""
        result = json.loads(printed) if printed else None
        assert result is None or not (wrong := faults(result, DocumentName.RETENTION, "result")), wrong
        self.runs.append({"exit_code": exit_code, "result": result})

    def text(self) -> str:
        """Return the whole record."""
        document = {"runs": self.runs, "audit": self._audit(), "ledger": self._rows()}
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        for word, instead in self.words.items():
            text = text.replace(word, instead)
        return self._without_what_differs(text)

    def _audit(self) -> list[object]:
        file = self.ledger.with_name("ledger.audit.jsonl")
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        wrong = [fault for line in lines for fault in faults(line, DocumentName.AUDIT, line["what"])]
        assert not wrong, wrong
        return [{name: line[name] for name in line if name not in _OF_THE_MACHINE} for line in lines]

    def _rows(self) -> Mapping[str, object]:
        if not self.ledger.exists():
            return {}
        connection = sqlite3.connect(self.ledger)
        try:
            return {table: self._rows_of(connection, table, columns) for table, columns in _TABLES.items()}
        finally:
            connection.close()

    @staticmethod
    def _rows_of(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> list[object]:
        known = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        assert known >= set(columns), f"{table} has {sorted(known)}"
        rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid")  # noqa: S608 - ours
        return [list(row) for row in rows]

    @staticmethod
    def _without_what_differs(text: str) -> str:
        """Digests are over paths of this machine: each is named in the order in which it comes; now is always now."""
        found: dict[str, str] = {}
        text = re.sub(r"\b[0-9a-f]{64}\b", lambda match: found.setdefault(match[0], f"<digest {len(found) + 1}>"), text)
        text = re.sub(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<now>", text)  # instants of ours have no seconds
        text = re.sub(r"its process \d+ on \S+ is gone", "its process <pid> on <host> is gone", text)
        return re.sub(r'"tzdata": "[^"]*"', '"tzdata": "<tzdata>"', text)
