"""A retention result in each of its forms."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

from toolkit.rendering.retention_document import item_line, summary, whole
from toolkit.rendering.retention_text import plain_lines
from toolkit.rendering.tables import ResultFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolkit.retention import RetentionResult

_TERMINAL = "toolkit.rendering.retention_terminal"
"""Loaded for a terminal alone: a run of a scheduler has none, and rich takes long to load."""


def render(result: RetentionResult, form: ResultFormat, terminal_width: int | None) -> str:
    """The text to print.

    Args:
        result: of the run.
        form: asked for with `--output`.
        terminal_width: None when the output does not go to a terminal.
    """
    if form is ResultFormat.JSON:
        return one_document(whole(result))
    if form is ResultFormat.JSONL:
        lines = [*map(item_line, result.items), summary(result)]
        return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    if terminal_width is not None:
        terminal_text: Callable[[RetentionResult, int], str] = import_module(_TERMINAL).terminal_text
        return terminal_text(result, terminal_width)
    return "".join(f"{line}\n" for line in plain_lines(result))


def one_document(document: Mapping[str, object]) -> str:
    """One JSON document, laid out for reading."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
