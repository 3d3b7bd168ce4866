"""A start that was merged does not change."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import format_instant
from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository
from toolkit.linter.against_base import pointer_on
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule

_KEY = ("validity", "start")


def _check(context: LintContext) -> Iterator[Hit]:
    if context.base is None:
        return
    before = context.base.repository
    for entity in _with_instances(context.repository):
        old = before.feeds.get(entity.name) or before.processes.get(entity.name)
        if old is not None:
            yield from _hits(old, entity, context.repository)


def _with_instances(repository: Repository) -> Iterator[Feed | Process]:
    yield from repository.feeds.values()
    yield from repository.processes.values()


def _hits(old: Feed | Process, new: Feed | Process, repository: Repository) -> Iterator[Hit]:
    starts = {each.name: each.validity.start for each in old.clusters}
    for each in new.clusters:
        start = starts.get(each.name, each.validity.start)
        if start != each.validity.start:
            found, expected = format_instant(each.validity.start), format_instant(start)
            yield Hit(
                subject=new.name,
                pointer=pointer_on(repository.merged(new.name), each.name, _KEY),
                message=f"start of {new.name} on {each.name} {expected} -> {found}, expected the start that was merged",
                hint=f"put {expected} back; what begins at another time is another {new.KIND}, with a name of its own",
                related=(each.name,),
            )


RULE = Rule(
    id="fixed-start",
    name="The start of a feed or process on a cluster does not change once it is merged",
    severity=Severity.ERROR,
    rationale="Instances are counted from the start: with another one, days and months step from another day, and the "
    "instances that were made, recorded and copied are no longer those that feedctl expects.",
    bad="""\
# feeds/clicks.yaml; the base has start: 2026-01-01T00:00Z
clusters:
  - name: primary
    validity: {start: 2026-02-01T00:00Z, end: 2099-01-01T00:00Z}
""",
    good="""\
# feeds/clicks.yaml; the end may change
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2027-01-01T00:00Z}
""",
    source="Falcon overview, Updating process and feed definition; DESIGN section 8",
    check=_check,
    needs_base=True,
)
