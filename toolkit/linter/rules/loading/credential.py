"""A credential says in exactly one way where the password is."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="credential",
    name="A credential says in exactly one way where the password is",
    severity=Severity.ERROR,
    rationale="With env and file given nobody knows which password is used; with neither there is none.",
    bad="""\
# datasources/crm.yaml
credential: {user: reader, env: CRM_PASSWORD, file: /etc/crm.password}
""",
    good="""\
# datasources/crm.yaml
credential: {user: reader, env: CRM_PASSWORD}
""",
    source="DESIGN section 4",
)
