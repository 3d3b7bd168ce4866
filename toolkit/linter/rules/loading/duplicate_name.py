"""A name is there once: over all entities, in a list, and among inputs and outputs."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="duplicate-name",
    name="A name is there once: over all entities, in a list, and among inputs and outputs",
    severity=Severity.ERROR,
    rationale=("Names are global. Of two entities with one name only one would be used, and nobody could tell which."),
    bad="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
outputs:
  clicks: {feed: clicks_hourly, instance: "now(0,0)"}
""",
    good="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
outputs:
  counts: {feed: clicks_hourly, instance: "now(0,0)"}
""",
    source="DESIGN section 4; Falcon entity specification, Cluster, Feed, Process",
)
