"""A retention result for people on a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.unit.retention.feeds import FeedText, days, run
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from toolkit.entities import FeedMaxDelete, Hold
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.rendering.action_result import MOST_LINES, Detail, rendered
from toolkit.rendering.retention import RETENTION_VIEW
from toolkit.rendering.tables import ResultFormat
from toolkit.rendering.terminal_progress import TerminalProgress
from toolkit.retention import RetentionResult


def render(
    result: RetentionResult, form: ResultFormat, detail: Detail = Detail.RANGES, *, on_terminal: bool = False
) -> str:
    return "".join(rendered(result, RETENTION_VIEW, form, detail=detail, on_terminal=on_terminal))


def _system() -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put(*days(1, 2, 20), "/data/clicks/[bold]no markup")
    system.locked.add("/data/clicks/2026/03/02")
    return system


def test_a_terminal_gets_colours() -> None:
    text = render(run(_system(), FeedText()), ResultFormat.TEXT, on_terminal=True)
    assert "\x1b[32mdone    \x1b[0mclicks on primary" in text
    assert "\x1b[1;31mfailed  \x1b[0mclicks on primary" in text
    assert "file:///data/clicks/[bold]no markup" in text


def test_elsewhere_plain_lines_do() -> None:
    text = render(run(_system(), FeedText()), ResultFormat.TEXT)
    assert "\x1b" not in text
    assert (
        "failed  clicks on primary  data   2026-03-02T00:00Z  file:///data/clicks/2026/03/02  (permission_denied"
        in text
    )
    assert "  1 names do not conform and stay, for example:" in text
    assert text.splitlines()[-1].startswith("status: partial; plan ")


def _much() -> MemoryFileSystem:
    """A year of days in two locations."""
    system = MemoryFileSystem()
    for month in range(1, 13):
        system.put(*days(*range(1, 29), month=f"2025/{month:02d}"))
        system.put(*(f"/stats/2025/{month:02d}/{day:02d}/x" for day in range(1, 29)))
    return system


STATS = FeedText(others={"stats": "/stats/${YEAR}/${MONTH}/${DAY}"})


@pytest.mark.parametrize(("dry_run", "outcome"), [(True, "planned"), (False, "done   ")])
def test_items_that_are_alike_are_one_line_with_their_range(*, dry_run: bool, outcome: str) -> None:
    lines = render(run(_much(), STATS, dry_run=dry_run), ResultFormat.TEXT).splitlines()
    assert lines[1:3] == [
        f"{outcome} clicks on primary: 336 instances, 2025-01-01T00:00Z to 2025-12-28T00:00Z",
        f"{outcome} clicks on primary: 336 stats instances, 2025-01-01T00:00Z to 2025-12-28T00:00Z",
    ]
    assert lines[3].startswith(f"clicks on primary: 672 {outcome.strip()}; limit")


def test_what_failed_is_told_one_by_one_and_a_target_has_so_many_lines_at_most() -> None:
    system = _much()
    system.locked.update(f"/data/clicks/2025/01/{day:02d}" for day in range(1, 29))
    result = run(system, STATS)
    lines = render(result, ResultFormat.TEXT).splitlines()[1:-1]
    assert len(lines) == MOST_LINES
    assert all(line.startswith("failed  clicks on primary  data   2025-01-") for line in lines[:18])
    assert lines[18] == "... 654 more items of clicks on primary; all of them: --verbose or --output jsonl"
    assert lines[19].startswith("clicks on primary: 644 done, 28 failed; limit")

    everything = render(result, ResultFormat.TEXT, Detail.VERBOSE)
    assert sum(line.startswith(("done ", "failed ")) for line in everything.splitlines()) == 672
    assert "more items" not in everything


def test_what_stays_for_many_reasons_leaves_room_for_what_goes() -> None:
    holds = [Hold(feed="clicks", reason=f"audit {day}", start=_day(day), end=_day(day + 1)) for day in range(1, 21)]
    system = MemoryFileSystem()
    system.put(*days(*range(1, 29), month="2025/01"))
    result = run(system, FeedText(), holds=holds)
    lines = render(result, ResultFormat.TEXT).splitlines()[1:-1]
    assert lines[0] == "done    clicks on primary: 8 instances, 2025-01-21T00:00Z to 2025-01-28T00:00Z"
    assert (len(lines), lines[-1]) == (1 + MOST_LINES // 2, "  ... 12 more lines; all of them: --verbose")
    assert "(audit 20)" in render(result, ResultFormat.TEXT, Detail.VERBOSE)


def _day(number: int) -> datetime:
    return datetime(2025, 1, number, tzinfo=UTC)


def test_quiet_says_nothing_of_what_is_well() -> None:
    system = MemoryFileSystem()
    system.put(*days(1), "/data/views/2026/03/01/x")
    well = run(system, FeedText())
    assert render(well, ResultFormat.TEXT, Detail.QUIET) == ""
    assert json.loads(render(well, ResultFormat.JSON, Detail.QUIET))["status"] == "succeeded"

    broken = _system()
    broken.put("/data/views/2026/03/01/x")
    views = FeedText(name="views", data="/data/views/${YEAR}/${MONTH}/${DAY}")
    text = render(run(broken, FeedText(), views), ResultFormat.TEXT, Detail.QUIET)
    assert "failed  clicks on primary" in text
    assert "views" not in text
    assert "status: partial" in text


def test_quiet_tells_of_a_feed_that_a_limit_of_its_own_refused() -> None:
    system = MemoryFileSystem()
    system.put(*days(1, 2), "/data/views/2024/x")
    clicks, views = FeedText(max_delete=FeedMaxDelete(instances=1)), FeedText(name="views", data="/data/views/${YEAR}")
    text = render(run(system, clicks, views), ResultFormat.TEXT, Detail.QUIET)
    assert "refused: the plan for clicks on primary deletes 2 instances" in text
    assert "views on primary" not in text


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_refused_plan_says_why_first_and_shows_the_plan(detail: Detail, *, dry_run: bool) -> None:
    result = run(_much(), STATS, dry_run=dry_run, limits=DeleteLimits(instances=3))
    lines = render(result, ResultFormat.TEXT, detail).splitlines()
    assert lines[0].startswith("refused: ")
    assert "max_delete.instances in repo.yaml allows 3" in lines[0]
    assert lines[1].startswith("retention at ")
    assert any("clicks on primary: 672 " in line for line in lines)


def test_a_dry_run_says_that_nothing_is_touched() -> None:
    first = render(run(_system(), FeedText(), dry_run=True), ResultFormat.TEXT).splitlines()[0]
    assert first == "retention at 2026-03-20T12:00Z, dry run: nothing is touched; config repo: directory " + "0" * 64


def test_a_dry_run_says_which_directories_go_as_a_whole() -> None:
    system = AtomicMemory()
    system.put(*(path for month in range(1, 6) for path in days(1, 2, month=f"2025/{month:02d}")), *days(1, 2))
    system.put("/data/clicks/2025/README")
    result = run(system, FeedText(), dry_run=True)
    base = "file:///data/clicks"
    named = ", ".join(f"{base}/2025/{month:02d}" for month in (1, 2, 3))
    assert f"  6 directories go as a whole: {named} and 3 more\n" in render(result, ResultFormat.TEXT)
    (feed,) = json.loads(render(result, ResultFormat.JSON))["feeds"]
    assert feed["whole_directories"][0] == {"path": f"{base}/2025/01", "instances": 2}
    assert len(feed["whole_directories"]) == 6


def test_where_every_instance_goes_by_itself_nothing_is_said_of_directories() -> None:
    system = MemoryFileSystem()
    system.put(*days(1))
    assert "as a whole" not in render(run(system, FeedText(), dry_run=True), ResultFormat.TEXT)


def test_a_feed_that_failed_and_a_note_are_told() -> None:
    system = _system()
    system.locked.add("/data/clicks")
    text = render(run(system, FeedText(others={"meta": "/meta"})), ResultFormat.TEXT)
    assert "clicks on primary: failed; limit days(10)" in text
    assert "  permission_denied: file:///data/clicks: permission denied" in text
    assert "  note: meta: /meta has no dates and stays" in text


def test_what_is_old_and_stays_is_counted_with_its_reason() -> None:
    hold = Hold(feed="clicks", reason="audit 7")
    result = run(_system(), FeedText(), holds=[hold])
    assert "  2 old instances stay: hold (audit 7)" in render(result, ResultFormat.TEXT)
    system = _system()
    system.files["/data/clicks/.feedctl-hold"] = b"case 12"
    text = render(run(system, FeedText()), ResultFormat.TEXT)
    held = "2 instances would go but are held by file hold file:///data/clicks/.feedctl-hold: case 12"
    assert f"  note: {held}\n" in text
    assert "clicks on primary: nothing to do, on hold; limit" in text
    assert "stay: hold" not in text
    (feed,) = json.loads(render(result, ResultFormat.JSON))["feeds"]
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


@pytest.mark.parametrize("detail", [Detail.RANGES, Detail.VERBOSE])
@pytest.mark.parametrize("on_terminal", [False, True])
def test_a_name_can_forge_no_line_and_send_nothing_to_the_terminal(detail: Detail, *, on_terminal: bool) -> None:
    system = MemoryFileSystem()
    system.put("/data/clicks/a\nstatus: succeeded\x1b[2J", "/data/b\r\x9b/2026/x")
    result = run(system, FeedText(), FeedText(name="views", data="/data/${region}/${YEAR}", limit="days(1)"))
    text = render(result, ResultFormat.TEXT, detail, on_terminal=on_terminal)
    assert r"/data/clicks/a\nstatus: succeeded\u001b[2J" in text
    assert sum(line.removeprefix("\x1b[1m").startswith("status:") for line in text.splitlines()) == 1
    assert not any(each in text for each in ("\r", "\x9b", "\x1b[2J"))
