"""A removal that relies on a look that is too old is not sent."""

from __future__ import annotations

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import AfterLook, LookAgain, StorageSpec, open_file_system
from toolkit.storage.after_look import LOOK_SECONDS, current_look, has_had_turn, seen_lately
from toolkit.storage.local import no_check


@pytest.mark.parametrize("scheme", ["hdfs", "webhdfs"])
def test_every_store_that_drops_directories_asks_for_the_age_of_the_look_before_it_sends(scheme: str) -> None:
    """Nothing listens there, so that a request would be an error of another kind."""
    base = CanonicalPath(scheme, "127.0.0.1:9", "/base")
    system = open_file_system(StorageSpec(scheme=scheme, authority=base.authority), patience=0)
    assert system.capabilities.atomic_delete
    times = iter([0.0, LOOK_SECONDS + 1])
    with AfterLook(now=lambda: next(times)), pytest.raises(LookAgain):
        system.delete(base.child("a"), below=base)


@pytest.mark.parametrize(("age", "is_sent"), [(0, True), (LOOK_SECONDS, True), (LOOK_SECONDS + 0.1, False)])
def test_a_look_is_good_for_so_long(age: float, *, is_sent: bool) -> None:
    times = iter([10.0, 10.0 + age])
    look = AfterLook(now=lambda: next(times))
    with look:
        if is_sent:
            seen_lately(no_check)()
        else:
            with pytest.raises(LookAgain):
                seen_lately(no_check)()
        assert has_had_turn()
    assert look.too_late == (not is_sent)


def test_outside_of_it_nothing_is_asked() -> None:
    with AfterLook() as look:
        assert current_look() is look
    assert (current_look(), has_had_turn()) == (None, False)
    seen_lately(no_check)()
