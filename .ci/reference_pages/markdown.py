"""Markdown, and the member docstrings of enumerations."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise

from reference_pages.unexplained import UnexplainedError


def page(title: str, *blocks: str) -> str:
    """A whole page; it says that it is generated."""
    note = "<!-- Written by `make docs` from the code; changes made here get lost. -->"
    return "\n\n".join((note, f"# {title}", *(block.strip() for block in blocks))) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells are Markdown already."""
    return "\n".join(_row(cells) for cells in (header, ["---"] * len(header), *rows))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def code(text: object) -> str:
    """Text that stands for itself, also in a cell of a table."""
    return f"`{text}`".replace("|", r"\|")


def codes(texts: Iterable[object]) -> str:
    """Several such texts."""
    return ", ".join(code(text) for text in texts)


def prose(text: str) -> str:
    """A text from the code, where nothing but backticks is meant as Markdown, on one line."""
    outside_code = " ".join(text.split()).split("`")
    outside_code[::2] = [_escaped(part) for part in outside_code[::2]]
    return "`".join(outside_code)


def _escaped(text: str) -> str:
    for special in "|*<":
        text = text.replace(special, f"\\{special}")
    return text


def meanings(members: type[Enum]) -> Mapping[str, str]:
    """The docstring of each member of an enumeration, by the member's name; each member has one."""
    (definition,) = ast.parse(inspect.getsource(members)).body
    found: dict[str, str] = {}
    for statements in pairwise(getattr(definition, "body", [])):
        match statements:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = prose(text)
            case _:
                pass
    missing = [name for name in members.__members__ if name not in found]
    if missing:
        raise UnexplainedError(
            what=", ".join(missing), where=f"the docstrings below the members of {members.__qualname__}"
        )
    return found
