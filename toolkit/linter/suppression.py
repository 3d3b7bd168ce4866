"""Findings that comments accept, and comments that accept nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from toolkit.entities.nearest import did_you_mean
from toolkit.linter.comments import Comment, NamedRule, comments
from toolkit.linter.findings import Finding
from toolkit.linter.report import Suppressed
from toolkit.linter.rule import Rule

Accepting = tuple[str, int, str]
"""A file, a line of it, and a rule whose findings there a comment accepts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Named:
    """One rule that one comment names."""

    file: str
    comment: Comment
    rule: NamedRule

    @property
    def accepts(self) -> Accepting:
        return self.file, self.comment.target, self.rule.id


class Suppressions:
    """The comments of all files."""

    def __init__(self, files: Mapping[str, bytes], rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        self._comments = [(file, each) for file, data in sorted(files.items()) for each in comments(data)]
        named = [_Named(file=file, comment=each, rule=rule) for file, each in self._comments for rule in each.rules]
        self._usable = [each for each in named if self._can_accept(each.rule.id)]
        self._unusable = [each for each in named if not self._can_accept(each.rule.id)]
        self._reasons = {each.accepts: each.comment.reason for each in reversed(self._usable)}

    def _can_accept(self, rule_id: str) -> bool:
        rule = self._rules.get(rule_id)
        return rule is not None and rule.check is not None

    def split(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Suppressed]]:
        """The findings that count, and those that a comment accepts."""
        counting: list[Finding] = []
        suppressed: list[Suppressed] = []
        for finding in findings:
            reason = self._reasons.get(_place(finding))
            if reason is None:
                counting.append(finding)
            else:
                suppressed.append(Suppressed(finding=finding, reason=reason))
        return counting, suppressed

    def unused(self, judged: Collection[str], seen: Iterable[Finding]) -> list[Accepting]:
        """What comments accept and no finding is, for rules that were looked for.

        Args:
            judged: identifiers of the rules that were looked for.
            seen: all findings, suppressed or not.
        """
        places = {_place(finding) for finding in seen}
        wanted = dict.fromkeys(each.accepts for each in self._usable)
        return [each for each in wanted if each[2] in judged and each not in places]

    def own_findings(self, unused: Collection[Accepting]) -> Iterator[Finding]:
        """What is wrong with the comments themselves.

        Args:
            unused: of `unused`.
        """
        for file, comment in self._comments:
            if not comment.rules:
                yield self._finding("bad-suppression", file, comment, _NOT_UNDERSTOOD, hint=_FORM)
            elif not comment.reason:
                message = "the comment accepts a finding without a reason"
                yield self._finding("suppression-without-reason", file, comment, message, hint="say why: " + _FORM)
        for each in self._unusable:
            yield self._unusable_finding(each)
        for each in self._usable:
            if each.accepts in unused:
                message = f"the comment accepts {each.rule.id}, which does not occur on line {each.comment.target}"
                yield self._named_finding("unused-suppression", each, message, "remove it")

    def _unusable_finding(self, named: _Named) -> Finding:
        rule_id = named.rule.id
        if rule_id not in self._rules:
            message = f"found the rule {rule_id!r}, expected the identifier of a rule"
            return self._named_finding("unknown-rule", named, message, did_you_mean(rule_id, self._rules))
        why = "no action can load what it finds" if self._rules[rule_id].fatal else "it is about the linter itself"
        message = f"the rule {rule_id} cannot be accepted: {why}"
        return self._named_finding("bad-suppression", named, message, "mend what it finds, and remove the comment")

    def _named_finding(self, rule_id: str, named: _Named, message: str, hint: str) -> Finding:
        comment, rule = named.comment, named.rule
        return Finding(
            file=named.file,
            line=comment.line,
            column=rule.column,
            end_column=rule.column + len(rule.id),
            rule=rule_id,
            severity=self._rules[rule_id].severity,
            message=message,
            hint=hint,
        )

    def _finding(self, rule_id: str, file: str, comment: Comment, message: str, hint: str) -> Finding:
        return Finding(
            file=file,
            line=comment.line,
            column=comment.column,
            end_column=comment.end_column,
            rule=rule_id,
            severity=self._rules[rule_id].severity,
            message=message,
            hint=hint,
        )


_FORM = "# feedctl: ignore[RULE] reason"
_NOT_UNDERSTOOD = f"found a comment that speaks to feedctl and is not understood, expected `{_FORM}`"


def _place(finding: Finding) -> Accepting:
    return finding.file, finding.line, finding.rule
