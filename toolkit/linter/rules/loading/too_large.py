"""No file has more than 1 MiB, and no value more than 4096 characters."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="too-large",
    name="No file has more than 1 MiB, and no value more than 4096 characters",
    severity=Severity.ERROR,
    rationale=(
        "No entity is that large. A file that is comes from a broken generator, or from somebody who wants"
        " readers to take for ever."
    ),
    bad="""\
# feeds/clicks.yaml, a text of 5000 characters
description: "clicks of the web shop, and so on, and so on"
""",
    good="""\
# feeds/clicks.yaml
description: clicks of the web shop, see docs/clicks.md
""",
    source="DESIGN section 4",
)
