"""Feeds before and after a change, built directly, and what is evicted, found instance by instance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from hypothesis import strategies as st

from tests.unit.planning.decisions import decided
from tests.unit.planning.entities import cluster
from toolkit.el import CanonicalPath, Frequency, PathTemplate, parse_instant
from toolkit.entities import (
    Feed,
    FeedCluster,
    Hold,
    LateArrival,
    Locations,
    LocationType,
    Protection,
    ProtectionName,
    Retention,
    Validity,
)
from toolkit.planning.blast_radius.before_after import BeforeAfter, FeedState
from toolkit.planning.retention import Candidate, instance_time

START = parse_instant("2026-01-01T00:00Z")
HOURLY = "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"
GRIDS = {
    "minutes(30)": "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}-${MINUTE}",
    "hours(1)": "/d/${YEAR}/${MONTH}/${DAY}/${HOUR}",
    "hours(6)": "/d/${YEAR}/${MONTH}/${DAY}/${HOUR}",
    "days(1)": "/d/${YEAR}-${MONTH}-${DAY}",
    "days(3)": "/d/${YEAR}-${MONTH}-${DAY}",
    "months(1)": "/d/${YEAR}/${MONTH}",
}
SHORT = ("hours(3)", "days(1)", "days(2)")
LENGTHS = ("hours(1)", "hours(5)", "days(1)", "days(2)", "days(20)", "months(1)", "months(40)")


def side(
    frequency: str = "hours(1)",
    template: str = HOURLY,
    limit: str | None = "days(10)",
    *,
    timezone: str = "UTC",
    keep_last: int | None = None,
    cut_off: str | None = None,
    protect: tuple[Protection, ...] = (Protection(name=ProtectionName.LATE_WINDOW),),
    end: str | datetime = "2099-01-01T00:00Z",
    holds: tuple[Hold, ...] = (),
    keep_beyond_validity: bool = True,
) -> FeedState:
    """The feed `clicks` on the cluster `primary`."""
    retention = None if limit is None else Retention(limit=Frequency.parse(limit), keep_last=keep_last, protect=protect)
    until = parse_instant(end) if isinstance(end, str) else end
    feed = Feed(
        name="clicks",
        frequency=Frequency.parse(frequency),
        timezone=timezone,
        late_arrival=None if cut_off is None else LateArrival(cut_off=Frequency.parse(cut_off)),
        locations=Locations(data=template),
        clusters=(FeedCluster(name="primary", validity=Validity(start=START, end=until), retention=retention),),
    )
    return FeedState(
        feed=feed,
        cluster=cluster(),
        default_fs="file:///",
        keep_beyond_validity=keep_beyond_validity,
        holds=holds,
    )


def pair(before: FeedState, after: FeedState, time: str | datetime) -> BeforeAfter:
    """Both, with the time of the next run."""
    return BeforeAfter(before=before, after=after, time=parse_instant(time) if isinstance(time, str) else time)


def evicted(sides: BeforeAfter, read_by: FeedState) -> set[datetime]:
    """The instances that a run evicts, found by looking at every single one."""
    policy = read_by.policy(sides.time)
    if policy is None:
        return set()
    candidates = dict(_candidates(sides, read_by))
    gone = set(decided(candidates.values(), policy)[0])
    return {instant for instant, candidate in candidates.items() if candidate in gone}


def _candidates(sides: BeforeAfter, read_by: FeedState) -> Iterator[tuple[datetime, Candidate]]:
    made, written = sides.before.instances, _template(sides.before)
    for instant in made.between(START, sides.time + timedelta(minutes=1)):
        path = written.render(instant)
        period = _template(read_by).parse(path)
        if period is not None:
            place = CanonicalPath("file", "", path)
            time = instance_time(period, read_by.instances)
            yield (
                instant,
                Candidate(
                    location=LocationType.DATA, time=time, first=period.first, end=period.end, path=place, base=place
                ),
            )


def _template(of: FeedState) -> PathTemplate:
    locations = of.feed.locations
    assert locations is not None
    assert locations.data is not None
    return PathTemplate(locations.data, of.feed.path_timezone)


_times = st.integers(0, 20 * 24).map(lambda hours: START + timedelta(hours=hours))
_holds = st.builds(
    lambda start, days: Hold(feed="clicks", start=start, end=start + timedelta(days=days), reason="audit"),
    _times,
    st.integers(1, 10),
) | st.sampled_from(
    (
        Hold(feed="clicks", start=START + timedelta(days=20), reason="inquiry"),
        Hold(feed="clicks", end=START + timedelta(days=2), reason="inquiry"),
        Hold(feed="clicks", reason="everything"),
    )
)


@st.composite
def changes(draw: st.DrawFn) -> BeforeAfter:
    """A feed whose settings change in any way; it has had a few hundred instances at most."""
    frequency = draw(st.sampled_from(sorted(GRIDS)))
    days, hours = draw(st.sampled_from((-5, 0, 4, 16))), draw(st.integers(0, 200))
    time = START + timedelta(days=days, hours=hours)
    zone = draw(st.sampled_from(("UTC", "America/Los_Angeles"))) if frequency.startswith(("days", "months")) else "UTC"
    before = draw(_sides(frequency, GRIDS[frequency], zone))
    after = draw(_sides(draw(st.sampled_from((frequency, frequency, *sorted(GRIDS)))), _other(draw, frequency), zone))
    return pair(before, after, time)


def _other(draw: st.DrawFn, frequency: str) -> str:
    template = GRIDS[frequency]
    return draw(st.sampled_from((template, template, template.replace("/d/", "/*/"), template.replace("/d/", "/e/"))))


def _sides(frequency: str, template: str, timezone: str) -> st.SearchStrategy[FeedState]:
    window = st.builds(
        Protection,
        name=st.just(ProtectionName.LATE_WINDOW),
        max_age=st.none() | st.sampled_from(LENGTHS).map(Frequency.parse),
    )
    return st.builds(
        side,
        st.just(frequency),
        st.just(template),
        st.sampled_from((*SHORT, *SHORT, *LENGTHS, None)),
        timezone=st.just(timezone),
        keep_last=st.none() | st.integers(1, 12),
        cut_off=st.sampled_from((None, *SHORT, *LENGTHS)),
        protect=st.just(()) | st.tuples(window),
        end=st.sampled_from(("2026-01-05T00:00Z", "2026-01-25T07:00Z", "2099-01-01T00:00Z")),
        holds=st.just(()) | st.lists(_holds, max_size=2).map(tuple),
        keep_beyond_validity=st.booleans(),
    )
