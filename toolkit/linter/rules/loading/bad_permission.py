"""A permission is octal, as 0750, 750 or 0x750, or * for whatever there is."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-permission",
    name="A permission is octal, as 0750, 750 or 0x750, or * for whatever there is",
    severity=Severity.ERROR,
    rationale="A permission that cannot be set would leave data open to everyone, or closed to its readers.",
    bad="""\
# feeds/clicks.yaml
acl: {permission: rwxr-x---}
""",
    good="""\
# feeds/clicks.yaml
acl: {permission: "0750"}
""",
    source="DESIGN section 8",
)
