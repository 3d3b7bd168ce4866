"""An end point is a URL or host:port, and has no password in it."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-url",
    name="An end point is a URL or host:port, and has no password in it",
    severity=Severity.ERROR,
    rationale=(
        "Every path of a cluster's feeds is resolved against its end point, so that an end point which is no plain URL "
        "makes all of them wrong. A password in it is known to all who can read the repo, and to its history for ever."
    ),
    bad="""\
# datasources/shop.yaml
interfaces:
  readonly: {endpoint: "jdbc:postgresql://reader:sesame@db/shop"}
""",
    good="""\
# datasources/shop.yaml
interfaces:
  readonly: {endpoint: "jdbc:postgresql://db/shop"}
credential: {user: reader, env: SHOP_PASSWORD}
""",
    source="DESIGN section 4",
)
