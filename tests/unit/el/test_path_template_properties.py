"""Properties of path templates in zones with clock changes, odd offsets and a skipped day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from toolkit.el import PathTemplate, TableUri, load_zone, parse_instant
from toolkit.el.segment import Found

ZONES = st.sampled_from(
    [
        "UTC",
        "America/Los_Angeles",
        "Europe/Berlin",
        "Asia/Kolkata",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "America/St_Johns",
        "Pacific/Apia",
        "Africa/Monrovia",
    ]
)
TEXTS = st.sampled_from(
    [
        "/d/${YEAR}",
        "/d/${YEAR}-${MONTH}",
        "/d/${DAY}/${MONTH}/${YEAR}",
        "/d/${YEAR}/${MONTH}/${DAY}/${HOUR}",
        "/d/${YEAR}${MONTH}${DAY}${HOUR}${MINUTE}",
        "/d/${YEAR}/${YEAR}-${MONTH}-${DAY}/*/${HOUR}",
    ]
)
MINUTES = st.integers(0, 60 * 365 * 24 * 60).map(lambda n: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(minutes=n))
CLOCK_CHANGES = st.sampled_from(
    [
        "2026-03-08T10:00Z",
        "2026-11-01T09:00Z",
        "2026-04-04T15:00Z",
        "2026-10-03T15:30Z",
        "2011-12-30T10:00Z",
        "2006-10-29T02:31Z",
    ]
).flatmap(lambda text: st.integers(-180, 180).map(lambda n: parse_instant(text) + timedelta(minutes=n)))
INSTANTS = st.one_of(MINUTES, CLOCK_CHANGES)


@given(TEXTS, ZONES, INSTANTS)
@example("/d/${YEAR}/${MONTH}/${DAY}/${HOUR}", "America/St_Johns", parse_instant("2006-10-29T02:31Z"))
def test_an_instant_lies_in_the_period_of_its_path(text: str, zone: str, instant: datetime) -> None:
    template = PathTemplate(text, zone)
    period = template.parse(template.render(instant))
    assert period is not None
    assert instant in period
    assert period.first <= instant < period.end


@given(TEXTS, ZONES, INSTANTS)
def test_exactly_the_instants_of_a_period_render_to_its_path(text: str, zone: str, instant: datetime) -> None:
    template = PathTemplate(text, zone)
    path = template.render(instant)
    period = template.parse(path)
    assert period is not None
    edges = [at + timedelta(minutes=step) for span in period.spans for at in span for step in (-1, 0, 1)]
    assert [template.render(at) == path for at in edges] == [at in period for at in edges]


@given(ZONES, st.integers(1, 9999), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_a_path_conforms_just_when_its_local_time_exists(
    zone: str, year: int, month: int, day: int, hour: int, minute: int
) -> None:
    path = f"/d/{year:04}{month:02}{day:02}{hour:02}{minute:02}"
    period = PathTemplate("/d/${YEAR}${MONTH}${DAY}${HOUR}${MINUTE}", zone).parse(path)
    try:
        local = datetime(year, month, day, hour, minute, tzinfo=load_zone(zone))
        there = local.astimezone(UTC).astimezone(load_zone(zone)).strftime("%Y%m%d%H%M").rjust(12, "0") == path[3:]
    except (ValueError, OverflowError):
        there = False
    if 2 < year < 9999:
        assert (period is not None) == there
    elif period is not None:
        assert period.first < period.end


@given(ZONES, INSTANTS, st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1))
def test_a_partition_parses_back_to_its_instant_and_variables(zone: str, instant: datetime, region: str) -> None:
    if region in {".", ".."} or region.startswith(".feedctl"):
        return
    uri = TableUri.parse("catalog:db:t#ds=${YEAR}-${MONTH}-${DAY}-${HOUR};region=${region}", zone)
    period = uri.parse(uri.render(instant, {"region": region}))
    assert period is not None
    assert instant in period
    assert period.variables == {"region": region}


@given(TEXTS, ZONES, INSTANTS)
def test_what_a_directory_can_reach_holds_the_period_of_every_path_below(
    text: str, zone: str, instant: datetime
) -> None:
    template = PathTemplate(text, zone)
    names = template.render(instant).split("/")[1:]
    known = template.step(_nothing(), 0, names[0])
    for depth, name in enumerate(names[1:], 1):
        assert known is not None
        spans = template.reach(known)
        assert spans is None or any(first <= instant < end for first, end in spans)
        known = template.step(known, depth, name)


def _nothing() -> Found:
    return Found({}, {})
