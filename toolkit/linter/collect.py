"""Runs the rules in one environment after the other, and brings their hits to places in files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from toolkit.config_source import Snapshot
from toolkit.entities.errors import UnknownName
from toolkit.entities.loader import load_all
from toolkit.entities.parsing import ParsedFiles, parse_files
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.repo import RepoSettings
from toolkit.linter.findings import Finding, Hit, Severity, SourcePlace
from toolkit.linter.rule import BaseState, ColumnReader, LintContext, OptionValue, Rule, remembered
from toolkit.linter.secret_values import without_secrets
from toolkit.linter.settings import RuleSettings, setting_hits
from toolkit.linter.source_map import SourceMap, end_of_scalar


@dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    """The git base that a repo is compared with.

    Attributes:
        ref: as the user gave it.
        snapshot: its files.
    """

    ref: str
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentFindings:
    """Findings in one environment.

    Attributes:
        environment: its name; None: the repo was looked at without one.
        settings: of the rules.
        findings: of the chosen rules, as far as the settings do not accept them; in no order.
    """

    environment: str | None
    settings: RuleSettings
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class Collector:
    """Input of a lint run that is the same for all environments.

    Attributes:
        snapshot: the config repo.
        base: what it is compared with.
        time: the instant for which findings are made.
        rules: all rules by identifier.
        chosen: identifiers of those that run.
        allows_suite_sql: see `LintContext`.
        columns_read: see `LintContext`.
    """

    snapshot: Snapshot
    base: Base | None
    time: datetime
    rules: Mapping[str, Rule]
    chosen: Collection[str]
    allows_suite_sql: bool = False
    columns_read: ColumnReader | None = None

    def collect(self, environment: str | None) -> EnvironmentFindings:
        """The findings in one environment.

        Args:
            environment: its name; None: the repo's default one, if it has one.

        Raises:
            UnknownName: no such environment.
        """
        repository, problems = load_all(self.snapshot, environment, _parsed(self.snapshot))
        name = None if repository.environment is None else repository.environment.name
        base = self._base_state(name)
        settings = self._settings(repository.settings, base)
        rules_at_work = _Environment(collector=self, settings=settings, environments=() if name is None else (name,))
        context = LintContext(
            repository=repository,
            problems=problems,
            snapshot=self.snapshot,
            time=self.time,
            base=base,
            options=_options(self.rules, settings),
            allows_suite_sql=self.allows_suite_sql,
            columns_read=self.columns_read,
        )
        return EnvironmentFindings(
            environment=name,
            settings=settings,
            findings=tuple(rules_at_work.findings(context)),
        )

    def _settings(self, settings: RepoSettings, base: BaseState | None) -> RuleSettings:
        """The settings of the rules; what guards changes is accepted when the base accepts it as well."""
        found = RuleSettings.of(settings, self.rules)
        if base is None:
            return found
        before = RuleSettings.of(base.repository.settings, self.rules).accepted
        new = {each for each in found.accepted - before if self.rules[each].guards_changes}
        return replace(found, accepted=found.accepted - new)

    def _base_state(self, environment: str | None) -> BaseState | None:
        """The base in the same environment; nothing to compare with when the environment is new."""
        if self.base is None:
            return None
        try:
            repository, _ = load_all(self.base.snapshot, environment)
        except UnknownName:
            return None
        return BaseState(ref=self.base.ref, repository=repository, snapshot=self.base.snapshot)


@remembered
def _parsed(snapshot: Snapshot) -> ParsedFiles:
    """Return the files of a snapshot as plain data; all environments have the same."""
    return parse_files(snapshot.files)


def _options(rules: Mapping[str, Rule], settings: RuleSettings) -> Mapping[str, Mapping[str, OptionValue]]:
    defaults = {each.id: {name: one.default for name, one in each.options.items()} for each in rules.values()}
    return {rule_id: {**values, **settings.options.get(rule_id, {})} for rule_id, values in defaults.items() if values}


@dataclass(frozen=True, kw_only=True)
class _Environment:
    """An environment's rules at work."""

    collector: Collector
    settings: RuleSettings
    environments: tuple[str, ...]

    def findings(self, context: LintContext) -> Iterator[Finding]:
        source_map = SourceMap(snapshot=context.snapshot, repository=context.repository)
        for problem in context.problems:
            if self._runs(problem.rule):
                yield self._of_problem(problem, context.snapshot.files)
        for rule_id, hit in self._hits(context):
            if self._runs(rule_id):
                yield self._of_hit(rule_id, hit, source_map)

    def _hits(self, context: LintContext) -> Iterator[tuple[str, Hit]]:
        rules = self.collector.rules
        yield from setting_hits(context.repository.settings, rules)
        for rule in rules.values():
            if rule.check is not None and self._runs(rule.id):
                yield from ((rule.id, hit) for hit in rule.check(context))

    def _runs(self, rule_id: str) -> bool:
        """A problem that no rule documents is shown all the same: it must not get lost."""
        known = rule_id in self.collector.rules
        return not known or (rule_id in self.collector.chosen and rule_id not in self.settings.accepted)

    def _severity(self, rule_id: str, own: Severity | None = None) -> Severity:
        """Return the severity: of the repo's settings, else of the hit, else of the rule."""
        rule = self.collector.rules.get(rule_id)
        return self.settings.severities.get(rule_id) or own or (Severity.ERROR if rule is None else rule.severity)

    def _of_problem(self, problem: ConfigProblem, files: Mapping[str, bytes]) -> Finding:
        data = files.get(problem.file)
        end = problem.column if data is None else end_of_scalar(data, problem.line, problem.column)
        return Finding(
            file=problem.file,
            line=problem.line,
            column=problem.column,
            end_column=end,
            rule=problem.rule,
            severity=self._severity(problem.rule),
            message=without_secrets(problem.message),
            hint=problem.hint,
            environments=self.environments,
            related=(SourcePlace(file=problem.other_file),) if problem.other_file else (),
        )

    def _of_hit(self, rule_id: str, hit: Hit, source_map: SourceMap) -> Finding:
        place = source_map.locate(hit)
        return Finding(
            file=place.file,
            line=place.line,
            column=place.column,
            end_column=place.end_column,
            rule=rule_id,
            severity=self._severity(rule_id, hit.severity),
            message=without_secrets(hit.message),
            hint=hit.hint,
            key=place.key,
            environments=self.environments,
            related=source_map.related(hit),
        )


def merged(found: Iterable[EnvironmentFindings]) -> list[Finding]:
    """The findings of several environments, each once, sorted."""
    seen: dict[Finding, Finding] = {}
    for finding in (finding for each in found for finding in each.findings):
        plain = replace(finding, environments=())
        known = seen.get(plain, plain)
        seen[plain] = replace(
            known,
            environments=tuple(dict.fromkeys((*known.environments, *finding.environments))),
            related=tuple(dict.fromkeys((*known.related, *finding.related))),
        )
    return sorted(seen.values())
