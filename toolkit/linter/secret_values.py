"""Patterns of passwords, keys and tokens, and texts of the config repo without them."""

from __future__ import annotations

import re
from functools import lru_cache

from toolkit.el import without_credentials
from toolkit.linter.source_map import source_line

_SHAPES = (
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (
        "an AWS secret key",
        r"(?i:secret[._-]?(?:access[._-]?)?key)[\"']?\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
    ),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a signed token (JWT)", r"\beyJ(?:[A-Za-z0-9_]|-(?!eyJ)){8,}+\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"),
    ("an Azure storage key", r"\bAccountKey=[A-Za-z0-9+/]{40,}=*"),
    ("a URL with a password", r"://(?:\$\{[^{}]*\}|[^/@:\s])*+:(?!\$\{|\*+@)[^/@\s]+@"),
    ("a password in a URL", r"(?i:[?&;](?:password|passwd|pwd)=)(?!\$\{|\*+(?:[&;]|$))[^&;\s]+"),
)
_SECRET = re.compile("|".join(f"(?P<s{index}>{shape})" for index, (_, shape) in enumerate(_SHAPES)))

_NAMED = re.compile(
    r"(?i:(?:^|[._-]|(?<=[a-z]))(?:password|passwd|pwd|secret|token|api[._-]?key|access[._-]?key|secret[._-]?key|"
    r"private[._-]?key|account[._-]?key(?:[._-](?s:.*))?))$"
)
"""Keys whose value is a secret, such as ``fs.s3a.secret.key`` or ``dbPassword``."""

_REFERENCE = re.compile(
    r"\$\{|^(?:env|file|alias|jceks|vault|https?|hdfs|s3a?):|^/|^\*+$|^(?i:true|false|none|null)?$|^\d+$"
)
"""Values of such keys that say where the secret is, or are none."""

_TOKEN = re.compile("|".join(shape for _, shape in _SHAPES if "://" not in shape and "[?&;]" not in shape))
"""Shapes that are secret as a whole; of an address only the part that `without_credentials` knows is."""

_KEY = re.compile(r"""(?P<first>^[\s#-]*+)?(?<![\w.-])["']?(?P<key>[\w.-]++)["']?\s*+[:=]\s*+(?=[^\s{\[])""")
"""A key before its value on one line, also in a comment; a blank behind the colon may be the mistake."""

_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*+"?|'(?:[^']|'')*+'?""")
_TO_COMMENT = re.compile(r"(?:(?!\s#).)*+")
_IN_FLOW = re.compile(r"[^\s,}\]]*+")

_NO_SECRET = re.compile(r"[|>][-+0-9]*|\$\{[^}]*\}|(?:env|file|alias|jceks|vault):.*|\*+|(?i:true|false|none|null|~)?")
"""Stricter than what is a finding: a number, a path or half a reference is not reported, but not repeated either."""

_SPOKEN = re.compile(
    r"""(?i)(?:password|passwd|pwd|secret|token|key|\bidentified\s+by)["'`]?[\s,]*+(?P<text>'[^'\n]++'?|"[^"\n]++"?)"""
)
"""A text behind such a word without a colon, as in the options of a table in SQL, or an argument of Python."""

_OPENED = re.compile(r"""[\s#-]*+["']?(?P<key>[\w.-]++)["']?\s*+:\s*+(?P<value>.*)""")
_LINES_ABOVE = 100
"""So far above a line its key is looked for; a private key has about thirty lines."""


def shape_of(text: str) -> str | None:
    """Return the kind of secret that has this shape; None: none is known."""
    match = _SECRET.search(text)
    return None if match is None else _SHAPES[int((match.lastgroup or "s0")[1:])][0]


def is_secret(key: str, value: str) -> bool:
    """Return whether a value is a secret by the name of its key, unless it names the place of the secret."""
    return _NAMED.search(key) is not None and _REFERENCE.search(value) is None


def without_secrets(text: str) -> str:
    """A text with asterisks for the secrets that are known by their shape; as long as before."""
    return _TOKEN.sub(lambda found: "*" * len(found.group()), without_credentials(text))


def text_without_secrets(text: str) -> str:
    """A text of a program, such as an error, with asterisks for secrets by their shape or by the word before them.

    A text behind the word ``key`` alone stays: most keys of errors are of mappings and partitions.
    """
    return "\n".join(_spoken_hidden(_without_named(line), but="key") for line in without_secrets(text).split("\n"))


def value_without_secrets(key: str, value: str) -> str:
    """The value of a key as it may be shown, with asterisks for what is secret by its shape, or by the key's name."""
    if _NAMED.search(key) and not _NO_SECRET.fullmatch(value):
        return "*" * len(value)
    return without_secrets(value)


@lru_cache(maxsize=16)
def line_without_secrets(data: bytes, line: int) -> str:
    """A line of a file as it may be shown: asterisks for what is secret by its shape, or by its key's name.

    Cached: a line may have thousands of findings, which come one after the other.

    Args:
        data: the file; it need not be YAML.
        line: from 1 on.
    """
    text = source_line(data, line)
    if _is_within_secret(data, line):
        return re.sub(r"\S", "*", text)
    return _spoken_hidden(_without_named(without_secrets(text)))


def _spoken_hidden(text: str, *, but: str = "\n") -> str:
    def hidden(found: re.Match[str]) -> str:
        is_shown = found[0].lower().startswith(but)
        return found[0] if is_shown else found[0][: -len(found["text"])] + "*" * len(found["text"])

    return _SPOKEN.sub(hidden, text)


def _without_named(text: str) -> str:
    at, parts = 0, []
    while found := _KEY.search(text, at):
        start = end = found.end()
        if _NAMED.search(found["key"]):
            end = _end_of_value(text, start, is_first=found["first"] is not None)
        value = text[start:end]
        hidden = value if _NO_SECRET.fullmatch(value.strip("\"' ")) else "*" * len(value)
        parts += [text[at:start], hidden]
        at = end
    return "".join([*parts, text[at:]])


def _end_of_value(text: str, start: int, *, is_first: bool) -> int:
    """Return the offset at which a value ends at the latest: behind the first key of a line only a comment is else."""
    pattern = _QUOTED if text[start] in "\"'" else _TO_COMMENT if is_first else _IN_FLOW
    found = pattern.match(text, start)
    return len(text) if found is None else found.end()


def _is_within_secret(data: bytes, line: int) -> bool:
    """Return whether a line continues a secret from above: a private key, or a text below a key with such a name."""
    text = source_line(data, line)
    for number in range(line - 1, max(0, line - 1 - _LINES_ABOVE), -1):
        above = source_line(data, number)
        if "-----BEGIN " in above or "-----END " in above:
            return "-----BEGIN " in above
        is_beside = _indent(above) == _indent(text) and _OPENED.match(text) is None and _OPENED.match(above) is not None
        if above.strip() and (is_beside or _indent(above) < _indent(text)):
            return _is_opened_by(above, text)
    return False


def _is_opened_by(above: str, text: str) -> bool:
    opened = _OPENED.match(above)
    if opened is None or not _NAMED.search(opened["key"]):
        return False
    return bool(opened["value"]) or _OPENED.match(text) is None


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
