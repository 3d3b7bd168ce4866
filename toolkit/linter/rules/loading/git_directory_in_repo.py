"""No folder of the config repo looks like a git directory."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="git-directory-in-repo",
    name="No folder of the config repo looks like a git directory",
    severity=Severity.ERROR,
    rationale=(
        "Git, started in a folder with HEAD, objects and refs, takes it for a git directory and runs the programs"
        " that a config beside them names: with every prompt and editor that asks git about the folder."
    ),
    bad="""\
# HEAD, beside objects/keep, refs/keep and a config
ref: refs/heads/main
""",
    good="""\
# docs/HEAD.txt
ref: refs/heads/main
""",
    source="git help config, safe.bareRepository",
)
