"""Rules: their definition, context and shared queries (STYLE H29)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ParamSpec, TypeVar

from toolkit.config_source import Snapshot
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import entity_kind
from toolkit.linter.findings import Hit, Severity
from toolkit.planning.process_io import ProcessSite

P = ParamSpec("P")
T = TypeVar("T")

OptionValue = str | int | float | bool
"""A value of a rule's option in ``repo.yaml: lint.rules``."""


ColumnReader = Callable[[ProcessSite, str, Mapping[str, tuple[str, ...]]], Collection[tuple[str, str]] | None]
"""Reads the feeds and columns that a script names, by a process on its cluster, the script, and the columns of its
feeds; None: sqlglot is not installed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseState:
    """The config repo at the git base that a change is compared with.

    Args:
        ref: as the user gave it, for example ``origin/main``.
        repository: its usable entities, in the same environment.
        snapshot: its files.
    """

    ref: str
    repository: Repository
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class LintContext:
    """A config repo in one environment.

    Args:
        repository: the usable entities; what has problems of its own is not there.
        problems: what loading found.
        snapshot: all files.
        time: the instant for which findings are made, UTC; by default the commit's.
        base: what it is compared with; None: nothing.
        options: values of rules' options, by rule and name: the defaults, and what ``repo.yaml`` says instead.
        allows_suite_sql: the operator's environment allows SQL in suites.
        columns_read: reads which columns of feeds a script of SQL names; None: nobody gave one.
    """

    repository: Repository
    problems: tuple[ConfigProblem, ...]
    snapshot: Snapshot
    time: datetime
    base: BaseState | None = None
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    allows_suite_sql: bool = False
    columns_read: ColumnReader | None = None

    @property
    def is_incomplete(self) -> bool:
        """True if an entity is missing because of its own problems, so that nothing is unused for certain."""
        return any(entity_kind(each.file) is not None for each in self.problems) or any(
            each.entity is None for each in self.repository.entries.values()
        )

    def number(self, rule_id: str, option: str) -> int:
        """The value of an option that is a whole number."""
        return int(self.options[rule_id][option])


Check = Callable[[LintContext], Iterator[Hit]]
"""Finds what a rule is about in one config repo, in one environment."""


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
    """A lint rule; its texts are in ``rules/catalogue/``, and the reference in ``docs/`` is generated from them.

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
        """True if its findings stop every action from loading the repo, so that they cannot be accepted."""
        return self.check is None and not self.about_linting


def remembered(compute: Callable[P, T]) -> Callable[P, T]:
    """A function that remembers its last answer: rules run one after the other over one and the same repository.

    Args:
        compute: a pure function; its arguments are the same when they are the same objects.
    """
    last: list[tuple[tuple[object, ...], T]] = []

    def answer(*arguments: P.args, **options: P.kwargs) -> T:
        key = (*arguments, *options.values())
        if not last or any(one is not other for one, other in zip(last[0][0], key, strict=True)):
            last[:] = [(key, compute(*arguments, **options))]
        return last[0][1]

    return answer
