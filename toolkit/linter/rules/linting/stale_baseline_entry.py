"""A finding in the baseline still occurs."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="stale-baseline-entry",
    name="A finding in the baseline still occurs",
    severity=Severity.INFO,
    rationale="What was mended could come back unseen; writing the baseline anew removes the entry.",
    bad="""\
# lint-baseline.json holds a finding of a feed that was mended since.
""",
    good="""\
# lint-baseline.json, after `feedctl lint --baseline lint-baseline.json --write-baseline`
""",
    source="feedctl, linting",
    about_linting=True,
)
