"""Instances without a record are found by counting, whatever else is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import share_of
from toolkit.el import Frequency, InstanceSequence, format_instant
from toolkit.planning.history import unrecorded

START = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@dataclass
class Records:
    """Records in memory, and how often they were counted and read."""

    recorded: frozenset[str]
    counts: int = 0
    read: list[frozenset[str]] = field(default_factory=list)

    def count(self, first: str, end: str, times: tuple[str, ...]) -> int:
        self.counts += 1
        ends = tuple(f"{each}Z" for each in times) or ("Z",)
        return sum(first <= key < end and key.endswith(ends) for key in self.recorded)

    def keys(self, first: str, end: str) -> frozenset[str]:
        self.read.append(frozenset(key for key in self.recorded if first <= key < end))
        return self.read[-1]


def keys(instants: Iterable[datetime]) -> frozenset[str]:
    return frozenset(map(format_instant, instants))


FREQUENCIES = ["minutes(1)", "minutes(5)", "minutes(7)", "minutes(90)", "hours(1)", "hours(5)", "days(1)", "months(1)"]


@given(
    frequency=st.sampled_from(FREQUENCIES),
    timezone=st.sampled_from(["UTC", "Europe/Berlin"]),
    length=st.integers(0, 4000),
    missing=st.sets(st.integers(0, 4000), max_size=9),
    foreign=st.sets(st.integers(0, 400_000), max_size=9),
    until=st.none() | st.integers(0, 4000),
)
@settings(max_examples=share_of(60), deadline=None)
def test_what_has_no_record_is_found_whatever_else_is_recorded(
    frequency: str, timezone: str, length: int, missing: set[int], foreign: set[int], until: int | None
) -> None:
    sequence = InstanceSequence(START, Frequency.parse(frequency), timezone)
    end = sequence[length]
    wanted = [sequence[place] for place in range(length)]
    done = [each for place, each in enumerate(wanted) if place not in missing and (until is None or place < until)]
    others = [START + MINUTE * place for place in foreign if START + MINUTE * place not in sequence]
    recorded = keys([*done, *others, sequence[length + 1]])
    found = list(unrecorded(sequence, sequence.start, end, Records(recorded)))
    assert found == [each for each in wanted if format_instant(each) not in recorded]


def test_a_history_that_is_recorded_is_counted_in_parts_and_not_read() -> None:
    sequence = InstanceSequence(START, Frequency.parse("minutes(5)"))
    records = Records(keys(sequence[place] for place in range(20_000)))
    assert list(unrecorded(sequence, START, sequence[20_000], records)) == []
    assert (records.counts, records.read) == (20, [])


def test_of_a_history_with_two_gaps_only_what_is_beside_them_is_read() -> None:
    sequence = InstanceSequence(START, Frequency.parse("minutes(5)"))
    gaps = {1_000, 35_000}
    records = Records(keys(sequence[place] for place in range(40_000) if place not in gaps))
    assert list(unrecorded(sequence, START, sequence[40_000], records)) == [sequence[gap] for gap in sorted(gaps)]
    assert (records.counts, sum(map(len, records.read))) == (32 + 2 * 2, 1_023 + 1_023)


def test_a_history_without_a_record_is_not_counted_again_and_again() -> None:
    sequence = InstanceSequence(START, Frequency.parse("hours(1)"))
    records = Records(frozenset())
    assert len(list(unrecorded(sequence, START, sequence[100_000], records))) == 100_000
    assert (records.counts, len(records.read)) == (32, 32)
