"""Writes a month of the template's `clicks` feed below ROOT: hour by hour, two countries, the same bytes each time.

A few things that retention must leave alone lie among it.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

END = datetime(2026, 3, 20, 12, tzinfo=UTC)
"""The demo's nominal time; the newest instance is the hour before."""
HOURS = 30 * 24
COUNTRIES = ("DE", "US")
PAGES = ("/home", "/checkout")
BYSTANDERS = ("clicks/README.txt", "clicks/2026/03/notes/todo.txt", "clicks_meta/columns.txt")


def _click(hour: datetime, minute: int) -> str:
    page = PAGES[minute % 7 % len(PAGES)]
    return json.dumps({"at": f"{hour:%Y-%m-%dT%H}:{minute:02}Z", "page": page}) + "\n"


def write_instance(root: Path, hour: datetime) -> None:
    """One hour: its data, its availability flag and its statistics."""
    name = f"{hour:%Y/%m/%d/%H}"
    for index, country in enumerate(COUNTRIES):
        part = root / "clicks" / name / country / "fra" / "part-00000.json"
        part.parent.mkdir(parents=True)
        part.write_text("".join(_click(hour, 2 * minute + index) for minute in range(12)))
    (root / "clicks" / name / "_SUCCESS").touch()
    statistics = root / "clicks_stats" / name / "rows.txt"
    statistics.parent.mkdir(parents=True)
    statistics.write_text(f"{len(COUNTRIES)}\n")


def main(root: Path) -> int:
    """Writes it all."""
    for back in range(HOURS, 0, -1):
        write_instance(root, END - timedelta(hours=back))
    for name in BYSTANDERS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("not an instance\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) / "data"))
