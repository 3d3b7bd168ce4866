"""An environment that repo.yaml names has a file and is listed."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-environment",
    name="An environment that repo.yaml names has a file and is listed",
    severity=Severity.ERROR,
    rationale="A command would run without the values that were meant for it.",
    bad="""\
# repo.yaml, and no environments/staging.yaml
environments: [staging]
""",
    good="""\
# repo.yaml, and environments/prod.yaml
environments: [prod]
""",
    source="DESIGN section 4",
)
