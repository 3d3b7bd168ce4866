"""The script of faults."""

from __future__ import annotations

import pytest

from tests.testbed.faults import Effect, Fault, Script, Seen

pytestmark = pytest.mark.extended

PUT = Seen(method="PUT", path="/bucket/a", query="")
LIST = Seen(method="GET", path="/bucket", query="list-type=2&start-after=b")


def effects(script: Script, *requests: Seen) -> list[Effect | None]:
    met = [script.meet(each) for each in requests]
    return [each.effect if each else None for each in met]


def test_without_faults_requests_are_only_noted() -> None:
    script = Script()
    assert effects(script, PUT, LIST) == [None, None]
    assert script.seen() == [PUT, LIST]
    assert script.seen(method="GET", query="start-after=b") == [LIST]
    assert script.seen(path="/a$") == [PUT]


def test_a_fault_meets_so_many_requests_as_it_says() -> None:
    script = Script()
    script.add(Fault(effect=Effect.SLOW_DOWN, times=2))
    assert effects(script, PUT, PUT, PUT) == [Effect.SLOW_DOWN, Effect.SLOW_DOWN, None]


def test_a_fault_meets_an_evenly_spread_share() -> None:
    script = Script()
    script.add(Fault(effect=Effect.SLOW_DOWN, share=0.25))
    met = effects(script, *[PUT] * 8)
    assert [number for number, effect in enumerate(met) if effect] == [3, 7]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(effect=Effect.DELAY, method="DELETE"),
        Fault(effect=Effect.DELAY, path="^/other"),
        Fault(effect=Effect.DELAY, query="delete"),
    ],
)
def test_a_fault_leaves_requests_alone_that_do_not_match(fault: Fault) -> None:
    script = Script()
    script.add(fault)
    assert effects(script, PUT, LIST) == [None, None]


def test_the_first_fault_with_times_left_is_met() -> None:
    script = Script()
    script.add(Fault(effect=Effect.CUT_BEFORE, times=1))
    script.add(Fault(effect=Effect.SLOW_DOWN, method="PUT"))
    assert effects(script, PUT, PUT, LIST) == [Effect.CUT_BEFORE, Effect.SLOW_DOWN, None]


def test_a_fault_ends_with_its_block() -> None:
    script = Script()
    with script.during(Fault(effect=Effect.SLOW_DOWN)):
        assert effects(script, PUT) == [Effect.SLOW_DOWN]
    assert effects(script, PUT) == [None]
    script.clear()
    assert script.seen() == []
