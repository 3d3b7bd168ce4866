"""The comments of a file that speak to the linter: ``# feedctl: ignore[RULE, RULE] reason``."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.linter.source_text import LINE_BREAK, scalar_nodes

_MARK = b"feedctl:"
_COMMENT = re.compile(r"(?:^|(?<=[ \t\n\r]))#[ \t]*feedctl:[ \t]*(?P<text>[^\n\r\x85\u2028\u2029]*)")
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
    if not inside:  # no YAML, so that nobody can tell a comment from a text
        return ()
    lines = _Lines(text)
    return tuple(_comment(match, lines) for match in _COMMENT.finditer(text) if not _is_inside(match.start(), inside))


def _is_inside(offset: int, inside: list[tuple[int, int]]) -> bool:
    """Whether an offset is in one of the scalars, which are sorted and never overlap."""
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
            if not self.texts[number - 1].lstrip().startswith("#"):
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
