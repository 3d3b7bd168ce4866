"""An end point is a URL or host:port, and has no password in it."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-url",
    name="An end point is a URL or host:port, and has no password in it",
    severity=Severity.ERROR,
    rationale="A password in the repo is known to everyone who can read it, and to its history for ever.",
    bad="""\
# repo.yaml
ledger: "postgresql+psycopg://feedctl:sesame@db/feedctl"
""",
    good="""\
# repo.yaml
ledger: "postgresql+psycopg://feedctl:${env:LEDGER_PASSWORD}@db/feedctl"
""",
    source="DESIGN section 4",
)
