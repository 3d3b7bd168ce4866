"""Writes the pages of docs/reference, or of DIRECTORY, from the code: `reference.py [DIRECTORY]`."""

from __future__ import annotations

import sys
from pathlib import Path

from reference_pages.commands import commands_page
from reference_pages.databases import databases_page
from reference_pages.entities import entities_page
from reference_pages.expectations import expectations_page
from reference_pages.expressions import expressions_page
from reference_pages.json_documents import json_page
from reference_pages.ledger import ledger_page
from reference_pages.metrics import alert_rules, dashboard, metrics_page
from reference_pages.rules import rules_page

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
PAGES = {
    "commands.md": commands_page,
    "database-types.md": databases_page,
    "entities.md": entities_page,
    "expectations.md": expectations_page,
    "expressions.md": expressions_page,
    "json.md": json_page,
    "ledger.md": ledger_page,
    "metrics-alerts.yaml": alert_rules,
    "metrics-dashboard.json": dashboard,
    "metrics.md": metrics_page,
    "rules.md": rules_page,
}


def main(directory: Path) -> int:
    """Writes the pages."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, made in PAGES.items():
        (directory / name).write_text(made(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if sys.argv[1:] else REFERENCE))
