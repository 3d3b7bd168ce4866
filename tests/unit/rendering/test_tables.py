"""Tables on a terminal and elsewhere."""

from __future__ import annotations

from io import StringIO

import pytest

from toolkit.rendering.tables import MOST_RICH, write_table

ROWS = [["primary", "failed"], ["[backup]", "ready"]]


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def written(rows: list[list[str]], stream: StringIO) -> str:
    write_table(("cluster", "status"), rows, stream, {"failed": "bold red"})
    return stream.getvalue()


def test_in_a_pipe_a_table_is_aligned_columns() -> None:
    assert written(ROWS, StringIO()) == "CLUSTER   STATUS\nprimary   failed\n[backup]  ready\n"


def test_on_a_terminal_a_table_has_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    text = written(ROWS, Terminal())
    assert "\x1b[1;31mfailed" in text
    assert "[backup]" in text


def test_a_long_table_is_plain_on_a_terminal_too() -> None:
    text = written([["primary", "failed"]] * (MOST_RICH + 1), Terminal())
    assert text.count("\n") == MOST_RICH + 2
    assert "\x1b" not in text
