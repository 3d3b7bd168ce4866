"""`${name}` in scripts of SQL and in arguments of steps: where it is a place for a property.

In comments of SQL, and between the tags of a dollar quote, it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

REFERENCE = re.compile(r"\$\{([^{}\n]*)\}")
"""A place for a property, with its name."""
_PLACE = rf"(?P<place>{REFERENCE.pattern.replace('(', '(?:', 1)})"
_TOKEN = re.compile(
    rf"""
      (?P<comment> --(?:\\\n|[^\r\n])* )
    | (?P<block> /\*(?!\+)(?s:.)*?(?:\*/|\Z) )
    | (?P<raw> (?<!\w)[rR](?:'[^']*'?|"[^"]*"?) )
    | (?P<single> '(?:[^'\\]|\\(?s:.))*'? )
    | (?P<double> "(?:[^"\\]|\\(?s:.))*"? )
    | (?P<name> `(?:[^`]|``)*`? )
    | (?P<dollar> (?P<tag>\$[A-Za-z]*\$)(?s:.)*?(?:(?P=tag)|\Z) )
    | {_PLACE}
    | (?P<end> ; )
    | (?P<word> [^\W\d_]+://[\w/.?=&#%-]+ | \w+ )
    | (?P<blank> \s+ )
    | (?P<other> (?s:.) )
    """,
    re.VERBOSE,
)
_ESCAPED_OR_REFERENCE = re.compile(rf"\\(?s:.)|{REFERENCE.pattern}")
PLACES_IN: Mapping[str, re.Pattern[str]] = {
    "single": _ESCAPED_OR_REFERENCE,
    "double": _ESCAPED_OR_REFERENCE,
    "raw": REFERENCE,
    "name": REFERENCE,
    "place": REFERENCE,
}
"""Patterns of the references in a token of each kind; a match without a group is an escape, and no reference."""


def sql_tokens(script: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the kind and the match of each token of a script, as Spark's lexer has them."""
    return ((str(token.lastgroup), token) for token in _TOKEN.finditer(script))


def sql_references(script: str) -> Iterator[tuple[int, str]]:
    """Yield where a script has a place for a property, and the name in it."""
    for kind, token in sql_tokens(script):
        places = PLACES_IN.get(kind)
        found = () if places is None else places.finditer(token[0])
        yield from ((token.start() + each.start(), each[1]) for each in found if each[1] is not None)
