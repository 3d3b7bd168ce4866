"""A config repo has a repo.yaml at its root."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="missing-repo-yaml",
    name="A config repo has a repo.yaml at its root",
    severity=Severity.ERROR,
    rationale=(
        "Without it nothing says that this folder is a config repo, and its safety limits and environments are unknown."
    ),
    bad="""\
# clusters/primary.yaml, and no repo.yaml beside clusters/
kind: cluster
name: primary
""",
    good="""\
# repo.yaml
name: web-feeds
""",
    source="DESIGN section 4",
)
