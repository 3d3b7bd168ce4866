"""Comments that accept findings, ``# feedctl: ignore[RULE, RULE] reason``, and those that accept nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from toolkit.config_source import Snapshot
from toolkit.entities.nearest import did_you_mean
from toolkit.linter.findings import Finding
from toolkit.linter.report import Suppressed
from toolkit.linter.rule import Rule
from toolkit.linter.source_map import LINE_BREAK, scalar_nodes

_MARK = b"feedctl:"
_COMMENT = re.compile(r"(?:^|(?<=[ \t\n\r]))#[ \t]*feedctl:[ \t]*(?P<text>[^\n\r\x85\u2028\u2029]*)")
_SCRIPT_COMMENT = re.compile(r"(?m:^|(?<=[ \t]))(?:#|--)[ \t]*feedctl:[ \t]*(?P<text>[^\n\r\x85\u2028\u2029]*)")
_COMMENT_SIGNS = ("#", "--")
_IGNORE = re.compile(r"ignore\[(?P<rules>[^\]]*)\](?P<reason>.*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedRule:
    """A rule that a comment names, and where.

    Attributes:
        column: from 1 on.
    """

    id: str
    column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Comment:
    """A comment that speaks to the linter.

    Attributes:
        line: from 1 on.
        column: of the ``#``, from 1 on.
        end_column: after its last character.
        alone: nothing else is on its line, so that it is about the next line that is more than a comment.
        target: the line that it is about.
        rules: those that it accepts; empty: the comment cannot be understood.
        reason: why.
    """

    line: int
    column: int
    end_column: int
    alone: bool
    target: int
    rules: tuple[NamedRule, ...]
    reason: str


def comments(data: bytes) -> tuple[Comment, ...]:
    """The comments of a file that speak to the linter, in their order; what looks like one inside a text is none."""
    if _MARK not in data:
        return ()
    text = data.decode(errors="replace")
    inside = sorted((node.start_mark.index, node.end_mark.index) for node in scalar_nodes(data))
    if not inside:  # no YAML, so that comments cannot be told from texts
        return ()
    lines = _Lines(text)
    return tuple(_comment(match, lines) for match in _COMMENT.finditer(text) if not _is_inside(match.start(), inside))


def script_comments(data: bytes) -> tuple[Comment, ...]:
    """The comments of a script that speak to the linter, behind `#` or the `--` of SQL; its other lines are not read.

    What is no such comment but looks like one, as in a text, accepts nothing that is found elsewhere. One that names no
    rule is no mistake, as in a program that writes such comments.
    """
    if _MARK not in data:
        return ()
    text = data.decode(errors="replace")
    lines = _Lines(text)
    found = (_comment(match, lines) for match in _SCRIPT_COMMENT.finditer(text))
    return tuple(each for each in found if each.rules)


def _is_inside(offset: int, inside: list[tuple[int, int]]) -> bool:
    """Return whether an offset is in one of the scalars, which are sorted and never overlap."""
    place = bisect_left(inside, (offset + 1, 0))
    return place > 0 and offset < inside[place - 1][1]


class _Lines:
    """The lines of a file; where they begin, and which one a comment that stands alone on one is about."""

    def __init__(self, text: str) -> None:
        self.texts = LINE_BREAK.split(text)
        self.starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
        self.after = list(range(1, len(self.texts) + 1))
        following = 0
        for number in range(len(self.texts), 0, -1):
            self.after[number - 1] = following or number
            if not self.texts[number - 1].lstrip().startswith(_COMMENT_SIGNS):
                following = number

    def before(self, offset: int) -> tuple[int, str]:
        """The number of the line that an offset is on, and its text up to there."""
        line = bisect_right(self.starts, offset)
        return line, self.texts[line - 1][: offset - self.starts[line - 1]]


def _comment(match: re.Match[str], lines: _Lines) -> Comment:
    line, before = lines.before(match.start())
    column = len(before) + 1
    body = match["text"].rstrip()
    understood = _IGNORE.fullmatch(body)
    alone = not before.strip()
    body_column = column + match.start("text") - match.start()
    return Comment(
        line=line,
        column=column,
        end_column=body_column + len(body),
        alone=alone,
        target=lines.after[line - 1] if alone else line,
        rules=() if understood is None else tuple(_rules(understood, body_column)),
        reason="" if understood is None else understood["reason"].strip(" \t:-"),
    )


def _rules(understood: re.Match[str], column: int) -> Iterator[NamedRule]:
    for match in re.finditer(r"[^,\s](?:[^,]*[^,\s])?", understood["rules"]):
        yield NamedRule(id=match.group(), column=column + understood.start("rules") + match.start())


Accepting = tuple[str, int, str]
"""A file, a line of it, and a rule whose findings there a comment accepts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Named:
    """A rule that one comment names."""

    file: str
    comment: Comment
    rule: NamedRule

    @property
    def accepts(self) -> Accepting:
        return self.file, self.comment.target, self.rule.id


class Suppressions:
    """The comments of all files."""

    def __init__(self, snapshot: Snapshot, rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        own = [(file, each) for file, data in sorted(snapshot.files.items()) for each in comments(data)]
        others = [(file, each) for file, data in sorted(snapshot.texts.items()) for each in script_comments(data)]
        known = [(file, each) for file, each in others if all(self._can_accept(rule.id) for rule in each.rules)]
        self._comments = [*own, *known]
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

    def unused(self, checked: Collection[str], seen: Iterable[Finding]) -> list[Accepting]:
        """Return the accepted findings that do not occur, for rules that were checked.

        Args:
            checked: identifiers of the rules that were looked for.
            seen: all findings, suppressed or not.
        """
        places = {_place(finding) for finding in seen}
        wanted = dict.fromkeys(each.accepts for each in self._usable)
        return [each for each in wanted if each[2] in checked and each not in places]

    def own_findings(self, unused: Collection[Accepting]) -> Iterator[Finding]:
        """Yield the findings about the comments themselves.

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
