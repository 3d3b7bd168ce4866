"""The bound on time series, and what is counted together beyond it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.metrics import definitions
from toolkit.metrics.metric import MetricDefinition
from toolkit.metrics.samples import Sample, bounded


def open_instances(entity: str, count: float, cluster: str = "primary") -> Sample:
    return Sample(definitions.INSTANCES_OPEN, (entity, cluster), count)


UP = Sample(definitions.UP, (), 1)


def test_below_the_bound_all_series_stay() -> None:
    samples = [UP, open_instances("a", 1), open_instances("b", 2)]
    assert bounded(samples, 3) == (samples, 0)


def test_beyond_the_bound_the_last_names_are_added_up_as_other() -> None:
    samples = [UP, *(open_instances(name, 1) for name in "abcdef")]
    kept, folded = bounded(samples, 4)
    assert kept == [UP, open_instances("a", 1), open_instances("b", 1), open_instances("other", 4)]
    assert folded == 4


def test_entities_with_an_sla_keep_their_series_rather_than_others() -> None:
    samples = [open_instances(name, 1) for name in "abcdef"]
    kept, _ = bounded(samples, 2, first={"f"})
    assert kept == [open_instances("f", 1), open_instances("other", 5)]


def test_an_entity_that_is_called_other_is_counted_with_the_others() -> None:
    kept, _ = bounded([open_instances("other", 7), open_instances("p", 1), open_instances("q", 2)], 2)
    assert kept == [open_instances("p", 1), open_instances("other", 9)]


@pytest.mark.parametrize(
    ("metric", "values", "expected"),
    [
        (definitions.INSTANCES_OPEN, (1, 4), 5),
        (definitions.BEHIND, (60, 30), 60),
        (definitions.LAST_SUCCESS, (200, 100), 100),
    ],
)
def test_other_is_as_bad_as_the_worst_entity_in_it(
    metric: MetricDefinition, values: tuple[float, float], expected: float
) -> None:
    labels = ("primary", *("x" for _ in metric.labels[2:]))
    kept, _ = bounded([Sample(metric, (name, *labels), value) for name, value in zip("ab", values, strict=True)], 1)
    assert kept == [Sample(metric, ("other", *labels), expected)]


def test_other_has_no_owner() -> None:
    samples = [Sample(definitions.ENTITY, (name, "feed", name, ""), 1) for name in "abc"]
    assert bounded(samples, 0) == ([], 3)


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["x", "y"])), unique=True),
    st.integers(min_value=0, max_value=20),
)
def test_nothing_is_lost_and_the_bound_holds(sites: list[tuple[str, str]], most: int) -> None:
    samples = [open_instances(name, 1, cluster) for name, cluster in sites]
    kept, folded = bounded(samples, most)
    assert sum(each.value for each in kept) == len(samples)
    assert len(kept) <= max(most, len({cluster for _, cluster in sites}))
    assert (folded == 0) == (len(samples) <= most)
