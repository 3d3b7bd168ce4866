"""Running checks: many at once, each with its own time limit, and all of them whatever the others find."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from toolkit.doctor.findings import Checked, Finding, failed
from toolkit.errors import FeedctlError
from toolkit.storage import StorageError
from toolkit.storage.bounded import BoundedCalls, NoAnswer

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
    look: Callable[[], Iterable[Finding]]
    what: str = ""
    seconds: float = CHECK_SECONDS


def run_checks(checks: Sequence[Check]) -> tuple[Checked, ...]:
    """Run all of them; what they found, in their order."""
    with ThreadPoolExecutor(max(1, min(_AT_ONCE, len(checks)))) as pool:
        running = [(check, pool.submit(_timed, check)) for check in checks]
    return tuple(checked for check, future in running for checked in _checked(check, future))


def _checked(check: Check, future: Future[tuple[list[Finding], float]]) -> Iterator[Checked]:
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


def _timed(check: Check) -> tuple[list[Finding], float]:
    begun = time.monotonic()
    findings = _findings(check)
    return findings, time.monotonic() - begun


def _findings(check: Check) -> list[Finding]:
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
