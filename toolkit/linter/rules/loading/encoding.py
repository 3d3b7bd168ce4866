"""A file is UTF-8 text without a byte order mark and without control characters."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="encoding",
    name="A file is UTF-8 text without a byte order mark and without control characters",
    severity=Severity.ERROR,
    rationale=(
        "Editors and tools read other encodings in different ways, so a name would not be the same name everywhere."
    ),
    bad="""\
# feeds/clicks.yaml, saved as Latin-1
description: Klicks für die Übersicht
""",
    good="""\
# feeds/clicks.yaml, saved as UTF-8
description: Klicks für die Übersicht
""",
    source="DESIGN section 4",
)
