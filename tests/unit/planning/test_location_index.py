"""The index of locations finds what a look at every place finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import CanonicalPath
from toolkit.planning.location_index import LocationIndex

_STORES = [("hdfs", "ns1"), ("hdfs", "nn1"), ("webhdfs", "nn1:9870"), ("viewfs", "ns1"), ("s3", "b"), ("file", "")]
_PATHS = st.lists(st.sampled_from(["a", "a-b", "a!", "b", "é"]), max_size=3).map(lambda names: f"/{'/'.join(names)}")
_PLACES = st.builds(lambda store, path: CanonicalPath(store[0], store[1], path), st.sampled_from(_STORES), _PATHS)
_LISTED = st.none() | st.frozensets(st.sampled_from(["ns1", "nn1"]))


def _as_seen(place: CanonicalPath, other: CanonicalPath, listed: frozenset[str] | None) -> CanonicalPath | None:
    """The place as if it were on the store of the other one; None: it is sure that it is not there."""
    if listed is None or place.scheme not in {"hdfs", "webhdfs", "viewfs"} or other.scheme in {"s3", "file"}:
        return place if place.root == other.root else None
    is_sure = all(each.scheme == "hdfs" and each.authority in listed for each in (place, other))
    return None if is_sure and place.root != other.root else replace(other, path=place.path)


@given(st.lists(_PLACES, max_size=8), _PLACES, _LISTED)
def test_the_index_finds_what_a_look_at_every_place_finds(
    places: list[CanonicalPath], requested: CanonicalPath, listed: frozenset[str] | None
) -> None:
    index = LocationIndex(((place, number) for number, place in enumerate(places)), listed)
    seen = {number: _as_seen(place, requested, listed) for number, place in enumerate(places)}
    at = [number for number, place in seen.items() if place == requested]
    around = [number for number, place in seen.items() if place is not None and requested.is_within(place)]
    inside = [number for number, place in seen.items() if place is not None and place.is_within(requested)]
    assert Counter(index.at(requested)) == Counter(at)
    assert Counter(index.around(requested)) == Counter(around)
    assert Counter(index.inside(requested)) == Counter(inside)
    depths = [places[number].path.count("/") - (places[number].path == "/") for number in index.around(requested)]
    assert depths == sorted(depths, reverse=True)
    assert list(index.meeting(requested)) == [*index.at(requested), *index.around(requested), *index.inside(requested)]


@given(st.lists(_PLACES, max_size=8))
def test_each_owner_is_in_one_group_with_the_topmost_place(places: list[CanonicalPath]) -> None:
    groups = list(LocationIndex((place, place) for place in places).overlapping())
    assert Counter(place for group in groups for place in group) == Counter(places)
    for group in groups:
        assert all(place == group[0] or place.is_within(group[0]) for place in group)
    tops = [group[0] for group in groups]
    assert not any(one.meets(other) for at, one in enumerate(tops) for other in tops[at + 1 :])


@pytest.mark.parametrize(("listed", "is_found"), [({"ns1"}, True), ({"ns1", "nn1"}, False), (None, False)])
def test_one_path_of_two_names_of_hdfs_is_one_place_unless_it_is_sure_that_it_is_not(
    listed: set[str] | None, *, is_found: bool
) -> None:
    index = LocationIndex([(CanonicalPath("hdfs", "nn1", "/data"), "owner")], listed)
    assert list(index.around(CanonicalPath("hdfs", "ns1", "/data/2026"))) == (["owner"] if is_found else [])
