"""What feedctl keeps beside the config repo is no part of it."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="own-file",
    name="What feedctl keeps beside the config repo is no part of it",
    severity=Severity.ERROR,
    rationale=(
        "Names that begin with `.feedctl` are those of the ledger, the audit file and what feedctl has at hand. A "
        "committed one would be a ledger that somebody else wrote, or a link with which the next run writes into any "
        "file of the user that it runs as."
    ),
    bad="""\
# .feedctl/ledger.audit.jsonl -> /home/etl/.profile, a link in the commit
""",
    good="""\
# .gitignore
.feedctl/
""",
    source="DESIGN section 6",
)
