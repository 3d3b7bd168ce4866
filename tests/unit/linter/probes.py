"""Rules made for tests: they hit where they are told to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import LintContext, Option, Rule
from toolkit.linter.rules import RULES


def rule(*hits: Hit, rule_id: str = "probe", only_in: str | None = None, needs_base: bool = False) -> Rule:
    """A rule that always has these hits, or in one environment only."""

    def check(context: LintContext) -> Iterator[Hit]:
        environment = context.repository.environment
        if only_in in {None, None if environment is None else environment.name}:
            yield from hits

    return Rule(
        id=rule_id,
        name="A probe finds nothing",
        severity=Severity.WARNING,
        rationale="It is a test.",
        bad="bad: 1\n",
        good="good: 1\n",
        source="tests",
        check=check,
        options={"limit": Option(default=1, description="How many.")},
        needs_base=needs_base,
    )


def with_rules(*probes: Rule) -> Mapping[str, Rule]:
    """The linter's own rules, those of loading, and these."""
    return {**{name: each for name, each in RULES.items() if each.check is None}, **{each.id: each for each in probes}}


LIMIT = Hit(subject="clicks", pointer=("clusters", 0, "retention", "limit"), message="the limit")
"""A hit on the retention of the standard repo's clicks on primary, feeds/clicks.yaml:14:24."""
