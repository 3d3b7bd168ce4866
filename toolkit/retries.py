"""Retries of calls that nearly always succeed at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tenacity import Retrying

Answer = TypeVar("Answer")


def retried(call: Callable[[], Answer], error: type[Exception], policy: Callable[[], Retrying]) -> Answer:
    """Call, and repeat after an error as a policy says.

    The loop of tenacity costs as much as a small statement or file, so it begins with the first error, which the policy
    counts as its first attempt.

    Args:
        call: repeated.
        error: after which it is repeated.
        policy: makes the retry loop, which must retry on the error and raise the last one.
    """
    try:
        return call()
    except error as first:
        pending = [first]

    def again() -> Answer:
        if pending:
            raise pending.pop()
        return call()

    return policy()(again)
