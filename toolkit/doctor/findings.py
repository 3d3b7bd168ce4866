"""Findings of checks with a remedy; checks run at once, each with its own time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum

from toolkit.errors import FeedctlError
from toolkit.storage import StorageError
from toolkit.storage.calls import BoundedCalls, NoAnswer


class CheckStatus(StrEnum):
    """Status of a check."""

    OK = "ok"
    """As it should be."""
    WARNING = "warning"
    """Something may become a problem, or could not be found out."""
    FAILED = "failed"
    """A use of this will fail."""
    SKIPPED = "skipped"
    """Not looked at, for the reason that is given, or not needed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """A fact that a check found.

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
    finding: CheckResult
    seconds: float


def ok(found: str, *, todo: str = "", what: str = "") -> CheckResult:
    """A fact that is as it should be."""
    return CheckResult(status=CheckStatus.OK, found=found, todo=todo, what=what)


def warning(found: str, *, todo: str, what: str = "") -> CheckResult:
    """A fact that may become a problem."""
    return CheckResult(status=CheckStatus.WARNING, found=found, todo=todo, what=what)


def failed(found: str, *, todo: str, what: str = "") -> CheckResult:
    """A fact that will keep something from working."""
    return CheckResult(status=CheckStatus.FAILED, found=found, todo=todo, what=what)


def skipped(found: str, *, todo: str = "", what: str = "") -> CheckResult:
    """Something that was not looked at, or is not needed."""
    return CheckResult(status=CheckStatus.SKIPPED, found=found, todo=todo, what=what)


def worst(checked: Iterable[Checked]) -> CheckStatus:
    """Return the status of many findings: failed, else warning, else ok."""
    seen = {each.finding.status for each in checked}
    return next((each for each in (CheckStatus.FAILED, CheckStatus.WARNING) if each in seen), CheckStatus.OK)


CHECK_SECONDS = 15.0
"""So long a check may take, if nothing else is said: longer than a connection that is lost on the way."""

_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Something to be looked at.

    Attributes:
        about: as of `Checked`.
        name: as of `Checked`.
        look: finds the facts; what it raises is a finding too.
        what: which one of several it is about, when its findings do not say.
        seconds: so long it may take.
    """

    about: str
    name: str
    look: Callable[[], Iterable[CheckResult]]
    what: str = ""
    seconds: float = CHECK_SECONDS


def run_checks(checks: Sequence[Check]) -> tuple[Checked, ...]:
    """Run all of them; what they found, in their order."""
    with ThreadPoolExecutor(max(1, min(_AT_ONCE, len(checks)))) as pool:
        running = [(check, pool.submit(_timed, check)) for check in checks]
    return tuple(checked for check, future in running for checked in _checked(check, future))


def _checked(check: Check, future: Future[tuple[list[CheckResult], float]]) -> Iterator[Checked]:
    error = future.exception()
    if error is None:
        findings, seconds = future.result()
    else:
        # A check that breaks must not hide what the others found.
        broken = failed(f"{type(error).__name__}: {error}", todo="this check is broken: please report it")
        findings, seconds = [broken], 0.0
    for each in findings:
        finding = replace(each, what=each.what or check.what)
        yield Checked(about=check.about, name=check.name, finding=finding, seconds=seconds)


def _timed(check: Check) -> tuple[list[CheckResult], float]:
    begun = time.monotonic()
    findings = _findings(check)
    return findings, time.monotonic() - begun


def _findings(check: Check) -> list[CheckResult]:
    try:
        return BoundedCalls(check.seconds).run(lambda: list(check.look()))
    except NoAnswer:
        todo = "see whether the service is up and whether a firewall drops the packets on the way"
        return [failed(f"no answer within {check.seconds:g} s", todo=todo)]
    except StorageError as error:
        found, _, todo = error.text.partition("; ")
        return [failed(f"{error.path}: {found}{f' ({error.detail})' if error.detail else ''}", todo=todo)]
    except FeedctlError as error:
        found, _, todo = str(error).partition("; ")
        return [failed(found, todo=todo)]
