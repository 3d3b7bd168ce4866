"""Documents as YAML in blocks, one line for each value, and comments above the lines that they are about.

Nothing in a text of others can end a text, begin a comment or make a key: whatever is no plain word is between double
quotes, with escapes. The caller loads what was written to prove it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import yaml

from toolkit.entities import Document
from toolkit.printable import on_one_line

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@()+-]*|\d{4}-\d\d-\d\dT\d\d:\d\dZ", re.ASCII)
_NEVER_FOLD = 2_000_000_000


class _Dumper(yaml.CSafeDumper):
    """No aliases, and quotes around all that is no plain word."""

    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    style = None if _PLAIN.fullmatch(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _text)


def yaml_text(document: Document, heading: str = "") -> str:
    """A document as the text of a file.

    Args:
        document: what it holds, in its own order.
        heading: a comment on its first line.
    """
    body = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=_NEVER_FOLD
    )
    return f"# {on_one_line(heading)}\n{body}" if heading else str(body)


def with_comments(text: str, comments: Mapping[int, Iterable[str]]) -> str:
    """A text with comments above lines, each as far in as its line.

    Args:
        text: of a file.
        comments: by line, from 1 on.
    """
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        indent = " " * (len(line) - len(line.lstrip(" ")))
        lines += [f"{indent}# {on_one_line(each)}" for each in comments.get(number, ())]
        lines.append(line)
    return "\n".join(lines)
