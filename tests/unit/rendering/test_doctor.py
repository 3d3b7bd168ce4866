from __future__ import annotations

import io
import json
import re

import pytest

from tests.unit.rendering.test_tables import Terminal
from toolkit.doctor.findings import Checked, CheckResult, CheckStatus, failed, ok, skipped, warning, worst
from toolkit.rendering.doctor import findings_document, write_findings

_FOUND = (
    ("driver", "package", ok("1.0", what="hdfs")),
    ("cluster a", "write", failed("no answer\nwithin 15 s", todo="see why")),
    ("cluster a", "temp", skipped("not looked at")),
)


def _checked(*found: tuple[str, str, CheckResult]) -> tuple[Checked, ...]:
    return tuple(Checked(about=about, name=name, finding=finding, seconds=0.1234) for about, name, finding in found)


def test_a_line_for_each_finding_and_the_counts_at_the_end() -> None:
    stream = io.StringIO()
    write_findings(_checked(*_FOUND), stream)
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["ABOUT", "CHECK", "STATUS", "FOUND", "TO", "DO"]
    assert lines[1].split() == ["driver", "package", "hdfs", "ok", "1.0", "-"]
    assert "see why" in lines[2]
    assert lines[-1] == "1 ok, 1 failed, 1 skipped"
    assert len(lines) == 6


@pytest.mark.parametrize("width", [40, 80, 200])
def test_on_a_terminal_everything_is_told_within_its_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    path = f"file:///{'very/long/' * 20}end"
    found = (*_FOUND, ("cluster a", "staging", warning(f"{path} is not there", todo="make it")))
    stream = Terminal()
    write_findings(_checked(*found), stream)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()
    assert max(map(len, lines)) <= width
    assert [line for line in lines if line and not line.startswith(" ")] == ["driver", "cluster a", lines[-1]]
    assert path in "".join(line.rstrip().rpartition("  ")[2].strip() for line in lines)
    assert any("to do: make it" in line for line in lines)


def test_the_document_has_the_worst_status_and_every_field() -> None:
    document = findings_document(_checked(*_FOUND))
    assert json.loads(json.dumps(document)) == {
        "status": "failed",
        "counts": {"ok": 1, "warning": 0, "failed": 1, "skipped": 1},
        "checks": [
            _document("driver", "package", "hdfs", "ok", "1.0", None),
            _document("cluster a", "write", None, "failed", "no answer\nwithin 15 s", "see why"),
            _document("cluster a", "temp", None, "skipped", "not looked at", None),
        ],
    }


def test_a_warning_is_worse_than_nothing_and_better_than_a_failure() -> None:
    warned, broken = ("a", "b", warning("x", todo="y")), ("a", "b", failed("x", todo="y"))
    assert worst(_checked(*_FOUND[2:])) is CheckStatus.OK
    assert worst(_checked(warned, *_FOUND[2:])) is CheckStatus.WARNING
    assert worst(_checked(warned, broken)) is CheckStatus.FAILED


def _document(*values: str | None) -> dict[str, object]:
    names = ("about", "check", "what", "status", "found", "todo")
    return {**dict(zip(names, values, strict=True)), "seconds": 0.123}
