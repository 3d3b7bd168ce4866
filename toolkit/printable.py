"""Texts of others on a terminal, in a log or in a document: the one place that says how they stand there.

Names of files, values of the config repo, refs and output of other programs come from anyone who may open a pull
request, put a file into a data folder or answer in a store's place. None of that may move a cursor, colour or hide
text, forge a line, or be taken for a command by the runner of a pipeline that reads its log.

Escapes are those of JSON, so that a JSON document stays the same document.
"""

from __future__ import annotations

import json
import re

_LOGGING_COMMAND = re.compile(r"##(?=\w*+\[)")
"""``##[error]`` of GitHub and Azure, ``##vso[...]``, ``##teamcity[...]``: taken for commands anywhere in a line."""

_WORKFLOW_COMMAND = re.compile(r"(?m)^([^\S\n]*+):(?=:)")
"""``::error::`` of GitHub: taken for a command at the beginning of a line, behind blanks too."""

_CONTROL = re.compile(r"(\r?\x1b\[[0-9;?]*+[A-HJKSTfhlm])")
"""Control codes of rich for colours and redrawn bars; neither a title nor a link of a terminal."""


def printable(text: str, *, at_start: bool = True, commands: bool = False) -> str:
    """A text of several lines as it may stand anywhere; only line ends and tabs stay of what is not printable.

    Args:
        text: anything: control characters, marks that turn the direction of writing, half characters.
        at_start: it begins a line.
        commands: workflow commands at the beginning of a line are our own, and stay.
    """
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = "".join(each if each.isprintable() or each in "\n\t" else _escape(each) for each in text)
    if "##" in text:
        text = _LOGGING_COMMAND.sub(r"\\u0023#", text)
    if "::" in text and not commands:
        first = 0 if at_start else 1
        text = _WORKFLOW_COMMAND.sub(lambda found: _defused(found, first), text)
    return text


def on_one_line(text: str) -> str:
    """A text as it may stand within a line that says more: also line ends and tabs are escapes."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escape(each) for each in text)


def in_place(text: str) -> str:
    """A text of one line that keeps its columns: each character that is not printable has another in its place."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _substitute(each) for each in text)


def styled(text: str) -> str:
    """A text in which rich has set colours, and whose words were made printable before."""
    return "".join(part if index % 2 else printable(part) for index, part in enumerate(_CONTROL.split(text)))


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]


def _substitute(character: str) -> str:
    return " " if character in "\t\n\r" else "\N{REPLACEMENT CHARACTER}"


def _defused(found: re.Match[str], first: int) -> str:
    return found.group() if found.start() < first else rf"{found[1]}\u003a"
