"""The ledger and the audit file do not change unseen."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import without_credentials
from toolkit.entities.addresses import AUDIT_OUTSIDE_RULE
from toolkit.entities.repo import RepoSettings
from toolkit.entities.source_files import REPO_FILE
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule

_HINTS = {
    "ledger": "let the operators agree: its host gets the password, and what runs now is not in another ledger",
    "audit_file": "let the operators agree: earlier deletions are in the old file",
}


def _check(context: LintContext) -> Iterator[Hit]:
    if context.base is None:
        return
    before, after = context.base.repository.settings, context.repository.settings
    for key, hint in _HINTS.items():
        old, new = _shown(before, key), _shown(after, key)
        if old != new:
            yield Hit(subject=REPO_FILE, pointer=(key,), message=f"{key} {old} -> {new}", hint=hint)
    if AUDIT_OUTSIDE_RULE in set(after.accept) - set(before.accept):
        yield Hit(
            subject=REPO_FILE,
            pointer=("accept", after.accept.index(AUDIT_OUTSIDE_RULE)),
            message=f"{AUDIT_OUTSIDE_RULE} is accepted from now on: the repo may name any place for the audit file",
            hint="let the operators agree, or let them name the file in FEEDCTL_AUDIT",
        )


def _shown(settings: RepoSettings, key: str) -> str:
    value: str | None = getattr(settings, key)
    return "none" if value is None else without_credentials(value)


RULE = Rule(
    id="ledger-change",
    name="The ledger and the audit file do not change unseen",
    severity=Severity.WARNING,
    rationale="The host in the ledger's URL is sent the password that the environment of the run has for it. Holds, "
    "leases and safe mode are in the ledger alone: with another one, nothing that was held or stopped is. Whoever "
    "looks for a deletion looks into the audit file. An acceptance of this rule counts from the next change on.",
    bad="""\
# repo.yaml; the base has ledger.example.com
ledger: "postgresql://feedctl:${env:LEDGER_PASSWORD}@ledger.example.net/feedctl"
""",
    good="""\
# repo.yaml; the base has the same
ledger: "postgresql://feedctl:${env:LEDGER_PASSWORD}@ledger.example.com/feedctl"
""",
    source="DESIGN section 6",
    check=_check,
    needs_base=True,
    guards_changes=True,
)
