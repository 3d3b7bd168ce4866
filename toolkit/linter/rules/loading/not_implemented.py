"""A value means an action that exists."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities.not_implemented import NotImplementedValue, not_implemented
from toolkit.entities.source_files import REPO_FILE
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for each in not_implemented(context.repository.settings):
        yield _hit(REPO_FILE, each)
    for entity in context.repository.entities():
        for each in not_implemented(entity):
            yield _hit(entity.name, each)


def _hit(subject: str, found: NotImplementedValue) -> Hit:
    return Hit(
        subject=subject,
        pointer=found.pointer,
        message=f"{found.value} is not implemented yet, and the {found.area} action refuses it",
        hint=found.instead,
    )


RULE = Rule(
    id="not-implemented",
    name="A value means an action that exists",
    severity=Severity.ERROR,
    rationale="The schema knows values that no action does yet. They are never read as something else (`archive` is "
    "not `delete`): the action concerned refuses them with exit code 2. To write them down in advance, name this rule "
    "in `accept` of repo.yaml.",
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retention: {limit: days(10), action: archive}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retention: {limit: days(10), action: delete}
""",
    source="DESIGN section 4; Falcon overview, Retention: action",
    check=_check,
)
