"""Properties of instance sequences, against an oracle that steps from the start with another library."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from dateutil.relativedelta import relativedelta
from dateutil.tz import resolve_imaginary
from hypothesis import example, given
from hypothesis import strategies as st

from toolkit.el import Frequency, InstanceSequence, Unit, load_zone, parse_instant

STEPS = 40
ZONES = (
    "UTC",
    "America/Los_Angeles",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Pacific/Apia",
    "Asia/Kathmandu",
)
MINUTE = timedelta(minutes=1)

# Short after these the zones change their clocks, Apia skips a day, and Kathmandu moves by a quarter of an hour.
EVENTFUL = [
    parse_instant(text)
    for text in (
        "2011-12-20T00:00Z",
        "2026-03-01T00:00Z",
        "2026-09-25T00:00Z",
        "2006-10-20T00:00Z",
        "1985-12-20T00:00Z",
    )
]
STARTS = st.builds(
    lambda base, minutes: base + minutes * MINUTE,
    st.sampled_from([*EVENTFUL, parse_instant("1990-01-01T00:00Z")]),
    st.one_of(st.integers(0, 20 * 24 * 60), st.integers(0, 45 * 365 * 24 * 60)),
)
FREQUENCIES = st.builds(
    lambda unit, count: Frequency(unit=unit, count=count),
    st.sampled_from(Unit),
    st.one_of(st.just(1), st.integers(1, 40)),
)
SEQUENCES = st.builds(InstanceSequence, STARTS, FREQUENCIES, st.sampled_from(ZONES))


def stepped(sequence: InstanceSequence) -> list[datetime]:
    """The first instances, one by one: the local start plus so many calendar steps, as dateutil has them."""
    frequency, zone = sequence.frequency, load_zone(sequence.timezone)
    if frequency.unit in (Unit.MINUTES, Unit.HOURS):
        step = timedelta(**{frequency.unit.value: frequency.count})
        return [sequence.start + step * k for k in range(STEPS)]
    local = sequence.start.astimezone(zone).replace(fold=0)
    instants = [sequence.start]
    for k in range(1, STEPS + 1):
        months = frequency.count * k if frequency.unit is Unit.MONTHS else 0
        days = frequency.count * k if frequency.unit is Unit.DAYS else 0
        instant = resolve_imaginary(local + relativedelta(months=months, days=days)).astimezone(UTC)
        if instant != instants[-1]:
            instants.append(instant)
    return instants[:STEPS]


@given(sequence=SEQUENCES)
@example(InstanceSequence(parse_instant("2011-12-01T12:00Z"), Frequency.parse("days(1)"), "Pacific/Apia"))
@example(InstanceSequence(parse_instant("2011-12-01T10:00Z"), Frequency.parse("days(1)"), "Pacific/Apia"))
@example(InstanceSequence(parse_instant("2011-12-01T09:59Z"), Frequency.parse("days(1)"), "Pacific/Apia"))
@example(InstanceSequence(parse_instant("2026-02-20T10:30Z"), Frequency.parse("days(1)"), "America/Los_Angeles"))
@example(InstanceSequence(parse_instant("2026-11-01T09:30Z"), Frequency.parse("days(1)"), "America/Los_Angeles"))
@example(InstanceSequence(parse_instant("2026-09-20T15:40Z"), Frequency.parse("days(1)"), "Australia/Lord_Howe"))
@example(InstanceSequence(parse_instant("2000-01-31T23:30Z"), Frequency.parse("months(1)"), "Asia/Kathmandu"))
def test_instances_are_those_that_stepping_from_the_start_finds(sequence: InstanceSequence) -> None:
    assert [sequence[k] for k in range(STEPS)] == stepped(sequence)


@given(sequence=SEQUENCES)
def test_the_start_is_the_first_and_instances_strictly_rise(sequence: InstanceSequence) -> None:
    instances = [sequence[k] for k in range(STEPS)]
    assert instances[0] == sequence.start
    assert all(earlier < later for earlier, later in pairwise(instances))


@given(sequence=SEQUENCES, position=st.integers(0, 2000))
def test_the_index_of_an_instance_is_its_position(sequence: InstanceSequence, position: int) -> None:
    assert sequence.index(sequence[position]) == position


@given(sequence=SEQUENCES, position=st.integers(0, STEPS - 2), minutes=st.integers(-3000, 3000))
@example(
    # 01:10Z is the second 02:10 in Berlin; the instance was at the first 02:50.
    sequence=InstanceSequence(parse_instant("2026-10-20T00:50Z"), Frequency.parse("days(1)"), "Europe/Berlin"),
    position=5,
    minutes=20,
)
def test_neighbours_agree_with_stepping_and_membership(sequence: InstanceSequence, position: int, minutes: int) -> None:
    instances = stepped(sequence)
    time = min(instances[position] + minutes * MINUTE, instances[-1])
    before, after = sequence.at_or_before(time), sequence.at_or_after(time)
    assert before == max((t for t in instances if t <= time), default=None)
    assert after == min(t for t in instances if t >= time)
    assert (time in sequence) == (time in instances) == (before == after)


@given(sequence=SEQUENCES, ends=st.tuples(st.integers(-100, 4000), st.integers(-100, 4000)), spread=st.integers(1, 900))
def test_between_and_count_agree_with_stepping(sequence: InstanceSequence, ends: tuple[int, int], spread: int) -> None:
    instances = stepped(sequence)
    first, end = (min(sequence.start + minutes * spread * MINUTE, instances[-1]) for minutes in ends)
    found = list(sequence.between(first, end))
    assert found == [t for t in instances if first <= t < end]
    assert sequence.count(first, end) == len(found)


@given(sequence=SEQUENCES, position=st.integers(1, STEPS - 1), minutes=st.integers(0, 2000))
def test_an_end_cuts_and_changes_nothing_else(sequence: InstanceSequence, position: int, minutes: int) -> None:
    instances = stepped(sequence)
    end = min(instances[position] + minutes * MINUTE, instances[-1])
    ended = InstanceSequence(sequence.start, sequence.frequency, sequence.timezone, end)
    kept = [t for t in instances if t < end]
    assert list(ended.between(sequence.start, instances[-1] + MINUTE)) == kept
    assert ended.at_or_before(instances[-1]) == kept[-1]
    assert ended.at_or_after(end) is None
    assert ended.count(sequence.start, end) == len(kept)


@given(sequence=SEQUENCES, position=st.integers(0, 2000), minutes=st.integers(1, 100_000))
def test_a_later_time_never_has_an_earlier_neighbour(sequence: InstanceSequence, position: int, minutes: int) -> None:
    earlier = sequence[position]
    before = sequence.at_or_before(earlier + minutes * MINUTE)
    assert before is not None
    assert before >= earlier
