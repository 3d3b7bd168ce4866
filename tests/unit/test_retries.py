"""Retries begin with the first error, which the policy counts."""

from __future__ import annotations

import pytest
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from toolkit.retries import retried


class Flaky:
    """Fails so many times, then answers."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    def __call__(self) -> str:
        """Answer or fail."""
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError(self.calls)
        return "answer"


def three_times() -> Retrying:
    return Retrying(retry=retry_if_exception_type(ConnectionError), stop=stop_after_attempt(3), reraise=True)


def never() -> Retrying:
    raise AssertionError


def test_a_call_that_succeeds_at_once_makes_no_policy() -> None:
    assert retried(Flaky(0), ConnectionError, never) == "answer"


@pytest.mark.parametrize("failures", [1, 2])
def test_a_call_is_repeated_until_it_succeeds(failures: int) -> None:
    call = Flaky(failures)
    assert retried(call, ConnectionError, three_times) == "answer"
    assert call.calls == failures + 1


def test_the_first_error_is_the_first_attempt_of_the_policy_and_the_last_one_is_raised() -> None:
    call = Flaky(9)
    with pytest.raises(ConnectionError) as raised:
        retried(call, ConnectionError, three_times)
    assert (call.calls, raised.value.args) == (3, (3,))


def test_another_error_is_not_repeated() -> None:
    with pytest.raises(ConnectionError):
        retried(Flaky(1), KeyError, never)
