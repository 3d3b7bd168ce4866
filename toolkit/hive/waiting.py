"""That an instance is not there yet, which is no failure."""

from __future__ import annotations


class Waiting(Exception):  # noqa: N818 - no error: what is waited for has not come
    """An instance is not there yet.

    Args:
        instance: its key.
        why: what is missing, in words.
    """

    def __init__(self, *, instance: str, why: str) -> None:
        self.instance, self.why = instance, f"{instance} is not available yet: {why}"
        super().__init__(self.why)
