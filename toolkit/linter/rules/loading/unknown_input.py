"""A late input, and an input of a step, is one of the process's inputs."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-input",
    name="A late input, and an input of a step, is one of the process's inputs",
    severity=Severity.ERROR,
    rationale=(
        "Nothing looks for late data of an input that does not exist, so the late workflow would never run; a step "
        "that reads one would wait for batches that nobody enqueues."
    ),
    bad="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
late_process: {policy: final, inputs: {click: workflows/late.sql}}
""",
    good="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
late_process: {policy: final, inputs: {clicks: workflows/late.sql}}
""",
    source="Falcon entity specification, Process, Late data; BDRE, PROCESS_BATCH_QUEUE",
)
