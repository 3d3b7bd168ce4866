"""Choice and settings of the rules: `--select`, `--ignore` and `repo.yaml`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolkit.entities.nearest import did_you_mean, suggestion
from toolkit.entities.repo import RepoSettings
from toolkit.entities.source_files import REPO_FILE
from toolkit.entities.values import Properties
from toolkit.entities.vocabulary import LintLevel
from toolkit.entities.yaml_location import Pointer
from toolkit.errors import InvalidInput
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Option, OptionValue, Rule


class UnknownRule(InvalidInput):
    """A selection that no rule matches.

    Args:
        option: where it was given, for example ``--select``.
        pattern: what was given.
        known: the identifiers of all rules.
    """

    def __init__(self, *, option: str, pattern: str, known: Collection[str]) -> None:
        self.option, self.pattern, self.known = option, pattern, known
        near = suggestion(pattern, known)
        advice = near or "docs/reference/rules.md has them all"
        super().__init__(f"{option}: found {pattern!r}, expected the identifier of a rule, or a glob of them; {advice}")


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleSelection:
    """The rules of a run.

    Args:
        select: identifiers or globs; empty: all.
        ignore: identifiers or globs; they win over `select`.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def chosen(self, known: Collection[str]) -> frozenset[str]:
        """The identifiers of the chosen rules.

        Raises:
            UnknownRule: a pattern matches no rule.
        """
        selected = frozenset(known) if not self.select else _matching("--select", self.select, known)
        return selected - _matching("--ignore", self.ignore, known)


def _matching(option: str, patterns: Collection[str], known: Collection[str]) -> frozenset[str]:
    found: set[str] = set()
    for pattern in patterns:
        matching = {each for each in known if fnmatchcase(each, pattern)}
        if not matching:
            raise UnknownRule(option=option, pattern=pattern, known=known)
        found |= matching
    return frozenset(found)


_SEVERITY = "severity"


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleSettings:
    """The settings of one config repo in one environment.

    Attributes:
        accepted: rules that are off.
        severities: of rules for which they differ from the rule's own.
        options: values by rule and option, as far as they are usable.
    """

    accepted: frozenset[str]
    severities: Mapping[str, Severity]
    options: Mapping[str, Mapping[str, OptionValue]]

    @classmethod
    def of(cls, settings: RepoSettings, rules: Mapping[str, Rule]) -> RuleSettings:
        """The settings, without what `setting_hits` objects to."""
        known = {name: each for name, each in settings.lint.rules.items() if name in rules}
        levels = {name: each[_SEVERITY] for name, each in known.items() if _SEVERITY in each and not rules[name].fatal}
        off = {name for name, level in levels.items() if level == LintLevel.OFF}
        accepted = {name for name in settings.accept if name in rules and not rules[name].fatal}
        return cls(
            accepted=frozenset(off | accepted),
            severities={name: Severity(str(level)) for name, level in levels.items() if name not in off},
            options={name: _usable(each, rules[name]) for name, each in known.items()},
        )


def setting_hits(settings: RepoSettings, rules: Mapping[str, Rule]) -> Iterator[tuple[str, Hit]]:
    """Yield the hits about lint settings, each with its rule."""
    for index, name in enumerate(settings.accept):
        yield from _acceptance_hits(name, ("accept", index), rules)
    for name, values in settings.lint.rules.items():
        pointer: Pointer = ("lint", "rules", name)
        if name not in rules:
            yield "unknown-rule", _unknown(name, pointer, rules, on_key=True)
        else:
            yield from _value_hits(values, pointer, rules[name])


def _acceptance_hits(name: str, pointer: Pointer, rules: Mapping[str, Rule]) -> Iterator[tuple[str, Hit]]:
    if name not in rules:
        yield "unknown-rule", _unknown(name, pointer, rules, on_key=False)
    elif rules[name].fatal:
        yield "bad-rule-setting", _fatal(name, pointer)


def _value_hits(values: Properties, pointer: Pointer, rule: Rule) -> Iterator[tuple[str, Hit]]:
    for name, value in values.items():
        where = (*pointer, name)
        if name == _SEVERITY and rule.fatal:
            yield "bad-rule-setting", _fatal(rule.id, where)
        elif name != _SEVERITY and name not in rule.options:
            yield "bad-rule-setting", _unknown_option(name, where, rule)
        elif name != _SEVERITY and not _fits(value, rule.options[name]):
            expected = f"expected {_TYPES[type(rule.options[name].default)]}, for example {rule.options[name].default}"
            message = f"the option {name} of the rule {rule.id}: found {json.dumps(value)}, {expected}"
            yield "bad-rule-setting", Hit(subject=REPO_FILE, pointer=where, message=message)


def _usable(values: Properties, rule: Rule) -> Mapping[str, OptionValue]:
    return {name: each for name, each in values.items() if name in rule.options and _fits(each, rule.options[name])}


def _fits(value: OptionValue, option: Option) -> bool:
    wanted = type(option.default)
    return type(value) is wanted or (wanted is float and type(value) is int)


_TYPES: Mapping[type[OptionValue], str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def _unknown(name: str, pointer: Pointer, rules: Mapping[str, Rule], *, on_key: bool) -> Hit:
    message = f"found the rule {name!r}, expected the identifier of a rule"
    return Hit(subject=REPO_FILE, pointer=pointer, message=message, hint=did_you_mean(name, rules), on_key=on_key)


def _unknown_option(name: str, pointer: Pointer, rule: Rule) -> Hit:
    known = [_SEVERITY, *rule.options]
    message = f"found the option {name!r} of the rule {rule.id}, expected one of {', '.join(known)}"
    return Hit(subject=REPO_FILE, pointer=pointer, message=message, hint=did_you_mean(name, known), on_key=True)


def _fatal(name: str, pointer: Pointer) -> Hit:
    message = f"the rule {name} is about what no action can load, and cannot be turned off or made milder"
    return Hit(subject=REPO_FILE, pointer=pointer, message=message, hint="mend what it finds, and remove this")
