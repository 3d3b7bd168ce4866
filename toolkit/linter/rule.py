"""What a rule is: its documentation, and a function from the config repo to what is wrong (STYLE H29)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity

Check = Callable[[LintContext], Iterator[Hit]]
"""Finds what a rule is about in one config repo, in one environment."""

OptionValue = str | int | float | bool
"""A value of a rule's option in ``repo.yaml: lint.rules``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """A setting of a rule.

    Args:
        default: its value when ``repo.yaml`` says nothing; its type is the option's type.
        description: what it does, with the unit.
    """

    default: OptionValue
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A lint rule; one module each, and the reference in ``docs/`` is generated from these fields.

    Args:
        id: stable, lower case with dashes.
        name: what it asks for, as a sentence.
        severity: of its findings, unless a finding or ``repo.yaml`` says otherwise.
        rationale: what goes wrong without it.
        bad: YAML that it objects to, with the file's name in a comment on the first line.
        good: YAML that it accepts.
        source: the sentence that it comes from, for example ``Falcon overview, Retention``.
        check: finds it; None when loading finds it, so that entrypoints refuse it too, or when the linter itself does.
        options: settings by name.
        needs_base: it compares with a git base and is silent without one.
        hides_value: its findings are about values that no log should repeat.
        guards_changes: an acceptance counts from the next change on: in the change that brings it, it would hide what
            it accepts.
        about_linting: the linter itself finds it, in what tells it what to look for: comments, settings, baseline.
    """

    id: str
    name: str
    severity: Severity
    rationale: str
    bad: str
    good: str
    source: str
    check: Check | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    needs_base: bool = False
    hides_value: bool = False
    guards_changes: bool = False
    about_linting: bool = False

    @property
    def fatal(self) -> bool:
        """Whether what it finds keeps every action from loading the repo, so that nobody can accept it."""
        return self.check is None and not self.about_linting
