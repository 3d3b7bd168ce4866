"""The ledger is a SQLite file or a PostgreSQL database, and its URL has no password in it."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-ledger-url",
    name="The ledger is a SQLite file or a PostgreSQL database, and its URL has no password in it",
    severity=Severity.ERROR,
    rationale=(
        "The ledger is tested on these two, SQLite for one machine and PostgreSQL for a team. One in memory "
        "(`sqlite://`) would forget with each command what is running. A password in the repo is known to everyone who "
        "can read it, and to its history for ever."
    ),
    bad="""\
# repo.yaml
ledger: "postgresql+psycopg://feedctl:sesame@db/feedctl"
""",
    good="""\
# repo.yaml
ledger: "postgresql+psycopg://feedctl:${env:LEDGER_PASSWORD}@db/feedctl"
""",
    source="DESIGN section 6",
)
