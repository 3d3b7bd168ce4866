"""Runs `feedctl` in this process and keeps what it prints."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.described import printed_faults
from toolkit.cli.main import main


@dataclass(frozen=True)
class Ran:
    """One run of the command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.out)

    @property
    def last(self) -> Any:  # noqa: ANN401 - JSON
        """The document after what other commands have printed before."""
        return json.loads(self.out[self.out.rindex('{\n  "schema_version"') :])

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table, the headings first."""
        return [line.split() for line in self.out.splitlines()]


@dataclass(frozen=True)
class Feedctl:
    """The command, with the streams that it prints to."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Ran:
        code = main(arguments)
        printed = self.capsys.readouterr()
        faults = printed_faults(arguments, printed.out)
        assert not faults, faults
        return Ran(code, printed.out, printed.err)
