"""The result of a lint run: what every output format is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from toolkit.linter.baseline import BaselineEntry
from toolkit.linter.findings import Finding, Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class Suppressed:
    """A finding that a comment in its file accepts.

    Attributes:
        reason: what the comment says; may be empty, which is a finding of its own.
    """

    finding: Finding
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LintReport:
    """Report of a lint run, in a stable order.

    Attributes:
        findings: those that count, and the infos.
        elsewhere: how many of each severity are in other files than those that were asked for, and not shown.
        suppressed: those that comments accept.
        baselined: those that the baseline knows.
        baseline: what the baseline would be if it were written now.
        environments: names of those that were looked at; empty: the repo was looked at without one.
        time: the instant for which the findings were made, UTC.
        base: what the repo was compared with, as the user gave it; None: nothing.
        files: the configuration files that were read, for showing their lines.
        texts: the other files that were read, likewise.
    """

    findings: tuple[Finding, ...]
    elsewhere: Mapping[Severity, int] = field(default_factory=dict)
    suppressed: tuple[Suppressed, ...] = ()
    baselined: tuple[Finding, ...] = ()
    baseline: tuple[BaselineEntry, ...] = field(default=(), repr=False)
    environments: tuple[str, ...]
    time: datetime
    base: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    texts: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def counts(self) -> Mapping[Severity, int]:
        """Return how many findings there are of each severity."""
        counted = Counter(finding.severity for finding in self.findings)
        return {severity: counted[severity] for severity in Severity}

    @property
    def failed(self) -> bool:
        """True if there is an error or a warning that neither a comment nor the baseline accepts."""
        return any(finding.severity is not Severity.INFO for finding in self.findings)
