"""The deadlines in docs/concepts/sla.md are those of the feed and the calendar of the template."""

from __future__ import annotations

import re
from pathlib import Path

from toolkit.config_source import from_directory
from toolkit.el import format_instant, parse_instant
from toolkit.entities import load
from toolkit.planning.sla import feed_moments, is_day_off

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| (?P<instance>\S+Z) \([^)]*\) \| (?P<deadline>\S+) \|", re.MULTILINE)


def test_the_table_of_deadlines_is_what_the_template_has() -> None:
    page = (ROOT / "docs" / "concepts" / "sla.md").read_text(encoding="utf-8")
    repository = load(from_directory(ROOT / "config_repo_template"))
    feed, calendar = repository.feed("clicks_by_country"), repository.calendars["head_office"]
    assert feed.sla is not None
    found: dict[str, str] = {}
    for row in ROW.finditer(page):
        instant = parse_instant(row["instance"])
        assert instant in feed.instances_on("primary")
        high_at = feed_moments(feed.sla, instant, feed.timezone, calendar).high_at
        is_exempt = is_day_off(feed.sla.deadline, instant, calendar)
        found[row["instance"]] = "exempt" if is_exempt or high_at is None else format_instant(high_at)
    assert found == {row["instance"]: row["deadline"] for row in ROW.finditer(page)}
    assert len(found) == 5
