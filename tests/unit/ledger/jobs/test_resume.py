"""Which steps a rerun runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolkit.ledger.jobs.current import StepOutcome, not_done, steps_to_run
from toolkit.ledger.registry.lookup import RegisteredStep
from toolkit.ledger.vocabulary import RunStatus

GOOD, BAD = RunStatus.SUCCEEDED, RunStatus.FAILED

outcomes = st.dictionaries(
    st.integers(min_value=0, max_value=5),
    st.builds(
        StepOutcome,
        run_id=st.integers(min_value=1, max_value=4),
        status=st.sampled_from([GOOD, GOOD, BAD, RunStatus.KILLED, RunStatus.RUNNING]),
    ),
)


def steps(count: int, *, unrecoverable: tuple[int, ...] = ()) -> list[RegisteredStep]:
    return [
        RegisteredStep(
            step_id=number,
            process_id=1,
            name=f"s{number}",
            position=number,
            engine=None,
            path=None,
            is_recoverable=number not in unrecoverable,
            is_deleted=False,
        )
        for number in range(count)
    ]


def ended(*statuses: RunStatus | None, run_id: int = 1) -> dict[int, StepOutcome]:
    return {
        number: StepOutcome(run_id=run_id, status=status)
        for number, status in enumerate(statuses)
        if status is not None
    }


def test_the_first_step_that_has_not_succeeded_and_all_after_it_run() -> None:
    assert _names(steps_to_run(steps(4), ended(GOOD, BAD, GOOD))) == ["s1", "s2", "s3"]


def test_a_success_that_is_not_recoverable_does_not_count_wherever_it_is() -> None:
    assert _names(steps_to_run(steps(4, unrecoverable=(1,)), ended(GOOD, GOOD, GOOD, BAD))) == ["s1", "s2", "s3"]
    assert _names(steps_to_run(steps(2, unrecoverable=(1,)), ended(GOOD, GOOD))) == ["s1"]


def test_when_everything_has_succeeded_nothing_runs_unless_it_is_forced() -> None:
    assert steps_to_run(steps(2), ended(GOOD, GOOD)) == ()
    assert len(steps_to_run(steps(2), ended(GOOD, GOOD), is_forced=True)) == 2


def test_a_success_before_an_earlier_step_ran_again_does_not_count() -> None:
    assert _names(steps_to_run(steps(3), {**ended(GOOD, GOOD, BAD), **ended(GOOD, run_id=2)})) == ["s1", "s2"]


def test_a_job_is_done_when_what_it_had_to_run_succeeded_in_it() -> None:
    earlier = ended(GOOD, BAD)
    assert _names(not_done(steps(3), earlier, {})) == ["s1", "s2"]
    assert _names(not_done(steps(3), earlier, {1: StepOutcome(run_id=2, status=GOOD)})) == ["s2"]
    assert not_done(steps(3), earlier, {n: StepOutcome(run_id=2, status=GOOD) for n in (1, 2)}) == ()


def test_a_step_that_ran_again_although_it_need_not_must_succeed() -> None:
    own = {0: StepOutcome(run_id=2, status=BAD), 1: StepOutcome(run_id=2, status=GOOD)}
    assert _names(not_done(steps(2), ended(GOOD, BAD), own)) == ["s0"]


@given(outcomes, st.integers(min_value=0, max_value=5), st.sets(st.integers(min_value=0, max_value=5)))
def test_what_runs_is_the_end_of_the_list_and_what_does_not_has_succeeded(
    earlier: dict[int, StepOutcome], count: int, unrecoverable: set[int]
) -> None:
    known = steps(count, unrecoverable=tuple(unrecoverable))
    due = steps_to_run(known, earlier)
    assert list(due) == known[count - len(due) :]
    assert all(earlier[each.step_id].status is GOOD for each in known[: count - len(due)])


@given(outcomes, outcomes, st.integers(min_value=0, max_value=5))
def test_a_job_that_ran_what_was_due_with_success_is_done(
    earlier: dict[int, StepOutcome], own: dict[int, StepOutcome], count: int
) -> None:
    known = steps(count)
    good = {each.step_id: StepOutcome(run_id=9, status=GOOD) for each in steps_to_run(known, earlier)}
    assert not_done(known, earlier, good) == ()
    left = {each.step_id for each in not_done(known, earlier, own)}
    assert left >= {number for number, each in own.items() if each.status is not GOOD and number < count}


def _names(found: tuple[RegisteredStep, ...]) -> list[str]:
    return [each.name for each in found]
