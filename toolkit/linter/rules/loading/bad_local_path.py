"""A local file is named by a path that needs no shell to be read."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-local-path",
    name="A local file is named by a path that needs no shell to be read",
    severity=Severity.ERROR,
    rationale=(
        "The file is opened by this name on the machine that the action runs on: a URL, `~` or `${HOME}` would become "
        "a folder of that name. Variables of the environment are written `${env:NAME}`."
    ),
    bad="""\
# repo.yaml
audit_file: ~/feedctl/audit.jsonl
""",
    good="""\
# repo.yaml
audit_file: ${env:HOME}/feedctl/audit.jsonl
""",
    source="DESIGN section 6",
)
