"""What rules may look at: one config repo in one environment, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from toolkit.config_source import Snapshot
from toolkit.entities.problems import Problem
from toolkit.entities.repository import Repository


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
    """One config repo in one environment.

    Args:
        repository: the usable entities; what has problems of its own is not there.
        problems: what loading found.
        snapshot: all files.
        time: the instant for which findings are made, UTC; by default the commit's.
        base: what it is compared with; None: nothing.
        options: values of rules' options, by rule and name; what is absent has its default.
    """

    repository: Repository
    problems: tuple[Problem, ...]
    snapshot: Snapshot
    time: datetime
    base: BaseState | None = None
    options: Mapping[str, Mapping[str, str | int | float | bool]] = field(default_factory=dict)
