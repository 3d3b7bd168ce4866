"""An environment that has a file is listed in repo.yaml."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unlisted-environment",
    name="An environment that has a file is listed in repo.yaml",
    severity=Severity.ERROR,
    rationale=(
        "The list is the place to see what exists; a file that is not in it is most often a mistake in its name."
    ),
    bad="""\
# repo.yaml, and environments/prd.yaml
environments: []
""",
    good="""\
# repo.yaml, and environments/prod.yaml
environments: [prod]
""",
    source="DESIGN section 4",
)
