"""How a result can be printed."""

from enum import StrEnum


class ResultFormat(StrEnum):
    """The values of `--output` of an action."""

    TEXT = "text"
    """A table on a terminal, plain lines elsewhere."""
    JSON = "json"
    """One document."""
    JSONL = "jsonl"
    """One line for each item, then one for the whole."""
