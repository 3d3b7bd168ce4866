"""Lints a config repo: rules over environments, then comments, baseline, files of interest (DESIGN section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from toolkit.config_source import Snapshot
from toolkit.entities.source_files import environment_name
from toolkit.linter.baseline import Baseline, BaselineEntry
from toolkit.linter.collect import Base, Collector, merged
from toolkit.linter.findings import Finding, Severity
from toolkit.linter.report import LintReport, Suppressed
from toolkit.linter.rule import ColumnReader, Rule
from toolkit.linter.rules import RULES
from toolkit.linter.settings import RuleSelection
from toolkit.linter.suppression import Accepting, Suppressions


@dataclass(frozen=True, kw_only=True, slots=True)
class Focus:
    """The requested files; the whole graph is checked all the same.

    Attributes:
        paths: files and folders of the config repo; empty: all.
        others_after: findings of other files are shown too, after those of `paths`.
    """

    paths: tuple[str, ...] = ()
    others_after: bool = False

    def shows(self, finding: Finding) -> bool:
        """Return whether a finding is shown."""
        return self.others_after or self._is_within(finding)

    def order(self, finding: Finding) -> tuple[bool, Finding]:
        """The findings of `paths` first, also those that are about another file too, then by place and rule."""
        return not self._is_within(finding), finding

    def _is_within(self, finding: Finding) -> bool:
        return not self.paths or any(
            path in {"", file} or file.startswith(f"{path}/") for path in self.paths for file in finding.files
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class LintRequest:
    """Request of a lint run.

    Attributes:
        snapshot: the config repo.
        time: the instant for which findings are made, UTC.
        environments: names; empty: the repo's default one, if it has one.
        all_environments: every one that has a file; `environments` is empty then.
        base: what the repo is compared with; None: rules that compare are silent.
        selection: which rules.
        baseline: findings that are known; None: none is.
        adopt: what the baseline could hold counts as known, so that it can be written anew.
        focus: which files matter.
        allows_suite_sql: the operator's environment allows SQL in suites.
        columns_read: see `LintContext`.
    """

    snapshot: Snapshot
    time: datetime
    environments: tuple[str, ...] = ()
    all_environments: bool = False
    base: Base | None = None
    selection: RuleSelection = field(default_factory=RuleSelection)
    baseline: Baseline | None = None
    adopt: bool = False
    focus: Focus = field(default_factory=Focus)
    allows_suite_sql: bool = False
    columns_read: ColumnReader | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SortedFindings:
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


def triage(
    findings: Iterable[Finding], suppressions: Suppressions, request: LintRequest, rules: Mapping[str, Rule]
) -> SortedFindings:
    """Sorts findings; what no action can load is never accepted."""
    counting, suppressed = suppressions.split(findings)
    fatal = [each for each in counting if not _can_be_known(each, rules)]
    baseline = request.baseline or Baseline(file="", entries=())
    new, known, left = baseline.split(each for each in counting if _can_be_known(each, rules))
    if request.adopt:
        known += [each for each in new if request.focus.shows(each)]
        new = [each for each in new if not request.focus.shows(each)]
    return SortedFindings(counting=(*fatal, *new), suppressed=tuple(suppressed), known=tuple(known), left=tuple(left))


def _can_be_known(finding: Finding, rules: Mapping[str, Rule]) -> bool:
    rule = rules.get(finding.rule)
    return rule is not None and rule.check is not None


def lint(request: LintRequest, rules: Mapping[str, Rule] = RULES) -> LintReport:
    """Lints a config repo; never fails for what is in it.

    Args:
        request: what is asked for.
        rules: all rules by identifier.

    Raises:
        UnknownName: no such environment.
        UnknownRule: a selection matches no rule.
    """
    return _Run(request, rules).report()


class _Run:
    """A run; each environment is looked at once."""

    def __init__(self, request: LintRequest, rules: Mapping[str, Rule]) -> None:
        self.request, self.rules = request, rules
        self.chosen = request.selection.chosen(rules)
        self.suppressions = Suppressions(request.snapshot, rules)
        self.found = [self._collector(self.chosen).collect(each) for each in self._environments()]
        self.findings = merged(self.found)

    def report(self) -> LintReport:
        sorted_out = triage(self.findings, self.suppressions, self.request, self.rules)
        unused, stale = self._out_of_use(sorted_out)
        own = self._as_set([*self.suppressions.own_findings(unused), *self._stale_findings(stale)])
        return self._report(sorted_out, tuple(own), frozenset(stale))

    def _report(
        self, sorted_out: SortedFindings, own: tuple[Finding, ...], stale: frozenset[BaselineEntry]
    ) -> LintReport:
        request, focus = self.request, self.request.focus
        shown = sorted(filter(focus.shows, (*sorted_out.counting, *own)), key=focus.order)
        elsewhere = Counter(each.severity for each in (*sorted_out.counting, *own) if not focus.shows(each))
        known = sorted(filter(focus.shows, sorted_out.known), key=focus.order)
        suppressed = (each for each in sorted_out.suppressed if focus.shows(each.finding))
        kept = (each for each in sorted_out.left if each not in stale)
        return LintReport(
            findings=tuple(shown),
            elsewhere={severity: elsewhere[severity] for severity in Severity},
            suppressed=tuple(sorted(suppressed, key=lambda each: focus.order(each.finding))),
            baselined=tuple(known),
            baseline=tuple(sorted((*map(BaselineEntry.of, sorted_out.known), *kept))),
            environments=tuple(each.environment for each in self.found if each.environment is not None),
            time=request.time,
            base=None if request.base is None else request.base.ref,
            files=request.snapshot.files,
            texts=request.snapshot.texts,
        )

    def _environments(self) -> tuple[str | None, ...]:
        names = self._all_environments() if self.request.all_environments else self.request.environments
        return names or (None,)

    def _all_environments(self) -> tuple[str, ...]:
        named = (environment_name(file) for file in self.request.snapshot.files)
        return tuple(sorted(name for name in named if name is not None))

    def _collector(self, chosen: Collection[str]) -> Collector:
        request = self.request
        return Collector(
            snapshot=request.snapshot,
            base=request.base,
            time=request.time,
            rules=self.rules,
            chosen=chosen,
            allows_suite_sql=request.allows_suite_sql,
            columns_read=request.columns_read,
        )

    def _out_of_use(self, sorted_out: SortedFindings) -> tuple[list[Accepting], list[BaselineEntry]]:
        """Return the accepted and baselined findings that occur in no environment, including those not asked for.

        While an entity cannot be loaded, what would be found in it and about it is not known: nothing counts as unused.
        """
        if any(each.rule not in self.rules or self.rules[each.rule].fatal for each in self.findings):
            return [], []
        checked = {name for name in self.rules if self._is_checked(name)}
        unused = self.suppressions.unused(checked, self.findings)
        stale = [each for each in sorted_out.left if each.rule in checked or each.rule not in self.rules]
        wanted = {*(each[2] for each in unused), *(each.rule for each in stale)} & checked
        if not wanted:
            return unused, stale
        elsewhere = self._elsewhere(wanted)
        return (
            self.suppressions.unused(wanted, [*self.findings, *elsewhere]),
            Baseline(file="", entries=tuple(stale)).split(elsewhere)[2],
        )

    def _is_checked(self, rule_id: str) -> bool:
        """Return whether a rule was checked, so that an empty result means that there is no fault."""
        rule = self.rules[rule_id]
        compared = self.request.base is not None or not rule.needs_base
        accepted = any(rule_id in each.settings.accepted for each in self.found)
        return rule_id in self.chosen and rule.check is not None and compared and not accepted

    def _elsewhere(self, chosen: Collection[str]) -> list[Finding]:
        seen = {each.environment for each in self.found}
        others = [name for name in self._all_environments() if name not in seen]
        return merged(self._collector(chosen).collect(each) for each in others)

    def _stale_findings(self, stale: Iterable[BaselineEntry]) -> Iterator[Finding]:
        baseline, rule = self.request.baseline, self.rules.get("stale-baseline-entry")
        if baseline is None or rule is None or self.request.adopt:
            return
        for entry in stale:
            where = f"{entry.file} ({entry.key})" if entry.key else entry.file
            yield Finding(
                file=baseline.file,
                line=0,
                column=0,
                end_column=0,
                rule=rule.id,
                severity=rule.severity,
                message=f"{entry.rule} in {where} no longer occurs: {entry.message}",
                hint="write the baseline anew with --write-baseline",
                key=entry.fingerprint,
            )

    def _as_set(self, own: Iterable[Finding]) -> Iterator[Finding]:
        """The linter's own findings as selection and settings want them."""
        settings = self.found[0].settings
        for finding in own:
            if finding.rule in self.chosen and finding.rule not in settings.accepted:
                severity = settings.severities.get(finding.rule, finding.severity)
                yield replace(finding, severity=severity)
