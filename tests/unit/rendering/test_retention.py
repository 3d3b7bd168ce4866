"""A retention result for people on a terminal."""

from __future__ import annotations

import json

import pytest

from tests.unit.retention.feeds import FeedText, days, run
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from toolkit.entities import Hold
from toolkit.rendering.action_result import rendered
from toolkit.rendering.retention import RETENTION_VIEW
from toolkit.rendering.tables import ResultFormat
from toolkit.rendering.terminal_progress import TerminalProgress
from toolkit.retention import RetentionResult


def render(result: RetentionResult, form: ResultFormat, width: int | None) -> str:
    return "".join(rendered(result, RETENTION_VIEW, form, width))


def _system() -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put(*days(1, 2, 20), "/data/clicks/[bold]no markup")
    system.locked.add("/data/clicks/2026/03/02")
    return system


def test_a_terminal_gets_a_table_in_colours() -> None:
    text = render(run(_system(), FeedText()), ResultFormat.TEXT, 200)
    assert "\x1b[32mdone" in text
    assert "\x1b[1;31mfailed" in text
    assert "file:///data/clicks/[bold]no markup" in text


def test_elsewhere_plain_lines_do() -> None:
    text = render(run(_system(), FeedText()), ResultFormat.TEXT, None)
    assert "\x1b" not in text
    assert (
        "failed  clicks on primary  data   2026-03-02T00:00Z  file:///data/clicks/2026/03/02  (permission_denied"
        in text
    )
    assert "  1 names do not conform and stay, for example:" in text
    assert text.splitlines()[-1].startswith("status: partial; plan ")


def test_a_dry_run_says_that_nothing_is_touched() -> None:
    first = render(run(_system(), FeedText(), dry_run=True), ResultFormat.TEXT, None).splitlines()[0]
    assert first == "retention at 2026-03-20T12:00Z, dry run: nothing is touched; config repo: directory " + "0" * 64


def test_a_dry_run_says_which_directories_go_as_a_whole() -> None:
    system = AtomicMemory()
    system.put(*(path for month in range(1, 6) for path in days(1, 2, month=f"2025/{month:02d}")), *days(1, 2))
    system.put("/data/clicks/2025/README")
    result = run(system, FeedText(), dry_run=True)
    base = "file:///data/clicks"
    named = ", ".join(f"{base}/2025/{month:02d}" for month in (1, 2, 3))
    assert f"  6 directories go as a whole: {named} and 3 more\n" in render(result, ResultFormat.TEXT, None)
    (feed,) = json.loads(render(result, ResultFormat.JSON, None))["feeds"]
    assert feed["whole_directories"][0] == {"path": f"{base}/2025/01", "instances": 2}
    assert len(feed["whole_directories"]) == 6


def test_where_every_instance_goes_by_itself_nothing_is_said_of_directories() -> None:
    system = MemoryFileSystem()
    system.put(*days(1))
    assert "as a whole" not in render(run(system, FeedText(), dry_run=True), ResultFormat.TEXT, None)


def test_a_feed_that_failed_and_a_note_are_told() -> None:
    system = _system()
    system.locked.add("/data/clicks")
    text = render(run(system, FeedText(others={"meta": "/meta"})), ResultFormat.TEXT, None)
    assert "clicks on primary: failed; limit days(10)" in text
    assert "  permission_denied: file:///data/clicks: permission denied" in text
    assert "  note: meta: /meta has no dates and stays" in text


def test_what_is_old_and_stays_is_counted_with_its_reason() -> None:
    hold = Hold(feed="clicks", reason="audit 7")
    result = run(_system(), FeedText(), holds=[hold])
    assert "  2 old instances stay: hold (audit 7)" in render(result, ResultFormat.TEXT, None)
    system = _system()
    system.files["/data/clicks/.feedctl-hold"] = b"case 12"
    text = render(run(system, FeedText()), ResultFormat.TEXT, None)
    held = "2 instances would go but are held by file hold file:///data/clicks/.feedctl-hold: case 12"
    assert f"  note: {held}\n" in text
    assert "clicks on primary: nothing to do, on hold; limit" in text
    assert "stay: hold" not in text
    (feed,) = json.loads(render(result, ResultFormat.JSON, None))["feeds"]
    assert feed["kept"][0] == {
        "location": "data",
        "instance": "2026-03-01T00:00Z",
        "path": "file:///data/clicks/2026/03/01",
        "reason": "hold",
        "message": "audit 7",
    }


def test_progress_can_end_without_having_begun() -> None:
    progress = TerminalProgress(what="retention")
    progress.end()
    progress.begin(2)
    progress.advance(1)
    progress.end()


@pytest.mark.parametrize("width", [None, 400])
def test_a_name_can_forge_no_line_and_send_nothing_to_the_terminal(width: int | None) -> None:
    system = MemoryFileSystem()
    system.put("/data/clicks/a\nstatus: succeeded\x1b[2J", "/data/b\r\x9b/2026/x")
    result = run(system, FeedText(), FeedText(name="views", data="/data/${region}/${YEAR}", limit="days(1)"))
    text = render(result, ResultFormat.TEXT, width)
    assert r"/data/clicks/a\nstatus: succeeded\u001b[2J" in text
    assert sum(line.removeprefix("\x1b[1m").startswith("status:") for line in text.splitlines()) == 1
    assert not any(each in text for each in ("\r", "\x9b", "\x1b[2J"))
