"""Labels of graphs in the languages of Mermaid and Graphviz: texts of others, in which no character has a meaning."""

from __future__ import annotations

import string

from toolkit.printable import on_one_line

LONGEST = 200
"""Most characters of a line of a label; of a longer text the beginning and the end are shown.

Mermaid refuses a graph of more than 50,000 characters.
"""

_MERMAID_PLAIN = frozenset(string.ascii_letters + string.digits + " -_./:?=,@+")


def mermaid_label(*lines: str) -> str:
    """Return lines as a quoted label of Mermaid."""
    shown = ("".join(each if each in _MERMAID_PLAIN else f"#{ord(each)};" for each in _line(line)) for line in lines)
    return '"' + "<br>".join(shown) + '"'


def dot_label(*lines: str) -> str:
    """Return lines as a quoted label of Graphviz, which also knows the entities of HTML."""
    shown = (_line(each).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for each in lines)
    return '"' + "\\n".join(shown) + '"'


def _line(text: str) -> str:
    """Return a text without control characters, and without its middle if it is long."""
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\N{HORIZONTAL ELLIPSIS}{text[1 - LONGEST // 2 :]}"
    return on_one_line(text)
