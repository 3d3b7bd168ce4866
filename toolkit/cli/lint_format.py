"""How a lint report can be printed."""

from __future__ import annotations

from enum import StrEnum


class LintFormat(StrEnum):
    """The values of `--format`."""

    TEXT = "text"
    """Each finding with its line of source, for people."""
    JSON = "json"
    """One document, with a schema version."""
    SARIF = "sarif"
    """SARIF 2.1.0, for code scanning and editors."""
    GITHUB = "github"
    """GitHub's workflow commands, which show findings beside the lines of a pull request."""
