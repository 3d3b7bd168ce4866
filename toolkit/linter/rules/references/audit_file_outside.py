"""The config repo names no audit file outside of itself, unless that was accepted by name."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities.addresses import AUDIT_OUTSIDE_RULE, outside_audit_file
from toolkit.entities.source_files import REPO_FILE
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    settings = context.repository.settings
    if outside_audit_file(settings):
        yield Hit(
            subject=REPO_FILE,
            pointer=("audit_file",),
            message=f"audit_file is {settings.audit_file}, outside of the config repo, expected a file below it",
            hint="let the operator name it in FEEDCTL_AUDIT, or accept this rule by name",
        )


RULE = Rule(
    id=AUDIT_OUTSIDE_RULE,
    name="The config repo names no audit file outside of itself, unless that was accepted by name",
    severity=Severity.ERROR,
    rationale="Every deletion appends lines to the file, with texts of the repo, as the user that feedctl runs as: "
    "whoever may change the repo would choose any file of that user. The environment of the operator, FEEDCTL_AUDIT, "
    "may name any place. To name one in the repo all the same, name this rule in `accept` of repo.yaml, in a change "
    "of its own that the operators review: neither a comment nor another severity is an acceptance, and actions refuse "
    "the file without one. Whatever is named, a file that does not begin as an audit file is never appended to.",
    bad="""\
# repo.yaml
audit_file: /home/etl/audit.jsonl
""",
    good="""\
# repo.yaml
audit_file: .feedctl/audit.jsonl
""",
    source="DESIGN section 6",
    check=_check,
)
