"""What a check found, and what could be done about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """How a check ended."""

    OK = "ok"
    """As it should be."""
    WARNING = "warning"
    """Something may become a problem, or could not be found out."""
    FAILED = "failed"
    """What needs this will not work."""
    SKIPPED = "skipped"
    """Not looked at, for the reason that is given, or not needed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One fact that a check found.

    Attributes:
        status: whether it is as it should be.
        found: the fact.
        todo: what would help; empty when nothing has to be done.
        what: which one of several that the check is about: a package, a token, a host.
    """

    status: CheckStatus
    found: str
    todo: str = ""
    what: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """A finding with the check that it is of.

    Attributes:
        about: what was looked at: ``driver``, ``cluster primary``, ``ledger`` ...
        name: of the check.
        finding: what was found.
        seconds: that the whole check took.
    """

    about: str
    name: str
    finding: Finding
    seconds: float


def ok(found: str, *, todo: str = "", what: str = "") -> Finding:
    """A fact that is as it should be."""
    return Finding(status=CheckStatus.OK, found=found, todo=todo, what=what)


def warning(found: str, *, todo: str, what: str = "") -> Finding:
    """A fact that may become a problem."""
    return Finding(status=CheckStatus.WARNING, found=found, todo=todo, what=what)


def failed(found: str, *, todo: str, what: str = "") -> Finding:
    """A fact that will keep something from working."""
    return Finding(status=CheckStatus.FAILED, found=found, todo=todo, what=what)


def skipped(found: str, *, todo: str = "", what: str = "") -> Finding:
    """Something that was not looked at, or is not needed."""
    return Finding(status=CheckStatus.SKIPPED, found=found, todo=todo, what=what)


def worst(checked: Iterable[Checked]) -> CheckStatus:
    """What many findings add up to: failed, else warning, else ok."""
    seen = {each.finding.status for each in checked}
    return next((each for each in (CheckStatus.FAILED, CheckStatus.WARNING) if each in seen), CheckStatus.OK)
