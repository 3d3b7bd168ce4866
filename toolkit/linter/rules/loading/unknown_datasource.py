"""A datasource that is referred to exists."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-datasource",
    name="A datasource that is referred to exists",
    severity=Severity.ERROR,
    rationale="An import or export without its database cannot run.",
    bad="""\
# feeds/customers.yaml
clusters:
  - name: primary
    import: {source: {name: cmr, table_name: customers, extract: {type: full}}}
""",
    good="""\
# feeds/customers.yaml
clusters:
  - name: primary
    import: {source: {name: crm, table_name: customers, extract: {type: full}}}
""",
    source="Falcon feature list, Import / export",
)
