"""Which findings count: those that neither a comment nor the baseline accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolkit.linter.baseline import Baseline, BaselineEntry
from toolkit.linter.findings import Finding
from toolkit.linter.report import Suppressed
from toolkit.linter.request import LintRequest
from toolkit.linter.rule import Rule
from toolkit.linter.suppression import Suppressions


@dataclass(frozen=True, kw_only=True, slots=True)
class SortedOut:
    """Findings by what becomes of them.

    Attributes:
        counting: nothing accepts them.
        suppressed: comments accept them.
        known: the baseline has them.
        left: entries of the baseline that none of them is.
    """

    counting: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    known: tuple[Finding, ...]
    left: tuple[BaselineEntry, ...]


def sort_out(
    findings: Iterable[Finding], suppressions: Suppressions, request: LintRequest, rules: Mapping[str, Rule]
) -> SortedOut:
    """Sorts findings; what no action can load is never accepted."""
    counting, suppressed = suppressions.split(findings)
    fatal = [each for each in counting if not _can_be_known(each, rules)]
    baseline = request.baseline or Baseline(file="", entries=())
    new, known, left = baseline.split(each for each in counting if _can_be_known(each, rules))
    if request.adopt:
        known += [each for each in new if request.focus.shows(each)]
        new = [each for each in new if not request.focus.shows(each)]
    return SortedOut(counting=(*fatal, *new), suppressed=tuple(suppressed), known=tuple(known), left=tuple(left))


def _can_be_known(finding: Finding, rules: Mapping[str, Rule]) -> bool:
    rule = rules.get(finding.rule)
    return rule is not None and rule.check is not None
